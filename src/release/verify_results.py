"""Proves the results of a gated run: what happened after training is derived again, not read.

Plain: the report's figures follow from the recorded dialogues, and report, dialogues and final models are in the
manifest. Deep: some dialogues are generated again by the base model and by the trained one, with the same random
numbers; on the machine that made them they are the same, word for word.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
from pydantic import ValidationError

from ..agents.trajectory import Job
from ..checkpoint.seal import MANIFEST, Damaged, read_seal
from ..checkpoint.seal import verify as verify_seal
from ..config.loader import load_train_config
from ..config.profile import Profile, load_profile
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import digests_read, forget_reads, sha256_file, shipped
from ..core.jsonl import read_records
from ..core.paths import (
    ABLATION_SIDES,
    ABLATION_WORK,
    FINAL_MODEL,
    HERE,
    LOCAL_CHECKPOINTS,
    ablation_file,
    ablation_seal,
    in_run,
    newest_evaluation,
)
from ..core.types import Episode
from ..data.pool.meta import read_meta
from ..eval.ablation import sealed_plan, side_config
from ..eval.trial import TrialReport
from ..gates.checks.penalty import read_pairs
from ..gates.manifest import Manifest
from ..gates.ticket import TICKET, final_models
from ..training.data import held_out
from ..training.results import derive, episode_files, outputs

REGENERATED = 12
"""Dialogues of each policy that a deep verification generates again."""
LEAST_EQUAL = 0.75
"""Share of them that must be equal. Sums in another order may change a token in a few of them."""
_AGAIN = "run `askgate evaluate` on the run's own episodes; if it refuses them, train again"


def verify_results(deep: bool, tell: Callable[[str], None], path: Path | None = None) -> TrialReport | None:
    """Raises BadInput at the first thing that differs. None where nothing was trained behind the gates yet."""
    forget_reads()
    path = path or newest_evaluation()
    if path is None:
        return None
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=TrialReport)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"is not a report of an evaluation ({error})", where=str(path), remedy=_AGAIN) from None
    if not stored.gated:
        tell(f"results: {path} is of a run without a ticket, so nothing is proved about it")
        return stored
    if not TICKET.exists() or stored.ticket != sha256_file(TICKET):
        raise BadInput("is of a run with another ticket", where=str(path), remedy="train and evaluate again")
    try:
        config = TrainConfig.model_validate(stored.config)
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"]))
        what = f"its config is of another version of AskGate ({key})"
        raise BadInput(what, where=str(path), remedy="verify with the version that trained it") from None
    folders = final_models(config)
    recorded = {in_run(Path(name)): one.sha256 for name, one in Manifest().newest().items() if one.kind == "file"}
    for file in (*outputs(config), path):
        if recorded.get(in_run(file)) != sha256_file(file):
            raise BadInput("is not in the manifest: no run recorded it as it is", where=str(file), remedy=_AGAIN)
    derived = derive(config, path.stem)
    for part in ("profile", "checks", "passed", "pooled", "seeds"):
        if getattr(derived, part) != getattr(stored, part):
            raise BadInput(f"its {part} do not follow from the episodes", where=str(path), remedy=_AGAIN)
    tell(f"results: {path} follows from the episodes; {len(folders)} final model(s) as they were saved")
    if deep:
        _repeat_ablation(load_profile(config.profile), tell)
        for seed, folder in zip(config.seeds, folders, strict=True):
            files = episode_files(config, seed)
            _regenerate(config, seed, folder, files["trained"], tell)
            if "base" in files and shipped(Path(config.base_model)).is_dir():
                _regenerate(config, seed, shipped(Path(config.base_model)), files["base"], tell)
    return stored


def _repeat_ablation(profile: Profile, tell: Callable[[str], None]) -> None:
    """Lets the final models of the ablation repeat some dialogues, as far as the models are still here."""
    paths = profile.paths
    config, folder = load_train_config(paths.ablation_config), paths.ablation_episodes
    work = (ABLATION_WORK / "*/*" / LOCAL_CHECKPOINTS).as_posix()
    seals = [file for pattern in ("", "seed_*/") for file in HERE.glob(f"{work}/{pattern}{FINAL_MODEL}/{MANIFEST}")]
    for pair in read_pairs(folder) if folder.is_dir() else []:  # whether there must be one is a gate's matter
        plan = sealed_plan(paths.ablation_config, folder, pair.seed)
        for side in ABLATION_SIDES:
            file, stored = ablation_file(folder, pair.seed, side), ablation_seal(folder, pair.seed, side)
            seal = next((one for one in seals if sha256_file(one) == sha256_file(stored)), None)
            if seal is None or plan is None:
                tell(f"{file}: its model is not in this folder any more, so nothing of it was repeated")
                continue
            try:
                verify_seal(seal.parent)
            except Damaged as error:
                raise BadInput(str(error), where=str(seal.parent), remedy="run the ablation again") from None
            _regenerate(side_config(config, plan, side == "with"), pair.seed, seal.parent, file, tell)


def _regenerate(config: TrainConfig, seed: int, folder: Path, file: Path, tell: Callable[[str], None]) -> None:
    """Generates a few dialogues of a file again, with the model that should have made them, and compares."""
    import torch

    from ..engines.models import load_trained
    from ..rollout.scheduler import generate
    from ..runtime.device import get_device, get_dtype, prepare_device
    from ..training.components import open_renderer

    device = get_device(config.device_pref)
    prepare_device(device)
    dtype = get_dtype(device, config.precision)
    samples, levels = held_out(config)
    jobs = [Job(sample, level, seed, at) for at, (sample, level) in enumerate(zip(samples, levels, strict=True))]
    # The file itself decides which ones: nobody can know them before the episodes are written.
    chosen = sorted(Random(sha256_file(file)).sample(range(len(jobs)), min(REGENERATED, len(jobs))))
    model = load_trained(folder, config.base_model, config.finetune, device, dtype)
    _require_read_as_sealed(folder)
    made = generate(
        model,
        open_renderer(str(folder)),
        jobs,
        config.rollout_limits(read_meta(config.seed_pool).tools),
        device=device,
        generator=torch.Generator(device).manual_seed(seed),
        greedy=config.eval.greedy,
        dtype=dtype,
        only=chosen,
    )
    recorded = list(read_records(file, Episode))
    equal = sum(one.episode.turns == recorded[at].turns for one, at in zip(made, chosen, strict=True))
    tell(f"{file}: {equal} of {len(chosen)} dialogues are what {folder} says here")
    if equal < LEAST_EQUAL * len(chosen):
        raise BadInput(
            f"{folder} does not say what is recorded here: {equal} of {len(chosen)} dialogues are the same",
            where=str(file),
            remedy="verify on the machine and with the versions that made the run; if it was there, the model or the "
            "episodes were exchanged: train again",
        )


def _require_read_as_sealed(folder: Path) -> None:
    """Refuses a model of which other files were loaded than those that were sealed. A base model has no seal."""
    for name, entry in read_seal(folder).files.items() if (folder / MANIFEST).exists() else ():
        if digests_read(folder / name) - {entry.sha256}:
            raise BadInput(f"{name} changed while it was read", where=str(folder), remedy=_AGAIN)
