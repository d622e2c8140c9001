"""What a gate found: a check, which gate it belongs to, and the SHA-256 of everything that it was measured on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..core.check import Check, Rule, check
from ..core.errors import BadInput
from ..core.types import Record
from .prints import fingerprint

GATES = (
    "pool",
    "difficulty",
    "weights",
    "calibration",
    "shadow",
    "penalty",
    "ablation",
    "config",
    "disk",
    "fresh",
    "scoring",
    "round1",
)
INTEGRITY = ("fresh", "scoring")
"""Gates of which a failure says that something is not genuine: exit code 2. A first round that measured a red light is
genuine; one that does not hold any more could not be measured."""
MEASURED = "measured"
"""Name of the check that fails where a gate could not be measured at all."""


class Finding(Record, frozen=True):
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
    def holds(self) -> bool:
        """The verdict, reached again from value and threshold. What is written in `passed` is not believed."""
        return check(self.name, self.value, self.rule, self.threshold, "", "").passed


def found(gate: str, checks: Iterable[Check], evidence: Mapping[str, str]) -> list[Finding]:
    return [
        Finding(gate, one.name, one.value, one.rule, one.threshold, one.passed, one.remedy, one.remedy_zh, {**evidence})
        for one in checks
    ]


def unmeasured(gate: str, error: BadInput) -> Finding:
    """What nobody could measure has not passed; the remedy says why it could not.

    It is shown as what to do, so these words of the refusal go:

    >>> unmeasured("pool", BadInput("no such file", where="pool.jsonl", remedy="build it")).remedy
    'pool.jsonl: no such file; build it.'
    """
    why = str(error).replace(". What to do: ", "; ")
    return Finding(gate, MEASURED, None, "==", 1.0, False, why, f"无法测量：{why}", {})


def read(*paths: Path) -> dict[str, str]:
    """Evidence: what lies at these paths now."""
    return {str(path): fingerprint(path) for path in paths}
