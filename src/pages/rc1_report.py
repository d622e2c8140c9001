"""`reports/rc1/RC1.json`: the RC1 report, gathered from the files of a run. The page shows this and nothing else.

A report of a stage is taken over as it is, with its SHA-256. Where one file was made from another, the checksums must
match: episodes that changed since they were evaluated are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .. import __version__
from ..config.profile import Profile
from ..config.train_config import TrainConfig
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import read_json, sha256_file, shipped
from ..core.jsonl import read_records
from ..core.model_files import model_sha256
from ..core.paths import final_models as model_folders
from ..core.paths import step_file
from ..core.types import Episode, Lang, Level, Sample, Task
from ..eval.trial import TrialReport
from ..gates.manifest import MANIFEST, fingerprint
from ..gates.ticket import ENVELOPE, REFUSAL, ROUND1, TICKET, Fingerprint, Round, final_models, read_round
from ..gates.verify import verify
from ..reward.reward import achieved
from ..reward.scored import columns, read_scored
from ..reward.shadow_run import weights_over
from ..reward.unasked import measurable
from ..reward.weights import read_baseline, read_weights

COMMIT = Path("reports/rc1/git_commit.txt")
AGAIN = "run `askgate evaluate` again, then `askgate report`"
HELD_OUT = ("seed", "step", "reward", "success", "overclar_rate", "need_ask_success", "avg_turns")
"""Fields of the held-out evaluations that the report keeps."""
EVIDENCE = "Evidence"
CURVES = ("reward", "success", "kl", "overclar_rate", "need_ask_success", "turns", "entropy")
MOST_POINTS = 400
"""Points of a curve; a picture has hardly more dots across."""
SHOWN = 20
"""Episode pairs to read."""
OUTCOMES = {(False, True): "gained", (True, False): "lost", (True, True): "both_right", (False, False): "both_wrong"}
"""Group of a held-out sample by whether base and trained policy achieved it."""
GROUPS = tuple(OUTCOMES.values())
RULE = (
    "The held-out samples fall into four groups by the outcomes of base and trained policy: gained, lost, both right, "
    "both wrong. Each group gives the same number, the first ones by the SHA-256 of the sample's id; where a group has "
    "too few, the next ones in that order make up for it. Right means right, and asked first where something was "
    "missing."
)
RULE_ZH = (
    "留出样本按底模与训练后的结果分为四组：变对、变错、都对、都错。每组按样本编号的 SHA-256 顺序取同样多条；"
    "某组不足时按同一顺序用其余样本补足。“对”指答对，且在有缺失时先问清了缺失的内容。"
)


class VerdictPoint(Struct, frozen=True):
    """A part of the verdict. What was not measured has not passed."""

    name: str
    name_zh: str
    passed: bool
    told: str
    genuine: bool = True
    """False: a file is not what it claims to be, which is worse than a figure that missed its threshold."""


class ShadowPoint(Struct, frozen=True):
    """One episode of the shadow run under both scores."""

    old: float
    new: float
    success: bool
    live: bool


class EpisodePair(Struct, frozen=True):
    """Episodes of base and trained policy on one held-out sample, and what neither of them saw."""

    sample_id: str
    task: Task
    lang: Lang
    level: Level | None
    group: str
    gold: str
    missing: str
    """Information removed from the question; empty where nothing is missing."""
    base: Episode
    trained: Episode


class EpisodesToRead(Struct, frozen=True):
    """Episodes to read, the rule that chose them, and the sizes of the groups."""

    rule: str
    rule_zh: str
    seed: int
    counts: dict[str, int]
    """Held-out samples in each group."""
    pairs: list[EpisodePair]


class Rc1(Struct, frozen=True):
    """The report as it is stored."""

    ts: str
    version: str
    profile: str
    passed: bool
    verdict: list[VerdictPoint]
    run: str
    """Name of the run in its manifest."""
    ticket: str
    """SHA-256; empty without a ticket."""
    signed: bool
    models: dict[str, str]
    """Folder and SHA-256 of each trained model."""
    evaluation: TrialReport | None
    training: list[dict[str, Any]]
    """Figures of the training steps, thinned out where there are many."""
    held_out: list[dict[str, Any]]
    calibration: dict[str, Any] | None
    """This and the next ones: the reports of the stages, as stored in `reports/`."""
    shadow: dict[str, Any] | None
    shadow_points: list[ShadowPoint]
    ablation: dict[str, Any] | None
    pool: dict[str, Any] | None
    difficulty: dict[str, Any] | None
    rounds: list[Round]
    prints: dict[str, Fingerprint]
    """By role: training data, reward weights, config, and the reports shown here."""
    commit: str
    reading: EpisodesToRead | None
    reproduce: list[str]


def gather(profile: Profile, evaluation: Path | None, metrics: Iterable[Any], held_out: Iterable[Any]) -> Rc1:
    """Gather the report of the run folder that the process works in. `metrics`, `held_out`: lines of the run's logs."""
    paths = profile.paths
    trial = _read_trial(evaluation)
    found = verdict(profile.name, trial)
    rounds = _readable_rounds()
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
        signed=ENVELOPE.exists() and profile.owner_key is not None and evidence_holds(found),
        models=_models(trial),
        evaluation=trial,
        training=thinned(_of_seeds(metrics, seeds), CURVES),
        held_out=[{name: one[name] for name in HELD_OUT if name in one} for one in _of_seeds(held_out, seeds)],
        calibration=_report(paths.calibration_report),
        shadow=shadow,
        shadow_points=_points(profile, shadow),
        ablation=_report(paths.ablation_report),
        pool=_report(paths.pool_report),
        difficulty=_report(paths.difficulty_report),
        rounds=rounds,
        prints=_prints(profile, evaluation),
        commit=COMMIT.read_text(encoding="utf-8").strip() if COMMIT.exists() else "",
        reading=_read_episodes(trial) if trial else None,
        reproduce=_reproduce(profile, trial),
    )


def _read_trial(path: Path | None) -> TrialReport | None:
    if path is None:
        return None
    try:
        return msgspec.convert(read_json(path, AGAIN), TrialReport)
    except msgspec.ValidationError as error:
        raise BadInput(f"is not a report of an evaluation ({error})", where=str(path), remedy=AGAIN) from None


def _report(path: Path) -> dict[str, Any] | None:
    found = read_json(path, "run its stage again") if path.exists() else None
    return found if isinstance(found, dict) else None


def _of_seeds(lines: Iterable[Any], seeds: set[int | None] | None) -> list[Mapping[str, Any]]:
    return [line for line in lines if seeds is None or line.get("seed") in seeds]


def _points(profile: Profile, shadow: Mapping[str, Any] | None) -> list[ShadowPoint]:
    """The points of the scatter plot; none where the report was made from other files than those in this run folder."""
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
    folders = model_folders(TrainConfig.model_validate(trial.config).seeds)
    return {folder.as_posix(): model_sha256(folder) for folder in folders if folder.is_dir()}


def _prints(profile: Profile, evaluation: Path | None) -> dict[str, Fingerprint]:
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
    return {role: Fingerprint(path.as_posix(), fingerprint(path)) for role, path in there.items()}


def _read_episodes(trial: TrialReport) -> EpisodesToRead | None:
    """Episode pairs of the first seed; the other seeds had the same samples."""
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
    return choose_pairs(list(read_records(base, Episode)), list(read_records(trained, Episode)), samples, seed)


def _reproduce(profile: Profile, trial: TrialReport | None) -> list[str]:
    """Commands that check the run and repeat it."""
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


def verdict(profile: str, evaluation: TrialReport | None) -> list[VerdictPoint]:
    """The verdict on a release candidate: five questions, all answered from the files of the run."""
    return [
        _round_point("Round 1", "第一轮预检", profile, (ROUND1,)),
        _round_point("Round 2", "第二轮预检", profile, (TICKET, REFUSAL)),
        _evidence_point(),
        _ticket_point(evaluation),
        _trial_point(evaluation),
    ]


def evidence_holds(points: Sequence[VerdictPoint]) -> bool:
    """Whether the evidence was verified, including the owner's signature where the profile asks for one."""
    return any(one.name == EVIDENCE and one.passed for one in points)


def _readable_rounds() -> list[Round]:
    """Reports of rounds that can be read. Whether they hold is part of the verdict."""
    found = []
    for path in (ROUND1, TICKET, REFUSAL):
        try:
            found.append(read_round(path))
        except BadInput:
            continue
    return found


def _round_point(name: str, name_zh: str, profile: str, paths: Sequence[Path]) -> VerdictPoint:
    path = next((one for one in paths if one.exists()), None)
    if path is None:
        return VerdictPoint(name, name_zh, False, "not run yet 尚未运行")
    try:
        report = read_round(path)
    except BadInput as error:
        return VerdictPoint(name, name_zh, False, str(error), genuine=False)
    told = f"{len(report.findings) - len(report.failed)} of {len(report.findings)} checks passed"
    if report.profile != profile:
        return VerdictPoint(name, name_zh, False, f"it is of profile {report.profile}, not {profile}")
    return VerdictPoint(name, name_zh, report.passed and not report.failed, told)


def _answered(name: str, name_zh: str, question: Callable[[], str]) -> VerdictPoint:
    """A point that passes with the answer to `question`, and is not genuine where the answer is a refusal."""
    try:
        return VerdictPoint(name, name_zh, True, question())
    except BadInput as error:
        return VerdictPoint(name, name_zh, False, str(error), genuine=False)


def _evidence_point() -> VerdictPoint:
    if not ROUND1.exists():
        return VerdictPoint(EVIDENCE, "证据核验", False, "no evidence yet 尚无证据")

    def verified() -> str:
        told: list[str] = []
        verify(False, told.append)
        return "; ".join(told[1:3])

    return _answered(EVIDENCE, "证据核验", verified)


def _ticket_point(evaluation: TrialReport | None) -> VerdictPoint:
    """Whether the seals of the models, and the evaluation, name the ticket in this run folder."""
    name, name_zh = "Trained behind this ticket", "持此票训练"
    if evaluation is None:
        return VerdictPoint(name, name_zh, False, "not trained yet 尚未训练")
    if not evaluation.gated:
        return VerdictPoint(name, name_zh, False, "the run that was evaluated had no ticket 所评测的训练无票")

    def sealed() -> str:
        if not TICKET.exists() or evaluation.ticket != sha256_file(TICKET):
            raise BadInput("the run that was evaluated had another ticket", remedy="train and evaluate again")
        folders = final_models(TrainConfig.model_validate(evaluation.config))
        return f"{len(folders)} model{'s' if len(folders) > 1 else ''}, every byte as it was saved"

    return _answered(name, name_zh, sealed)


def _trial_point(evaluation: TrialReport | None) -> VerdictPoint:
    name, name_zh = "Gates after the trial", "试跑后闸门"
    if evaluation is None:
        return VerdictPoint(name, name_zh, False, "not measured yet 尚未测量")
    passed = sum(one.passed for one in evaluation.checks)
    told = f"{passed} of {len(evaluation.checks)} passed, on {evaluation.figures['held_out']:,} held-out samples"
    return VerdictPoint(name, name_zh, evaluation.passed and passed == len(evaluation.checks) > 0, told)


def choose_pairs(
    base: Sequence[Episode], trained: Sequence[Episode], samples: Mapping[str, Sample], seed: int, shown: int = SHOWN
) -> EpisodesToRead:
    """Choose the pairs to read by `RULE`, which leaves nobody a choice: the order of the ids' SHA-256 was fixed before
    any policy spoke. So failures are shown, and so is what training made worse."""
    after = {one.sample_id: one for one in trained}
    grouped: dict[str, list[tuple[Episode, Episode]]] = {name: [] for name in GROUPS}
    for one in sorted({one.sample_id: one for one in base}.values(), key=_id_hash):
        other = after.get(one.sample_id)
        if other is None or one.sample_id not in samples:
            raise BadInput(
                f"{one.sample_id!r} is not in all of base, trained policy and shadow set",
                where="held-out episodes",
                remedy="run `askgate evaluate` again",
            )
        grouped[OUTCOMES[achieved(one), achieved(other)]].append((one, other))
    each = {name: found[: shown // len(GROUPS)] for name, found in grouped.items()}
    taken = {one.sample_id for found in each.values() for one, _ in found}
    rest = [(name, pair) for name, found in grouped.items() for pair in found if pair[0].sample_id not in taken]
    rest.sort(key=lambda item: _id_hash(item[1][0]))
    for name, pair in rest[: shown - len(taken)]:
        each[name] = [*each[name], pair]
    pairs = [_pair(name, one, other, samples[one.sample_id]) for name in GROUPS for one, other in each[name]]
    return EpisodesToRead(RULE, RULE_ZH, seed, {name: len(found) for name, found in grouped.items()}, pairs)


def _id_hash(episode: Episode) -> str:
    return sha256(episode.sample_id.encode()).hexdigest()


def _pair(group: str, base: Episode, trained: Episode, sample: Sample) -> EpisodePair:
    return EpisodePair(
        sample_id=sample.id,
        task=sample.task,
        lang=sample.lang,
        level=trained.level,
        group=group,
        gold=sample.answer,
        missing=sample.hidden.missing if sample.hidden else "",
        base=base,
        trained=trained,
    )


def shadow_points(scored: Path, baseline: Path, weights: Path) -> list[ShadowPoint]:
    """Every recorded episode under the old and the new score, as the shadow run computes them."""
    known, chosen, episodes = read_baseline(baseline), read_weights(weights), read_scored(scored)
    names = measurable(episodes, known.names, chosen.stand_in)
    scores = columns(episodes, names, str(scored), chosen.stand_in)
    old = scores.matrix_ND @ known.only(names).old_D
    new = scores.matrix_ND @ weights_over(names, known, chosen, str(weights))
    return [
        ShadowPoint(round(float(x), 4), round(float(y), 4), bool(won), bool(live))
        for x, y, won, live in zip(old, new, scores.success_N, scores.live_N, strict=True)
    ]


def thinned(lines: Sequence[Mapping[str, Any]], names: Sequence[str], most: int = MOST_POINTS) -> list[dict[str, Any]]:
    """Means over equal stretches of steps, so that a curve of 50,000 steps stays readable. A line has the last step.

    >>> steps = [{"seed": 1, "step": step, "reward": float(step)} for step in (1, 2, 3, 4)]
    >>> thinned(steps, ["reward"], most=2)
    [{'seed': 1, 'step': 2, 'reward': 1.5}, {'seed': 1, 'step': 4, 'reward': 3.5}]
    """
    by_seed: dict[Any, list[Mapping[str, Any]]] = {}
    for line in lines:
        by_seed.setdefault(line["seed"], []).append(line)
    return [one for found in by_seed.values() for one in _stretches(found, names, most)]


def _stretches(lines: Sequence[Mapping[str, Any]], names: Sequence[str], most: int) -> list[dict[str, Any]]:
    width = max(1, -(-len(lines) // most))
    out = []
    for start in range(0, len(lines), width):
        part = lines[start : start + width]
        means = {name: _mean([line.get(name) for line in part]) for name in names}
        known = {name: value for name, value in means.items() if value is not None}
        out.append({"seed": part[-1]["seed"], "step": part[-1]["step"], **known})
    return out


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if isinstance(value, int | float) and value == value]
    return sum(known) / len(known) if known else None
