"""The RC1 report: `reports/rc1/RC1.json`, gathered from the files of a run, and `RC1.html`, which shows it and nothing
else, opens from disk and loads nothing.

Figures of data, weights, shadow run and ablation are those that the last round measured, not those that a stage wrote.
Where a file was made from another one, the checksums must match: episodes that changed since then are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from askgate_env.types import Episode, Sample

from .. import __version__
from ..config.loader import stored_config
from ..config.profile import Profile, load_profile
from ..config.schema import dotted
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import atomic_files, fingerprint, json_bytes, read_json, read_record, sha256_file, shipped
from ..core.jsonl import read_records
from ..core.model_files import model_sha256
from ..core.paths import EVAL_METRICS, HERE, METRICS, certified_run, in_run, run_of, step_file
from ..core.paths import final_models as model_folders
from ..eval.compare import OUTCOMES, outcomes
from ..eval.metrics import HARD_READING, MEASURES, is_lucky, is_right
from ..eval.trial import TrialReport
from ..gates.ambers import ambers, sign_offs
from ..gates.final_models import ended_early, final_models
from ..gates.gate import measured_file, round_context
from ..gates.manifest import MANIFEST, Manifest, newest_evaluation
from ..gates.ticket import ENVELOPE, REFUSAL, ROUND1, TICKET, Fingerprint, Round, read_round
from ..gates.verify import verify
from ..loop.lights import Colour
from ..reward.shadow_run import ShadowPoint
from .difficulty import BUCKET_BOUNDS, bucket_rows
from .render import LABELS, opened_in, render_page
from .results import curve_series, log_lines

RC1_PAGE, RC1_JSON = Path("reports/rc1/RC1.html"), Path("reports/rc1/RC1.json")
AGAIN = "run `askgate eval` again, then `askgate report`"
HELD_OUT = ("seed", "step", "reward", "success", "overclar_rate", "need_ask_success", "avg_turns")
"""Fields of the held-out evaluations that the report keeps."""
CURVES = ("reward", "success", "kl", "overclar_rate", "need_ask_success", "turns", "entropy")
MAX_POINTS = 400  # points of a curve; a picture has hardly more dots across
SHOWN = 20  # episode pairs to read
GROUPS = tuple(OUTCOMES.values())
SHOWN_GATES = ("calibration", "shadow", "ablation", "pool", "difficulty")  # gates whose figures the report shows
HEADLINE = (
    "need_ask_success", "overclar_rate", "success", "lucky_guess_rate", f"success_{HARD_READING}", "avg_turns",
)  # fmt: skip
REPRODUCE = (
    "pip install ./packages/askgate-env '.[train]'",
    "askgate verify --deep",
    "askgate package --out rc1.tgz",
    "askgate reproduce rc1.tgz --verify",
    "askgate reproduce rc1.tgz --rerun",
)
"""Commands that check the run and repeat it."""
FINGERPRINTED = (
    "shadow_set", "pool", "metrics", "balanced", "templates", "weights", "baseline", "config", "ledger", "pool_report",
    "difficulty_report", "calibration_report", "shadow_report", "ablation_report",
)  # fmt: skip
"""Files of a profile whose SHA-256 the report shows."""
DIFFICULTY_METRICS = ("score", "clue_overlap", "len_tokens", "tool_hops")


class EpisodePair(Struct, frozen=True):
    """Episodes of base and trained policy on one held-out sample, and what neither of them saw."""

    group: str
    gold: str
    missing: str  # information removed from the question; empty where nothing is missing
    base: Episode
    trained: Episode


class EpisodesToRead(Struct, frozen=True):
    """Episodes to read, the rule that chose them, and the sizes of the groups."""

    rule: str
    rule_zh: str
    seed: int
    counts: dict[str, int]  # held-out samples in each group
    pairs: list[EpisodePair]


EVIDENCE, AMBERS = "Evidence", "Ambers"  # parts of the verdict
NOT_RUN, NO_EVIDENCE = "not run yet", "no evidence yet"
NOT_TRAINED, NOT_MEASURED = "not trained yet", "not measured yet"
NOT_YET = (NOT_RUN, NO_EVIDENCE, NOT_TRAINED, NOT_MEASURED)
PartResult = tuple[bool, str, str]  # whether a part of the verdict passed, and the finding in English and Chinese


class VerdictPoint(Struct, frozen=True, rename={"text": "told", "text_zh": "told_zh"}):
    """A part of the verdict. What was not measured has not passed."""

    name: str
    name_zh: str
    passed: bool
    text: str  # the finding in one line; ambers have a line each
    text_zh: str = ""
    genuine: bool = True
    """False: a file is not what it claims to be, which is worse than a figure that missed its threshold."""
    colour: Colour = "red"
    """Amber: nothing failed, and there are facts that the owner must know, signed off or not. Grey: not there yet."""


class Rc1(Struct, frozen=True, rename={"fingerprints": "prints"}):
    """The report as it is stored."""

    ts: str
    version: str
    profile: str
    passed: bool  # whether the run may be released: nothing failed, and every amber is signed off
    colour: Colour
    verdict: list[VerdictPoint]
    run: str  # id of the evidence: the random name in the first line of the manifest
    training_run: str  # id of the training run that the report is about; empty before training
    ticket: str  # SHA-256; empty without a ticket
    signed: bool  # whether the owner's key signed the ticket
    sign_offs: dict[str, str]  # ambers that were signed off: name, and who signed with which reason
    models: dict[str, str]  # folder and SHA-256 of each trained model
    evaluation: TrialReport | None
    training: list[dict[str, Any]]  # figures of the training steps, thinned out where there are many
    held_out: list[dict[str, Any]]
    calibration: dict[str, Any] | None
    """This and the next ones: checks and figures of a gate, as the last round measured them."""
    shadow: dict[str, Any] | None
    shadow_points: list[ShadowPoint]
    ablation: dict[str, Any] | None
    pool: dict[str, Any] | None
    difficulty: dict[str, Any] | None
    rounds: list[Round]
    fingerprints: dict[str, Fingerprint]  # by role: training data, reward weights, config, and the reports shown here
    commit: str
    reading: EpisodesToRead | None
    reproduce: list[str]


def write_rc1(profile: Profile, evaluation: Path | None = None) -> Rc1:
    """Gather the report, and write the page and its JSON: both or neither."""
    found = gather_run(profile, evaluation)
    with atomic_files() as start:
        start(RC1_PAGE).write(opened_in(rc1_page(found)))
        start(RC1_JSON).write(json_bytes(found))
    return found


def gather_run(profile: Profile, evaluation: Path | None = None) -> Rc1:
    """The report of an evaluation's run, of the newest one where none is named."""
    run = _run_folder(evaluation) if evaluation else certified_run()
    evaluation = evaluation or newest_evaluation()
    return gather(profile, evaluation, log_lines(run / METRICS), log_lines(run / EVAL_METRICS))


def rc1_page(report: Rc1) -> bytes:
    """The page of a report."""
    return render_page(
        "rc1_report.html",
        report=report,
        headline=HEADLINE,
        measures=MEASURES,
        series=curve_series(report.training, report.held_out),
        buckets=bucket_rows(report.difficulty["figures"]) if report.difficulty else [],
        difficulty_metrics=DIFFICULTY_METRICS,
        bounds=BUCKET_BOUNDS,
        is_right=is_right,
        is_lucky=is_lucky,
        settings=list(dotted(report.evaluation.config)) if report.evaluation else [],
    )


def gather(profile: Profile, evaluation: Path | None, metrics: Iterable[Any], held_out: Iterable[Any]) -> Rc1:
    """Gather the report of the current project folder. `metrics`, `held_out`: lines of the run's logs."""
    trial = read_trial(evaluation)
    found = verdict(profile.name, trial)
    evidence = next(one for one in found if one.name == EVIDENCE)
    colours = {one.colour for one in found}
    rounds = readable_rounds()
    measured = {gate: _measured(profile, rounds, gate) for gate in SHOWN_GATES}
    points = measured["shadow"]["figures"].pop("points", []) if measured["shadow"] else []
    seeds = {one.seed for one in trial.seeds} if trial else None
    return Rc1(
        ts=now(),
        version=__version__,
        profile=profile.name,
        passed=all(one.passed for one in found),
        # Red if a part failed, grey if a part is missing, amber if only ambers are there.
        colour=next((colour for colour in ("red", "grey", "amber") if colour in colours), "green"),
        verdict=found,
        run=rounds[-1].run if rounds else "",
        training_run=Manifest().recorded_run(_run_folder(evaluation)).name if evaluation else "",
        ticket=sha256_file(TICKET) if TICKET.exists() else "",
        signed=ENVELOPE.exists() and profile.owner_key is not None and evidence.passed,
        sign_offs=sign_offs(profile),
        models=_models(trial),
        evaluation=trial,
        training=thinned(_of_seeds(metrics, seeds), CURVES),
        held_out=[{name: one[name] for name in HELD_OUT if name in one} for one in _of_seeds(held_out, seeds)],
        **measured,
        shadow_points=msgspec.convert(points, list[ShadowPoint]),
        rounds=rounds,
        fingerprints=_fingerprints(profile, evaluation),
        commit=rounds[-1].commit if rounds else "",
        reading=_read_episodes(trial, _run_folder(evaluation)) if trial and evaluation else None,
        reproduce=list(REPRODUCE),
    )


def read_trial(path: Path | None) -> TrialReport | None:
    """The report of an evaluation; None where there is none yet."""
    return read_record(path, TrialReport, AGAIN, "is not a report of an evaluation") if path else None


def _run_folder(evaluation: Path) -> Path:
    """Run that an evaluation is of: its report is in `reports/` of the project folder, or is a link to it."""
    run = run_of(evaluation)
    return evaluation.parent.parent if run == HERE else run


def _measured(profile: Profile, rounds: Sequence[Round], gate: str) -> dict[str, Any] | None:
    """Checks and figures of a gate as the last round of this profile measured them. What a stage wrote is not shown."""
    last = next((one for one in reversed(rounds) if one.profile == profile.name), None)
    path = measured_file(round_context(profile, 1 if last.round == "round1" else 2), gate) if last else None
    found = read_json(path, "run both rounds again") if path and path.exists() else None
    return found if isinstance(found, dict) else None


def _of_seeds(lines: Iterable[Any], seeds: set[int | None] | None) -> list[Mapping[str, Any]]:
    return [line for line in lines if seeds is None or line.get("seed") in seeds]


def _models(trial: TrialReport | None) -> dict[str, str]:
    """SHA-256 by folder of the final models of a gated run."""
    if trial is None or not trial.gated:
        return {}
    folders = model_folders(stored_config(trial.config, "config of the evaluated run").seeds)
    return {folder.as_posix(): model_sha256(folder) for folder in folders if folder.is_dir()}


def _fingerprints(profile: Profile, evaluation: Path | None) -> dict[str, Fingerprint]:
    """By role, the files that the report names with their SHA-256."""
    paths = profile.paths
    wanted = {role.replace("_", " "): getattr(paths, role) for role in FINGERPRINTED}
    wanted |= {"manifest": MANIFEST, "ticket": TICKET, **({"evaluation": evaluation} if evaluation else {})}
    present = {role: path for role, path in wanted.items() if shipped(path).exists()}
    return {role: Fingerprint(in_run(path).as_posix(), fingerprint(path)) for role, path in present.items()}


def _read_episodes(trial: TrialReport, run: Path) -> EpisodesToRead | None:
    """Episode pairs of the first seed; the other seeds had the same samples."""
    stated = trial.evidence.inputs
    seed, steps = trial.seeds[0].seed, trial.seeds[0].steps
    if seed is None:
        return None
    files = [Path(path) for path in stated if path.endswith(".jsonl")]
    of_seed = [one for one in files if f"seed_{seed}" in one.parts] or files
    base = next((one for one in of_seed if one == step_file(one.parent, 0)), None)
    trained = next((one for one in of_seed if one == step_file(one.parent, steps)), None)
    shadow_set = Path(str(trial.config["shadow_set"]))
    if base is None or trained is None:
        return None
    for name, path in ((base, run / base), (trained, run / trained), (shadow_set, shadow_set)):
        if stated.get(str(name)) != sha256_file(path):
            raise BadInput("has changed since it was evaluated", where=str(path), remedy=AGAIN)
    samples = {one.id: one for one in read_records(shadow_set, Sample)}
    before, after = (list(read_records(run / name, Episode)) for name in (base, trained))
    return choose_pairs(before, after, samples, seed)


def choose_pairs(
    base: Sequence[Episode], trained: Sequence[Episode], samples: Mapping[str, Sample], seed: int, shown: int = SHOWN
) -> EpisodesToRead:
    """Chooses the pairs to read by the SHA-256 of the sample ids, so that nobody can pick the best ones.

    That order was fixed before any policy was trained. Each group gets its share of the places, so failures are shown,
    and so is what training made worse.
    """
    after = {one.sample_id: one for one in trained}
    groups = outcomes(base, trained)
    grouped: dict[str, list[tuple[Episode, Episode]]] = {name: [] for name in GROUPS}
    for one in sorted({one.sample_id: one for one in base}.values(), key=_id_hash):
        other = after.get(one.sample_id)
        if other is None or one.sample_id not in samples:
            raise BadInput(
                f"{one.sample_id!r} is not in all of base, trained policy and shadow set",
                where="held-out episodes",
                remedy="run `askgate eval` again",
            )
        grouped[groups[one.sample_id]].append((one, other))
    each = {name: found[: shown // len(GROUPS)] for name, found in grouped.items()}
    taken = {one.sample_id for found in each.values() for one, _ in found}
    rest = [(name, pair) for name, found in grouped.items() for pair in found if pair[0].sample_id not in taken]
    rest.sort(key=lambda item: _id_hash(item[1][0]))
    for name, pair in rest[: shown - len(taken)]:
        each[name] = [*each[name], pair]
    pairs = []
    for group, one, other in ((name, *pair) for name in GROUPS for pair in each[name]):
        sample = samples[one.sample_id]
        pairs.append(EpisodePair(group, sample.answer, sample.hidden.missing if sample.hidden else "", one, other))
    return EpisodesToRead(
        *LABELS["texts"]["reading_rule"], seed, {name: len(found) for name, found in grouped.items()}, pairs
    )


def _id_hash(episode: Episode) -> str:
    return sha256(episode.sample_id.encode()).hexdigest()


def thinned(lines: Sequence[Mapping[str, Any]], names: Sequence[str], most: int = MAX_POINTS) -> list[dict[str, Any]]:
    """Means over equal stretches of steps, so that a curve of 50,000 steps stays readable.

    The line of a stretch has the number of its last step.

    >>> steps = [{"seed": 1, "step": step, "reward": float(step)} for step in (1, 2, 3, 4)]
    >>> thinned(steps, ["reward"], most=2)
    [{'seed': 1, 'step': 2, 'reward': 1.5}, {'seed': 1, 'step': 4, 'reward': 3.5}]
    """
    stretches = []
    for seed in dict.fromkeys(line["seed"] for line in lines):
        of_seed = [line for line in lines if line["seed"] == seed]
        width = max(1, -(-len(of_seed) // most))
        for start in range(0, len(of_seed), width):
            part = of_seed[start : start + width]
            stretches.append({"seed": seed, "step": part[-1]["step"], **_means(part, names)})
    return stretches


def _means(lines: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, float]:
    means = {}
    for name in names:
        known = [float(value) for line in lines if isinstance(value := line.get(name), int | float) and value == value]
        if known:
            means[name] = sum(known) / len(known)
    return means


def verdict(profile: str, evaluation: TrialReport | None) -> list[VerdictPoint]:
    """The six parts of the verdict."""
    questions: list[tuple[str, str, Callable[[], PartResult]]] = [
        ("Round 1", "第一轮预检", lambda: _check_round(profile, ROUND1)),
        ("Round 2", "第二轮预检", lambda: _check_round(profile, TICKET if TICKET.exists() else REFUSAL)),
        (EVIDENCE, "证据核验", _check_evidence),
        ("Trained with this ticket", "凭此训练票训练", lambda: _check_training(evaluation)),
        ("Gates on the trained policy", "训练后闸门", lambda: _check_evaluation(evaluation)),
        (AMBERS, "发布前须知", lambda: _check_ambers(profile)),
    ]
    points = []
    for name, name_zh, answer in questions:
        try:
            passed, text, text_zh = answer()
            facts = name == AMBERS and ": " in text
            colour: Colour = "amber" if facts else "green" if passed else "grey" if text in NOT_YET else "red"
            points.append(VerdictPoint(name, name_zh, passed, text, text_zh, colour=colour))
        except BadInput as error:
            points.append(VerdictPoint(name, name_zh, False, str(error), genuine=False))
    return points


def readable_rounds() -> list[Round]:
    """Reports of rounds that can be read. Whether they hold is part of the verdict."""
    rounds = []
    for path in (ROUND1, TICKET, REFUSAL):
        with suppress(BadInput):
            rounds.append(read_round(path))
    return rounds


def _check_round(profile: str, path: Path) -> PartResult:
    """Whether the round passed under this profile."""
    if not path.exists():
        return False, NOT_RUN, "尚未运行"
    report = read_round(path)
    if report.profile != profile:
        where = report.profile, profile
        return False, "it belongs to profile {}, not {}".format(*where), "属于配置档 {}，不是 {}".format(*where)
    passed, every = len(report.findings) - len(report.failed), len(report.findings)
    ok = report.passed and not report.failed
    return ok, f"{passed} of {every} checks passed", f"{every} 项检查通过 {passed} 项"


def _check_evidence() -> PartResult:
    """Whether manifest, ledger and reports of the rounds are as they were recorded."""
    if not ROUND1.exists():
        return False, NO_EVIDENCE, "尚无证据"
    lines: list[str] = []
    verify(False, lines.append)
    return True, "; ".join(lines[1:3]), f"清单与账本逐项核对一致（{len(lines)} 项）"


def _check_training(evaluation: TrialReport | None) -> PartResult:
    """Whether the seals of the models, and the evaluation, name the ticket in this project folder."""
    if evaluation is None:
        return False, NOT_TRAINED, "尚未训练"
    if not evaluation.gated:
        return False, "the run that was evaluated had no ticket", "所评测的训练没有训练票"
    if not TICKET.exists() or evaluation.ticket != sha256_file(TICKET):
        raise BadInput("the run that was evaluated had another ticket", remedy="train and evaluate again")
    folders = final_models(stored_config(evaluation.config, "config of the evaluated run"))
    early = "".join(f"; {folder}: {reason}" for folder in folders if (reason := ended_early(folder)))
    models = f"{len(folders)} model{'s' if len(folders) > 1 else ''}, every byte as it was saved{early}"
    return True, models, f"{len(folders)} 个模型，与保存时逐字节一致{early}"


def _check_evaluation(evaluation: TrialReport | None) -> PartResult:
    """Whether the trained policy passed its gates."""
    if evaluation is None:
        return False, NOT_MEASURED, "尚未测量"
    passed, every, samples = sum(one.passed for one in evaluation.checks), len(evaluation.checks), evaluation.figures
    text = f"{passed} of {every} passed, on {samples['held_out']:,} held-out samples"
    text_zh = f"{every} 项通过 {passed} 项，{samples['held_out']:,} 条留出样本"
    return evaluation.passed and passed == every > 0, text, text_zh


def _check_ambers(profile: str) -> PartResult:
    """Whether every fact that the owner must know is signed off."""
    found = ambers(load_profile(profile))
    if not ROUND1.exists():
        return False, NOT_MEASURED, "尚未测量"
    lines = [f"{one.name}: " + (f"signed off by {one.signed}" if one.signed else one.fact.remedy) for one in found]
    lines_zh = [f"{one.name}：" + (f"{one.signed} 已签字" if one.signed else one.fact.remedy_zh) for one in found]
    return all(one.signed for one in found), "\n".join(lines) or "none", "\n".join(lines_zh) or "无"
