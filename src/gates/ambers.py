"""Ambers: caveats that the owner must know before a release, though no gate failed.

docs/gates.md lists them. `askgate report` and `askgate package` exit with 1 until the owner has signed each of them off
by name; no other command fails. Weaker thresholds cannot be signed off. Ambers are always derived again from profile,
weights, the round's judge scores and evaluation; the lists in reports are only for readers. If the profile requires a
judge that reads, `judge_noise` and `canaries_fooled` are red instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from askgate_env.dimensions import LIVE
from askgate_env.types import Record

from ..config.profile import Profile, profile_path, scoring_of
from ..config.schema import dotted
from ..core.check import NOT_FOR_SIGNING, Check, amber, now
from ..core.errors import BadInput
from ..core.files import is_plain_json, package_json, read_json, read_record, sha256_file, shipped, write_json
from ..core.jsonl import read_unique
from ..eval.trial import TrialReport, trial_ambers
from ..reward.calibration import judge_auc
from ..reward.rank_statistics import CHANCE
from ..reward.recorded_episodes import RecordedEpisode
from ..reward.weights import read_baseline, read_unchecked
from ..runtime.lock import write_lock
from ..scoring.scores import Score
from .checks.judge import exam_checks
from .checks.provenance import in_ledger
from .gate import PREFLIGHT, RoundContext, is_close, measured_file, round_context
from .manifest import Manifest, newest_evaluation
from .sign_off import AMBER, read_signed, require_owner_key, sign_statement
from .ticket import ROUND1, TICKET, read_round

REFERENCE = "templates/reference_thresholds.json"
"""Thresholds of the shipped profiles. Profiles may be edited; these are part of the package."""
_HIGHER_IS_STRICTER = re.compile(r"(^|[._])min([._]|$)|^counts\.|^sizes\.|^votes\.k")
_LOWER_IS_STRICTER = re.compile(r"(^|[._])(max|lt)([._]|$)|^overclar_small$|\.leak_|\.watch\.")
_AGAIN = "run its stage again"


@dataclass(frozen=True)
class Amber:
    """A caveat that the owner must know, and the file that it is about."""

    fact: Check
    file: Path
    signed: str = ""
    """Names of all who signed it off, with reasons. Empty if nobody did, or if the file has changed since."""

    @property
    def name(self) -> str:
        return self.fact.name


class Acknowledgement(Record, frozen=True):
    """`reports/preflight/amber_NAME.json`, where the profile names no owner key. It is recorded in the manifest.

    A later sign-off of the same amber gets another file, `amber_NAME.2.json`: none is overwritten.
    """

    amber: str
    path: str
    sha256: str
    by: str
    at: str
    reason: str = ""


def round_ambers(context: RoundContext) -> list[Amber]:
    """Ambers that are known before training. A round lists them in its report."""
    required = context.profile.thresholds.judge.required
    facts = [] if required else [one for one in exam_checks(context, "ambers") if not one.passed]
    scores, episodes = context.profile.paths.calibration_scores, context.profile.paths.calibration_episodes
    at_chance = [Amber(one, scores) for one in auc_ambers(episodes, scores)]
    return [*profile_ambers(context.profile), *at_chance, *(Amber(one, context.exam) for one in facts)]


def profile_ambers(profile: Profile) -> list[Amber]:
    """Ambers that follow from profile and weights."""
    weights, weaker = profile.paths.weights, weaker_thresholds(profile)
    facts = [
        (profile_path(profile.name), amber("weaker_thresholds", float(len(weaker)), "<=", 0.0, "; ".join(weaker))),
        (profile.paths.baseline, baseline_ambers(profile)),
        (weights, weight_ambers(read_unchecked(weights).weights) if weights.exists() else []),
    ]
    return [Amber(fact, path) for path, checks in facts for fact in checks]


def ambers(profile: Profile) -> list[Amber]:
    """All ambers of the run in this folder, each with the names of those who signed it off."""
    return [replace(one, signed=_signed_by(profile, one)) for one in _derived_ambers(profile)]


def open_ambers(profile: Profile) -> list[Amber]:
    """Ambers that nobody has signed off: they block a release."""
    return [one for one in ambers(profile) if not one.signed]


def sign_offs(profile: Profile) -> dict[str, str]:
    """Signers and reasons by name of the amber. Empty if the evidence cannot be read."""
    try:
        return {one.name: one.signed for one in ambers(profile) if one.signed}
    except BadInput:
        return {}


def sign_amber(profile: Profile, name: str, key: Path | None, password: bytes | None, by: str, reason: str) -> Path:
    """Signs an amber off: with the owner's key if the profile names one, else by name in the manifest."""
    found = next((one for one in _derived_ambers(profile) if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in _derived_ambers(profile)) or "there is none"
        raise BadInput(f"there is no amber {name!r} (known: {known})", where="--amber", remedy="check the name")
    if name == NOT_FOR_SIGNING:
        raise BadInput("weaker thresholds cannot be signed off", where="--amber", remedy=found.fact.remedy)
    if not by:
        raise BadInput("nobody is named", where="--by", remedy='say who accepts this: --by "Ada Lovelace"')
    if not reason:
        raise BadInput("no reason is given", where="--reason", remedy='say why: --reason "the judge is not used"')
    with write_lock(PREFLIGHT / "sign_off"):  # two people may sign at the same moment
        run = Manifest().run
        path = next(one for one in _sign_off_paths(name, signed=profile.owner_key is not None) if not one.exists())
        if profile.owner_key is not None:
            if key is None:
                what = f"profile {profile.name} names the owner's key"
                raise BadInput(what, where="--key", remedy="sign with that key")
            require_owner_key(profile, key, password)
            facts = {"amber": name, "profile": profile.name, "run": run, "signedAt": now(), "by": by, "reason": reason}
            return sign_statement(key, password, found.file, AMBER, facts, path)
        if key is not None:
            what = f"profile {profile.name} names no owner key, so a signature would prove nothing"
            remedy = "sign off by name with --by, or set owner_key in the profile and run both rounds again"
            raise BadInput(what, where="--key", remedy=remedy)
        digest = sha256_file(shipped(found.file))
        write_json(path, Acknowledgement(name, str(found.file), digest, by, now(), reason))
        Manifest().record([path])
        return path


def weaker_thresholds(profile: Profile) -> list[str]:
    """Thresholds weaker than the shipped ones, each as `spearman_min is 0.5, shipped 0.75`."""
    reference = reference_thresholds(profile.name)
    # These sizes are thresholds too: one live sample, one vote or one step of an ablation would prove
    # nothing.
    sizes = {"sizes": profile.sizes.model_dump(mode="json", include={"fresh", "ablation"})}
    votes = {"votes": scoring_of(profile).votes.model_dump(mode="json")}
    own = dict(dotted(profile.thresholds.model_dump(mode="json") | sizes | votes))
    weaker = [key for key in own if _is_weaker(key, own[key], reference.get(key))]
    # An empty section requires nothing.
    missing = [key for key in reference if key not in own and not key.startswith("old_weights.")]
    texts = [f"{key} is {own[key]}, shipped {reference.get(key)}" for key in weaker]
    return [*texts, *(f"{key} is missing, shipped {reference[key]}" for key in missing)]


def reference_thresholds(name: str) -> dict[str, Any]:
    """The shipped thresholds of a profile: those of rc1, replaced by its own where it has some."""
    reference = package_json(REFERENCE)
    return {**reference["rc1"], **reference[name]}


def _is_weaker(key: str, value: Any, reference: Any) -> bool:
    """
    >>> _is_weaker("spearman_min", 0.5, 0.75), _is_weaker("pool.max_dup_pct", 1.0, 2.0)
    (True, False)
    >>> _is_weaker("config.qlora", False, True), _is_weaker("calibration.seed", 43, 42)
    (True, True)
    >>> _is_weaker("sizes.ablation.seeds", [7], [1, 2]), _is_weaker("sizes.ablation.seeds", [1, 2, 3], [1, 2])
    (True, False)
    """
    if isinstance(value, bool):
        return reference is True and not value
    if reference is None or value == reference:
        return False
    if isinstance(value, list):
        return not set(reference) <= set(value)
    if _HIGHER_IS_STRICTER.search(key):
        return bool(value < reference)
    if _LOWER_IS_STRICTER.search(key):
        return bool(value > reference)
    return True  # such as a seed or a mix: no value is stricter, so any other one counts as weaker


def baseline_ambers(profile: Profile) -> list[Check]:
    """The amber of old weights that differ from the shipped ones and may be easier to beat."""
    reference = reference_thresholds(profile.name)
    old = {f"old_weights.{name}": value for name, value in read_baseline(profile.paths.baseline).weights.items()}
    known = {key: value for key, value in reference.items() if key.startswith("old_weights.")}
    others = sorted(key for key in old | known if known and old.get(key) != known.get(key))
    details = "; ".join(f"{key} is {old.get(key)}, shipped {known.get(key)}" for key in others)
    return amber("old_weights", float(len(others)), "<=", 0.0, details)


def weight_ambers(weights: dict[str, float]) -> list[Check]:
    """The amber of a live judge whose dimensions all have weight 0."""
    return amber("judge_weight", sum(weights.get(name, 0.0) for name in LIVE), ">", 0.0)


def auc_ambers(episodes: Path, scores: Path) -> list[Check]:
    """The amber of a judge at chance. The gate `calibration` shows whether outcomes and scores are real."""
    success = {one.id: float(one.episode.success) for one in read_unique(episodes, RecordedEpisode)}
    scored = [one for one in read_unique(scores, Score) if one.live and one.scores and one.id in success]
    live = {name: np.array([one.scores[judged] for one in scored]) for name, judged in LIVE.items()}
    found = judge_auc(live, np.array([success[one.id] for one in scored]))
    details = "; ".join(f"{name} {auc:.2f} (95% {low:.2f} to {high:.2f})" for name, (auc, low, high) in found.items())
    best = max((low for _, low, _ in found.values()), default=None)
    return amber("judge_auc", best, ">", CHANCE, details)


def _derived_ambers(profile: Profile) -> list[Amber]:
    """All ambers of the run, derived from the evidence, without sign-offs."""
    newest = next((number for number, path in ((2, TICKET), (1, ROUND1)) if _has_exam(profile, path)), None)
    if newest:
        context = round_context(profile, newest)
        _require_ledger(context)
        found = round_ambers(context)
    else:
        found = profile_ambers(profile)
    found += stage_ambers(profile)
    evaluation = newest_evaluation()
    if evaluation:
        found += [Amber(one, evaluation) for one in trial_ambers(read_record(evaluation, TrialReport, _AGAIN).pooled)]
    return found


def _require_ledger(context: RoundContext) -> None:
    """Ambers are derived from judge scores. Raises BadInput if one of these scores is not in the ledger."""
    paths = context.profile.paths
    for file in (context.exam, paths.calibration_scores, paths.shadow_scores):
        scores = [one for one in read_unique(file, Score) if one.overall is not None]
        if len(in_ledger(context.ledger, context.scoring.votes, scores)) < len(scores):
            remedy = "put the file back as the judge's scores were written"
            raise BadInput("has a score that is not in the ledger", where=str(file), remedy=remedy)


def stage_ambers(profile: Profile) -> list[Amber]:
    """The amber of stage reports that differ from what round 2 measured. No gate reads them, but they are packed."""
    context = round_context(profile, 2)
    differing: dict[Path, str] = {}
    for gate in ("pool", "difficulty", "calibration", "shadow", "ablation"):
        file, measured = getattr(profile.paths, f"{gate}_report"), measured_file(context, gate)
        if TICKET.exists() and file.exists() and measured.exists():
            stated, known = _shown(file), _shown(measured)
            both = [name for name in stated if name in known]
            others = [name for name in both if not is_close(stated[name], known[name])]
            if others or not both:
                differing[file] = f"{file}: {', '.join(others)}"
    facts = amber("stage_report", float(len(differing)), "<=", 0.0, "; ".join(differing.values()))
    return [Amber(one, next(iter(differing))) for one in facts]


def _shown(report: Path) -> dict[str, Any]:
    """Figures of a report and values of its checks, by name."""
    stored = read_json(report, _AGAIN)
    try:
        return {**stored["figures"], **{f"check {one['name']}": one["value"] for one in stored["checks"]}}
    except (KeyError, TypeError):
        raise BadInput("is no report of a stage", where=str(report), remedy=_AGAIN) from None


def _has_exam(profile: Profile, path: Path) -> bool:
    """Whether this is the report of a round of the profile that measured its judge."""
    report = read_round(path) if path.exists() else None
    return report is not None and report.profile == profile.name and "judge" not in report.unmeasured


def _signed_by(profile: Profile, amber: Amber) -> str:
    """Names and reasons of the sign-offs that hold for the file as it is now."""
    if amber.name == NOT_FOR_SIGNING:
        return ""
    digest, key = sha256_file(shipped(amber.file)), profile.owner_key
    found = [
        _signed_statement(key, amber, digest, path) if key else _acknowledgement(amber, digest, path)
        for path in amber_files(amber.name, signed=key is not None)
    ]
    return "; ".join(filter(None, found))


def _signed_statement(owner_key: Path, amber: Amber, digest: str, path: Path) -> str:
    """Name and reason of a sign-off by the owner's key; empty if it is for another run or file."""
    statement = read_signed(path, owner_key, AMBER)
    facts, subjects = statement["predicate"], [one.get("digest", {}) for one in statement.get("subject", [])]
    holds = facts.get("amber") == amber.name and facts.get("run") == Manifest().run and subjects == [{"sha256": digest}]
    who = f"{facts['by']} with the owner's key" if facts.get("by") else "the owner's key"
    return _with_reason(who, facts.get("reason")) if holds else ""


def _acknowledgement(amber: Amber, digest: str, path: Path) -> str:
    """Name and reason of a sign-off in the manifest; empty if it is for another file or was written by hand."""
    stated = read_record(path, Acknowledgement, _AGAIN)
    entry = Manifest().newest().get(str(path))
    recorded = entry is not None and entry.kind == "file" and entry.digest == sha256_file(path)
    holds = recorded and is_plain_json(path.read_bytes()) and (stated.amber, stated.sha256) == (amber.name, digest)
    return _with_reason(stated.by, stated.reason) if holds else ""


def _with_reason(by: str, reason: str | None) -> str:
    return f"{by} ({reason})" if reason else by


def amber_files(name: str, signed: bool) -> list[Path]:
    """The files of all sign-offs of an amber, oldest first; `signed`: those by the owner's key."""
    return list(takewhile(Path.exists, _sign_off_paths(name, signed)))


def _sign_off_paths(name: str, signed: bool) -> Iterator[Path]:
    """`amber_NAME.json`, `amber_NAME.2.json`, ...; `signed`: `amber_NAME.dsse.json`, `amber_NAME.2.dsse.json`, ..."""
    for number in count(1):
        yield PREFLIGHT / f"amber_{name}{f'.{number}' if number > 1 else ''}{'.dsse' if signed else ''}.json"
