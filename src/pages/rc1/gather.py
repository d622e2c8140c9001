"""Everything for the RC1 report, read from the files of a run. A report is shown as it lies there, with its SHA-256.

Where one file was made from another, the sums must fit: episodes that have changed since they were evaluated, or scores
that are not those of the shadow report, are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ... import __version__
from ...config.profile import Profile
from ...config.train import TrainConfig
from ...core.check import now
from ...core.episode import Episode
from ...core.errors import BadInput
from ...core.files import read_json, sha256_file
from ...core.jsonl import read_records
from ...core.model_files import model_sha256
from ...core.paths import final_models, step_file
from ...core.shipped import shipped
from ...core.types import Sample
from ...eval.trial import TrialReport
from ...gates.manifest import MANIFEST
from ...gates.prints import fingerprint
from ...gates.report import TICKET, Print
from ...gates.signoff import ENVELOPE
from .contents import Rc1, Reading, ShadowPoint
from .pairs import choose
from .shadow_points import shadow_points
from .thin import CURVED, thinned
from .verdict import holds, rounds_there, verdict

COMMIT = Path("reports/rc1/git_commit.txt")
AGAIN = "run `askgate evaluate` again, then `askgate report`"
HELD_OUT = ("seed", "step", "reward", "success", "overclar_rate", "need_ask_success", "avg_turns")


def gather(profile: Profile, evaluation: Path | None, metrics: Iterable[Any], held_out: Iterable[Any]) -> Rc1:
    """`metrics` and `held_out` are the lines of the run's logs."""
    paths = profile.paths
    trial = _trial(evaluation)
    found = verdict(profile.name, trial)
    rounds = rounds_there()
    shadow = _report(paths.shadow_report)
    seeds = {one.seed for one in trial.seeds} if trial else None
    return Rc1(
        ts=now(),
        version=__version__,
        profile=profile.name,
        passed=all(one.passed for one in found),
        verdict=found,
        run=rounds[-1].run if rounds else "",
        ticket=sha256_file(TICKET) if TICKET.exists() else "",
        signed=ENVELOPE.exists() and profile.owner_key is not None and holds(found),
        models=_models(trial),
        evaluation=trial,
        training=thinned(_of(metrics, seeds), CURVED),
        held_out=[{name: one[name] for name in HELD_OUT if name in one} for one in _of(held_out, seeds)],
        calibration=_report(paths.calibration_report),
        shadow=shadow,
        shadow_points=_points(profile, shadow),
        ablation=_report(paths.ablation_report),
        pool=_report(paths.pool_report),
        difficulty=_report(paths.difficulty_report),
        rounds=rounds,
        prints=_prints(profile, evaluation),
        commit=COMMIT.read_text(encoding="utf-8").strip() if COMMIT.exists() else "",
        reading=_reading(trial) if trial else None,
        reproduce=_reproduce(profile, trial),
    )


def _trial(path: Path | None) -> TrialReport | None:
    if path is None:
        return None
    try:
        return msgspec.convert(read_json(path, AGAIN), TrialReport)
    except msgspec.ValidationError as error:
        raise BadInput(f"is no report of an evaluation ({error})", where=str(path), remedy=AGAIN) from None


def _report(path: Path) -> dict[str, Any] | None:
    found = read_json(path, "run its stage again") if path.exists() else None
    return found if isinstance(found, dict) else None


def _of(lines: Iterable[Any], seeds: set[int | None] | None) -> list[Mapping[str, Any]]:
    return [line for line in lines if seeds is None or line.get("seed") in seeds]


def _points(profile: Profile, shadow: Mapping[str, Any] | None) -> list[ShadowPoint]:
    """None where the report was made from other files than those that lie here."""
    scored, weights = profile.paths.shadow_episodes.with_suffix(".scored.jsonl"), profile.paths.weights
    if shadow is None or not (scored.exists() and weights.exists()):
        return []
    stated = shadow["evidence"]["inputs"]
    if any(stated.get(str(path)) != sha256_file(path) for path in (scored, weights)):
        return []
    return shadow_points(scored, profile.paths.baseline, weights)


def _models(trial: TrialReport | None) -> dict[str, str]:
    if trial is None or not trial.gated:
        return {}
    folders = final_models(TrainConfig.model_validate(trial.config).seeds)
    return {folder.as_posix(): model_sha256(folder) for folder in folders if folder.is_dir()}


def _prints(profile: Profile, evaluation: Path | None) -> dict[str, Print]:
    paths = profile.paths
    wanted = {
        "shadow set": paths.shadow_set,
        "pool": paths.pool,
        "difficulty metrics": paths.metrics,
        "balanced pool": paths.balanced,
        "templates": paths.templates,
        "weights": paths.weights,
        "old weights": paths.baseline,
        "training config": paths.config,
        "ledger": paths.ledger,
        "manifest": MANIFEST,
        "ticket": TICKET,
        "pool report": paths.pool_report,
        "difficulty report": paths.difficulty_report,
        "calibration report": paths.calibration_report,
        "shadow report": paths.shadow_report,
        "ablation report": paths.ablation_report,
        **({"evaluation": evaluation} if evaluation else {}),
    }
    there = {role: path for role, path in wanted.items() if shipped(path).exists()}
    return {role: Print(path.as_posix(), fingerprint(path)) for role, path in there.items()}


def _reading(trial: TrialReport) -> Reading | None:
    """Of the first seed: the others played the same samples."""
    stated = trial.evidence.inputs
    seed, steps = trial.seeds[0].seed, trial.seeds[0].steps
    if seed is None:
        return None
    files = [Path(path) for path in stated if path.endswith(".jsonl")]
    ours = [one for one in files if f"seed_{seed}" in one.parts] or files
    base = next((one for one in ours if one == step_file(one.parent, 0)), None)
    trained = next((one for one in ours if one == step_file(one.parent, steps)), None)
    shadow_set = Path(str(trial.config["shadow_set"]))
    if base is None or trained is None:
        return None
    for path in (base, trained, shadow_set):
        if stated.get(str(path)) != sha256_file(path):
            raise BadInput("has changed since it was evaluated", where=str(path), remedy=AGAIN)
    samples = {one.id: one for one in read_records(shadow_set, Sample)}
    return choose(_episodes(base), _episodes(trained), samples, seed)


def _episodes(path: Path) -> Sequence[Episode]:
    return list(read_records(path, Episode))


def _reproduce(profile: Profile, trial: TrialReport | None) -> list[str]:
    """Commands for whoever was not there."""
    config = profile.paths.config
    if trial is not None and profile.paths.trial and len(trial.seeds) > 1:
        config = profile.paths.trial
    return [
        "pip install .",
        "askgate verify --deep",
        f"askgate package --config {config} --out rc1.tgz",
        "askgate reproduce rc1.tgz --verify",
        "askgate reproduce rc1.tgz --rerun",
    ]
