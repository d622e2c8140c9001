"""Gates are data: a check is a name, a measured value, a threshold, a verdict and a remedy.

A report carries its evidence.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from .. import __version__
from .files import sha256_file

Rule = Literal[">=", "<=", ">", "<", "=="]
_RULES: dict[Rule, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}


class Check(Struct, frozen=True):
    """`name` may carry a scope: `distinct2`, `distinct2[gsm8k]`, `shortcut_auc[hotpotqa,zh]`."""

    name: str
    value: float | None
    """None: it could not be measured, and what nobody measured has not passed."""
    rule: Rule
    threshold: float
    passed: bool
    remedy: str
    remedy_zh: str


def check(name: str, value: float | None, rule: Rule, threshold: float, remedy: str, remedy_zh: str) -> Check:
    measured = None if value is None or isnan(value) else value
    passed = measured is not None and _RULES[rule](measured, threshold)
    return Check(name, measured, rule, threshold, passed, remedy, remedy_zh)


class Evidence(Struct, frozen=True):
    """What a stage read and wrote, with which arguments, by which code, and when."""

    inputs: dict[str, str]
    outputs: dict[str, str]
    arguments: dict[str, Any]
    version: str
    started: str
    ended: str


class Report(Struct, frozen=True):
    stage: str
    passed: bool
    checks: list[Check]
    figures: dict[str, Any]
    evidence: Evidence


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def evidence(inputs: Iterable[Path], outputs: Iterable[Path], arguments: dict[str, Any], started: str) -> Evidence:
    return Evidence(
        inputs={str(path): sha256_file(path) for path in inputs},
        outputs={str(path): sha256_file(path) for path in outputs},
        arguments=arguments,
        version=__version__,
        started=started,
        ended=now(),
    )


def report(stage: str, checks: list[Check], figures: dict[str, Any], proof: Evidence) -> Report:
    """A report without a single check has not passed: nothing was measured."""
    return Report(stage, bool(checks) and all(one.passed for one in checks), checks, figures, proof)
