"""Lets the models of a gated run repeat recorded dialogues: those of base, warm start and trained policy, and of the
ablation.

Some dialogues are generated again with the same random numbers. On the machine that made them they must be the same,
word for word. On another machine sums in another order may change a token. If a dialogue differs there, all are
generated again, and the report derived from these must have the same verdicts, and figures within the intervals.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from askgate_env.types import Episode, Level, Sample

from ..agents.trajectory import Job
from ..checkpoint.seal import SEAL_FILE, explain_damage, read_seal
from ..checkpoint.seal import verify as verify_seal
from ..config.loader import load_train_config
from ..config.profile import Profile, load_profile
from ..config.train_config import TrainConfig
from ..core.check import Check
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import digests_read, sha256_file
from ..core.jsonl import read_records
from ..core.model_files import find_model
from ..core.paths import (
    ABLATION_SIDES,
    ABLATION_WORK,
    FINAL_MODEL,
    HERE,
    LOCAL_CHECKPOINTS,
    ablation_file,
    ablation_seal,
)
from ..data.difficulty.metrics import measure_all
from ..data.pool.meta import read_meta
from ..eval.ablation import profile_plan, side_config
from ..eval.compare import ABLATION_FIGURES, Change, SeedPair, ablation_checks, ablation_figures
from ..eval.trial import HEADLINE, TrialReport
from ..gates.checks.penalty import read_pairs
from ..gates.final_models import warm_start_of
from ..utils.processes import usable_cores
from .data import held_out
from .results import Evaluations, derive, episode_files
from .verify_companions import verify_companions

ROUNDING = 1e-9
"""Tolerance at the ends of an interval: by rounding, the lower end of a share of 0 may be a little above 0."""
MIN_EQUAL_SHARE = 0.75
"""Minimum share of all dialogues that must be equal on another machine than the one that trained: below that it is
another model, whatever its figures are. On the same machine all must be equal: 600 of 600 were."""
Draw = Callable[[int], list[int]]
"""Draws the indices of the dialogues that are generated again, from their total number."""
PARTS = ("base", "trained", "change")
"""The figures of a `Change`."""
_THERE = (
    "verify on the machine and with the versions that made the run; if it was there, the model or the episodes were "
    "exchanged: train again"
)


def repeat_dialogues(
    evaluations: Evaluations, folders: Sequence[Path], report: TrialReport, dialogues: int, tell: Callable[[str], None]
) -> None:
    """Lets the models of a run repeat some of their dialogues, chosen at random, so that nobody can prepare them."""
    config, samples = evaluations.config, evaluations.samples
    held = samples, [one.level for one in measure_all(samples)]
    number = secrets.randbits(64)
    random = Random(number)

    def draw(total: int) -> list[int]:
        return sorted(random.sample(range(total), min(dialogues, total)))

    tell(f"dialogues to repeat: {dialogues} of each policy, drawn with the random seed {number}")
    _repeat_ablation(load_profile(config.profile), draw, tell)
    base = find_model(config.base_model, download=False)
    differing: dict[Path, dict[int, Episode]] = {}
    tools = read_meta(config.seed_pool).tools
    for seed, folder in zip(config.seeds, folders, strict=True):
        files = episode_files(config, seed)
        for model in (folder, *([warm_start_of(folder)] if "warm_start" in files else [])):
            verify_companions(model, config, tools)
        differing[files["trained"]] = _regenerate(config, held, seed, folder, files["trained"], draw, tell)
        differing[files["base"]] = _regenerate(config, held, seed, base, files["base"], draw, tell, folder)
        if (file := files.get("warm_start")) is not None:
            differing[file] = _regenerate(config, held, seed, warm_start_of(folder), file, draw, tell)
        for name in ("control", "time_control"):
            if name in files:
                tell(f"{files[name]}: the control's model is not in the manifest, so nothing of it was repeated")
    if any(differing.values()):
        here = derive(config, "here", differing, evaluations)
        pairs = list(zip((*report.seeds, report.pooled), (*here.seeds, here.pooled), strict=True))
        changes = [(recorded.changes or {}, again.changes or {}) for recorded, again in pairs]
        changes += [(recorded.over_warm_start or {}, again.over_warm_start or {}) for recorded, again in pairs]
        _refuse_other_outcome(str(config.shadow_set), (report.checks, here.checks), changes, HEADLINE)
        if [one.name for one in report.ambers] != [one.name for one in here.ambers]:
            raise BadInput("the dialogues of this machine give other ambers", where="control", remedy=_THERE)
        tell("results: with the dialogues of this machine every verdict is the same, and every figure in its interval")


def _refuse_other_outcome(
    where: str,
    checks: tuple[Sequence[Check], Sequence[Check]],
    changes: Iterable[tuple[Mapping[str, Change], Mapping[str, Change]]],
    names: Iterable[str],
) -> None:
    """Refuses recorded results that the dialogues of this machine do not confirm: another verdict, or a figure outside
    its interval. `checks` and `changes`: as recorded, and from the dialogues of this machine."""
    for old, new in zip(*checks, strict=True):
        if old.passed != new.passed:
            what = f"{old.name} is {old.value} in the record and {new.value} with the dialogues of this machine"
            raise BadInput(f"{what}, which is another verdict", where=where, remedy=_THERE)
    for recorded, here in changes:
        for name in names:
            if name not in recorded or name not in here:
                continue
            figures = zip(PARTS, _figures(recorded[name]), _figures(here[name]), strict=True)
            for part, (then, *interval_then), (now, *interval_now) in figures:
                if not (_is_within(then, *interval_now) or _is_within(now, *interval_then)):
                    what = f"{name} ({part}) is {then} in the record and {now} with the dialogues of this machine"
                    raise BadInput(f"{what}, outside the interval", where=where, remedy=_THERE)


def _figures(change: Change) -> list[tuple[float | None, float | None, float | None]]:
    """Value and interval of each of `PARTS`."""
    sides = [(one.value, one.low, one.high) for one in (change.base, change.trained)]
    return [*sides, (change.delta, change.low, change.high)]


def _is_within(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether a value is in an interval. True if one of them could not be measured: that contradicts nothing."""
    if value is None or low is None or high is None:
        return True
    return low - ROUNDING <= value <= high + ROUNDING


def _repeat_ablation(profile: Profile, draw: Draw, tell: Callable[[str], None]) -> None:
    """Lets the final models of the ablation repeat some dialogues, if the models are still in this folder."""
    paths = profile.paths
    config, folder, plan = load_train_config(paths.ablation_config), paths.ablation_episodes, profile_plan(profile)
    work = (ABLATION_WORK / "*/*" / LOCAL_CHECKPOINTS).as_posix()
    seals = [file for pattern in ("", "seed_*/") for file in HERE.glob(f"{work}/{pattern}{FINAL_MODEL}/{SEAL_FILE}")]
    pairs = read_pairs(folder) if folder.is_dir() else []  # a gate refuses a run without an ablation
    held = held_out(side_config(config, plan, True)) if pairs else ([], [])  # the same for both sides
    here: list[SeedPair] = []
    has_differences = False
    for pair in pairs:
        sides = {"without": pair.without, "with": pair.with_penalty}
        for side in ABLATION_SIDES:
            file, stored = ablation_file(folder, pair.seed, side), ablation_seal(folder, pair.seed, side)
            seal = next((one for one in seals if sha256_file(one) == sha256_file(stored)), None)
            if seal is None:
                tell(f"{file}: its model is not in this folder any more, so nothing of it was repeated")
                continue
            with explain_damage(seal.parent, "run the ablation again"):
                verify_seal(seal.parent)
            side_settings = side_config(config, plan, side == "with")
            differing = _regenerate(side_settings, held, pair.seed, seal.parent, file, draw, tell)
            sides[side] = [differing.get(index, episode) for index, episode in enumerate(sides[side])]
            has_differences |= bool(differing)
        here.append(SeedPair(pair.seed, sides["without"], sides["with"]))
    if has_differences:
        recorded_changes, changes_here = (ablation_figures(one, SEED)[0] for one in (pairs, here))
        checks = [ablation_checks(changes, profile.thresholds) for changes in (recorded_changes, changes_here)]
        changes = [(recorded_changes, changes_here)]
        _refuse_other_outcome(str(folder), (checks[0], checks[1]), changes, ABLATION_FIGURES)


def _regenerate(
    config: TrainConfig,
    held: tuple[Sequence[Sample], Sequence[Level]],
    seed: int,
    folder: Path,
    file: Path,
    draw: Draw,
    tell: Callable[[str], None],
    made_beside: Path | None = None,
) -> dict[int, Episode]:
    """Generates some dialogues of a file again, with the model that should have made them, and compares.

    Returns the dialogues that differ here, by their index in the file; if there are any, all were generated again.
    `held`: the held-out samples with their levels. `made_beside`: if `folder` is the base, the final model of the run
    that made the dialogues.
    """
    import torch

    from ..engines.models import load_trained
    from ..rollout.scheduler import generate
    from ..runtime.device import get_device, get_dtype, prepare_device
    from .components import open_renderer

    device = get_device(config.device_pref)
    prepare_device(device)
    dtype = get_dtype(device, config.precision)
    jobs = [Job(sample, level, seed) for sample, level in zip(*held, strict=True)]
    limits = config.rollout_limits(read_meta(config.seed_pool).tools)
    chosen = draw(len(jobs))
    model = load_trained(folder, config.base_model, config.finetune, device, dtype)
    _require_read_as_sealed(folder)
    recorded = list(read_records(file, Episode))

    def regenerate(indices: Sequence[int]) -> dict[int, Episode]:
        """The dialogues at these indices that differ from the recorded ones."""
        trajectories = generate(
            model,
            # The renderer of the base, as in the run.
            open_renderer(str(find_model(config.base_model, download=False)), limits.actions, limits.tools),
            jobs,
            limits,
            device=device,
            generator=torch.Generator(device).manual_seed(seed),
            greedy=config.eval.greedy,
            dtype=dtype,
            only=indices,
        )
        episodes = dict(zip(indices, (trajectory.episode for trajectory in trajectories), strict=True))
        return {
            index: episode
            for index, episode in episodes.items()
            if (episode.turns, episode.end) != (recorded[index].turns, recorded[index].end)
        }

    with _threads_of(read_seal(made_beside or folder).marks.get("machine")) as made_here:
        must_be_equal = made_here and device.type == "cpu"
        differing = regenerate(chosen)
        tell(f"{file}: {folder} repeats {len(chosen) - len(differing)} of {len(chosen)} dialogues exactly")
        if differing and not must_be_equal:
            # The facts about the machine come from a file that a forger can write, and any tolerance could be used up
            # by forged dialogues. So all dialogues are compared.
            differing |= regenerate([index for index in range(len(jobs)) if index not in chosen])
            others = f"{len(differing)} of {len(jobs)} differ"
            tell(f"{file}: not made on this machine, so all were repeated: {others}")
    most_differing = 0 if must_be_equal else (1 - MIN_EQUAL_SHARE) * len(jobs)
    if len(differing) > most_differing:
        what = f"{folder} does not repeat the recorded dialogues: {len(differing)} differ"
        raise BadInput(what, where=str(file), remedy=_THERE)
    return differing


@contextmanager
def _threads_of(made_on: Any) -> Iterator[bool]:
    """Uses as many threads as the run did, if this machine has the cores: the two runs of an ablation share them.
    Yields whether the machine is then the same (`engines.base.machine`)."""
    import torch

    from ..engines.base import machine

    before = torch.get_num_threads()
    wanted = made_on.get("threads") if isinstance(made_on, dict) else None
    if isinstance(wanted, int) and 0 < wanted <= usable_cores(sys.maxsize):
        torch.set_num_threads(wanted)
    try:
        yield made_on == machine()
    finally:
        torch.set_num_threads(before)


def _require_read_as_sealed(folder: Path) -> None:
    """Refuses a model if the files that were loaded are not the sealed ones. A base model has no seal."""
    if not (folder / SEAL_FILE).exists():
        return
    for name, entry in read_seal(folder).files.items():
        if digests_read(folder / name) - {entry.sha256}:
            raise BadInput(
                f"{name} changed while it was read",
                where=str(folder),
                remedy="verify again while nothing writes to its files",
            )
