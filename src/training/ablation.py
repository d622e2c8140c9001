"""The ablation of the over-clarification penalty: two policies from one base, trained with and without it.

    askgate overclar-penalty --ablation

Each side is a whole training run, started by `askgate train` in a folder of its own under `.askgate/ablation`; on a CPU
both run at the same time. An interrupted run is resumed, and a complete one is not repeated.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from askgate_env.types import Episode, Sample

from .. import __version__
from ..checkpoint.seal import SEAL_FILE
from ..config.loader import config_files, load_train_config, write_effective
from ..config.profile import Thresholds
from ..config.train_config import TrainConfig
from ..core import paths
from ..core.check import Report, evidence, now, report
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import atomic_files, sha256_file, shipped, write_json
from ..core.jsonl import read_records, write_records
from ..core.model_files import base_sha256, model_sha256
from ..eval.ablation import AblationPlan, side_config
from ..eval.compare import ABLATION_THRESHOLDS, SeedPair, ablation_checks, ablation_figures
from ..loop.runner import THREADS, end_together, verb, with_package
from ..runtime.progress import Reporter
from ..utils.processes import usable_cores
from .data import build_missing, require_data

CONFIG = "ablation.yaml"
INTERRUPTED = (130, -2)
"""Exit codes of a run that was interrupted with Ctrl-C."""


def ablate(plan: AblationPlan, limits: Thresholds, reporter: Reporter) -> tuple[Report, Path]:
    """Trains both sides, evaluates and compares them. Continues an earlier call that was interrupted."""
    started, config = now(), load_train_config(plan.config, plan.overrides)
    require_data(config)
    build_missing(config, reporter)
    count = sum(1 for _ in read_records(config.shadow_set, Sample))
    if plan.n is not None and plan.n > count:
        raise BadInput(f"{config.shadow_set} has {count} samples", where="--n", remedy=f"give at most {count}")
    folders = {}
    for side in paths.ABLATION_SIDES:
        side_settings = side_config(config, plan, penalty=side == "with")
        folder = folders[side] = work_folder(plan, side, side_settings)
        seeds = ", ".join(map(str, plan.seeds))
        reporter.message(f"{side} the penalty: {plan.steps} steps, seeds {seeds}, in {folder}")
        if not _is_complete(folder, plan):
            write_effective(side_settings, folder / CONFIG)
    from ..runtime.device import get_device  # imports torch

    # Both sides at once on a CPU with two cores; one at a time on a GPU, which a run may fill.
    at_once = usable_cores(2) if get_device(config.device_pref).type == "cpu" else 1
    _train([one for one in folders.values() if not _is_complete(one, plan)], at_once)
    for side, folder in folders.items():
        for old in folder.parent.glob(f"{side}-*"):
            if old != folder:
                shutil.rmtree(old)
    files, compared = _collect_episodes(folders, plan)
    changes, figures = ablation_figures(compared, SEED)
    arguments = {
        "alpha": plan.alpha,
        "cap": plan.cap,
        "steps": plan.steps,
        "seeds": list(plan.seeds),
        "n": plan.n,
        **({"set": list(plan.overrides)} if plan.overrides else {}),
        **limits.model_dump(include=ABLATION_THRESHOLDS),
    }
    settings = (*config_files(plan.config), config.reward.weights, config.reward.unstable_list)
    inputs = [*(shipped(path) for path in settings if path), config.seed_pool, config.shadow_set]
    proof = evidence(inputs, files, {**arguments, "base_sha256": base_sha256(config.base_model)}, started)
    whole = report("overclar_ablation", ablation_checks(changes, limits), {**arguments, **figures}, proof)
    path = paths.REPORTS / f"overclar_ablation_{plan.tag}.json"
    write_json(path, whole)
    return whole, path


def _is_complete(folder: Path, plan: AblationPlan) -> bool:
    return all(_episodes(folder, plan, seed).exists() for seed in plan.seeds)


def _train(folders: Sequence[Path], at_once: int) -> None:
    """Trains in each of the folders, `at_once` at the same time. Raises BadInput if a run was refused or stopped.

    The result table of a run is dropped; its log goes to standard error.
    """
    environment = with_package(os.environ)
    if at_once > 1:
        threads = environment.get(THREADS, "")
        cores = int(threads) if threads.isdecimal() else usable_cores(sys.maxsize)
        environment[THREADS] = str(max(1, cores // at_once))
    for start in range(0, len(folders), at_once):
        group = folders[start : start + at_once]
        codes = _run(group, environment)
        if any(code in INTERRUPTED for code in codes):
            raise KeyboardInterrupt
        for folder, code in zip(group, codes, strict=True):
            if code:
                raise BadInput(
                    f"the run did not complete (exit code {code})",
                    where=str(folder),
                    remedy="see its messages above; the same command resumes from its newest checkpoint",
                )


def _run(folders: Sequence[Path], environment: Mapping[str, str]) -> list[int]:
    """Runs the trainer in all of the folders at the same time. Returns the exit codes."""
    command = [sys.executable, *verb("train", "--config", CONFIG, "--json", "--resume")]
    children: list[subprocess.Popen[bytes]] = []
    with end_together(lambda: children, lambda: None):
        for folder in folders:
            children.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL))
        return [child.wait() for child in children]


def work_folder(plan: AblationPlan, side: str, config: TrainConfig) -> Path:
    """Folder of one side. Its name has a fingerprint of config, base and data, so its content belongs to this run."""
    files = [config.seed_pool, config.shadow_set, *filter(None, [config.reward.weights, config.reward.unstable_list])]
    base = Path(config.base_model)
    base_digests = [model_sha256(base)] if base.is_dir() else []
    facts = [config.model_dump_json(), __version__, *base_digests, *(sha256_file(path) for path in files)]
    fingerprint = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]
    return paths.ABLATION_WORK / plan.tag / f"{side}-{fingerprint}"


def _episodes(folder: Path, plan: AblationPlan, seed: int) -> Path:
    """Held-out episodes of the trained policy."""
    return paths.step_file(paths.seed_folder(folder / paths.EVAL_EPISODES, seed, plan.seeds), plan.steps)


def _collect_episodes(folders: dict[str, Path], plan: AblationPlan) -> tuple[list[Path], list[SeedPair]]:
    """Copies held-out episodes, and the seals of the final models that made them, from the work folders to the folder
    of the plan, where they are kept and the gates measure them again."""
    files: list[Path] = []
    compared: list[SeedPair] = []
    drop_other_seeds(plan)
    with atomic_files() as start:
        for index, seed in enumerate(plan.seeds):
            sides = {
                side: list(read_records(_episodes(folders[side], plan, seed), Episode)) for side in paths.ABLATION_SIDES
            }
            for side, episodes in sides.items():
                files.append(paths.ablation_file(plan.episodes, seed, side))
                write_records(start(files[-1]), episodes)
                model = paths.final_models(plan.seeds, folders[side] / paths.LOCAL_CHECKPOINTS)[index]
                files.append(paths.ablation_seal(plan.episodes, seed, side))
                start(files[-1]).write((model / SEAL_FILE).read_bytes())
            compared.append(SeedPair(seed, sides["without"], sides["with"]))
    return files, compared


def drop_other_seeds(plan: AblationPlan) -> None:
    """Removes episodes of an earlier call with other seeds, which the gates would count as part of this one."""
    named = (paths.ablation_file, paths.ablation_seal)
    known = {name_of(plan.episodes, 0, side).name for side in paths.ABLATION_SIDES for name_of in named}
    for folder in plan.episodes.glob("seed_*"):
        if folder.name in {f"seed_{seed}" for seed in plan.seeds}:
            continue
        others = [path for path in folder.iterdir() if path.name not in known] if folder.is_dir() else [folder]
        if others:
            raise BadInput(
                f"{others[0]} was not made by an ablation, so nothing here is removed",
                where="--episodes",
                remedy="name a folder for the ablation alone",
            )
        shutil.rmtree(folder)
