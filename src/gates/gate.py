"""A gate: its input (`RoundContext`) and its output (`Finding`s with the SHA-256 of the files that were read)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from askgate_env.types import Record

from ..config.judge_config import ScoringSection
from ..config.profile import Profile, scoring_of
from ..core.check import Check, Rule, check
from ..core.errors import BadInput
from ..core.files import fingerprint, shipped, write_json
from ..core.jsonl import refuse_repeated_keys

PREFLIGHT = Path("reports/preflight")
GATES: tuple[str, ...] = ("pool", "difficulty", "weights", "calibration", "shadow", "penalty", "ablation", "config")
GATES += ("disk", "fresh", "scoring", "judge", "round1")
INTEGRITY = ("fresh", "scoring", "judge")
"""Gates whose failure means that something is not genuine (exit code 2). `round1` is not among them: a first round that
failed a quality gate is genuine (exit code 1)."""
MOMENTARY = {
    "disk": {"disk_free_gb"},
    "round1": {"round1_passed", "round1_of_this_profile", "round1_by_this_code"},
}
"""Gates that depend on the moment of the round, such as free disk space, with the names of their checks. They cannot be
measured again from files."""
MEASURED = "measured"
"""Name of the check that fails if a gate could not be measured at all."""
_FIGURE_TOLERANCE = 1e-4
"""Tolerance for figures that were computed on another machine."""


@dataclass(frozen=True)
class RoundContext:
    """Inputs of the gates of one round: profile, scoring settings and paths."""

    profile: Profile
    scoring: ScoringSection
    round: int
    work: Path
    """Folder of the reports that the gates write."""
    fresh: Path
    exam: Path
    """Scores of good dialogues, canaries and repeats, which show whether the judge reads."""
    ledger: Path
    """The ledger as it was at the time of the round: today's ledger, or a copy of its first lines."""

    @property
    def cache_hit_lt(self) -> float:
        limits = self.profile.thresholds
        return limits.cache_hit_lt_round1 if self.round == 1 else limits.cache_hit_lt_round2


class Finding(Record, frozen=True):
    """A check of a gate, and the evidence it was measured on."""

    gate: str
    name: str
    value: float | None
    rule: Rule
    threshold: float
    passed: bool
    remedy: str
    remedy_zh: str
    evidence: dict[str, str]
    """Path and SHA-256 of what was read."""

    @property
    def verdict(self) -> bool:
        """Whether the value passes the threshold, computed again: a stored `passed` may be forged."""
        return check(self.name, self.value, self.rule, self.threshold, "", "").passed


Gate = Callable[[RoundContext], list[Finding]]


def round_context(profile: Profile, number: int, draft: bool = False) -> RoundContext:
    """The context of a round. `draft`: with a temporary folder, for files that are written while the evidence of an
    earlier round must still be kept."""
    work = PREFLIGHT / f"{'.' if draft else ''}round{number}"
    fresh, exam = work / "fresh_scores.jsonl", work / "judge/scores.jsonl"
    return RoundContext(profile, scoring_of(profile), number, work, fresh, exam, profile.paths.ledger)


def findings_of(gate: str, checks: Iterable[Check], evidence: Mapping[str, str]) -> list[Finding]:
    """The checks of a gate as findings. Refuses JSON with a repeated key: readers may take different values."""
    for path, digest in evidence.items():
        refuse_repeated_keys(shipped(Path(path)), digest)
    return [Finding(gate=gate, **asdict(one), evidence={**evidence}) for one in checks]


def measured_file(context: RoundContext, gate: str) -> Path:
    """The file with a round's measurements of a gate: its checks, and the figures that the RC1 report shows."""
    return context.work / f"{gate}_report.json"


def measured_files(context: RoundContext) -> dict[str, str]:
    """Path and SHA-256 of the measurements of all gates that have some."""
    return evidence_of(*(path for gate in GATES if (path := measured_file(context, gate)).exists()))


def write_measured(context: RoundContext, gate: str, checks: Iterable[Check], figures: Mapping[str, Any]) -> None:
    write_json(measured_file(context, gate), {"checks": list(checks), "figures": figures})


def unmeasured(gate: str, error: BadInput) -> Finding:
    """The failed finding of a gate that could not be measured; its remedy says why.

    >>> unmeasured("pool", BadInput("no such file", where="pool.jsonl", remedy="build it")).remedy
    'pool.jsonl: no such file; build it.'
    """
    why = str(error).replace(". What to do: ", "; ")
    return Finding(gate, MEASURED, None, "==", 1.0, False, why, f"无法测量：{why}", {})


def evidence_of(*paths: Path) -> dict[str, str]:
    """Fingerprints of these files and folders as they are now."""
    return {str(path): fingerprint(path) for path in paths}


def measure(gates: Mapping[str, Gate], context: RoundContext) -> list[Finding]:
    """The findings of all gates. A gate that cannot be measured fails; the others are measured all the same."""
    findings: list[Finding] = []
    for name, gate in gates.items():
        try:
            findings += gate(context)
        except BadInput as error:
            findings.append(unmeasured(name, error))
    return findings


def is_close(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. Floating-point numbers may differ by `_FIGURE_TOLERANCE`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and isclose(one, other, rel_tol=_FIGURE_TOLERANCE, abs_tol=_FIGURE_TOLERANCE)
    return bool(one == other)
