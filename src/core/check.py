"""Checks and reports: a check is a name, a measured value, a threshold, a verdict and a remedy; gates are data.

A report carries its evidence: the checksums of what was read and written. The remedies, in English and Chinese, are in
`templates/remedies.yaml`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .. import __version__
from .errors import BadInput
from .files import package_yaml, sha256_file

Rule = Literal[">=", "<=", ">", "<", "=="]
_RULES: dict[Rule, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}

Remedy = tuple[str, str]
"""English, Chinese."""


@cache
def remedies(
    group: Literal["pool", "difficulty", "reward", "evaluation", "gates", "scoring", "release", "ambers"],
) -> dict[str, Remedy]:
    """Remedies of a group of checks, by the name of the check without its scope."""
    table = package_yaml("templates/remedies.yaml")[group]
    return {name: (texts["en"], texts["zh"]) for name, texts in table.items()}


class Check(Struct, frozen=True):
    """One measured value against its threshold. The name may carry a scope: `distinct2[gsm8k]`."""

    name: str
    value: float | None
    """None: it could not be measured, so the check has not passed."""
    rule: Rule
    threshold: float
    passed: bool
    remedy: str
    remedy_zh: str


def check(name: str, value: float | None, rule: Rule, threshold: float, remedy: str, remedy_zh: str) -> Check:
    measured = None if value is None or isnan(value) else value
    passed = measured is not None and _RULES[rule](measured, threshold)
    return Check(name, measured, rule, threshold, passed, remedy, remedy_zh)


NOT_FOR_SIGNING = "weaker_thresholds"
"""Name of the amber that cannot be signed off."""


def amber(name: str, value: float | None, rule: Rule, threshold: float, details: str = "") -> list[Check]:
    """The amber of that name if the value does not pass, else nothing. `details` are added to its text."""
    en, zh = remedies("ambers")[name]
    texts = (f"{en}: {details}", f"{zh}：{details}") if details else (en, zh)
    checked = check(name, value, rule, threshold, *texts)
    return [] if checked.passed else [checked]


@cache
def amber_label(name: str) -> Remedy:
    """A short description of an amber with its name, in English and Chinese.

    >>> amber_label("judge_weight")[0]
    "the judge's scores have no weight [judge_weight]"
    """
    title = package_yaml("templates/remedies.yaml")["ambers"].get(name, {}).get("title")
    return (f"{title[0]} [{name}]", f"{title[1]} [{name}]") if title else (name, name)


class Evidence(Struct, frozen=True):
    """Inputs and outputs of a stage with their checksums, its arguments, code version and times."""

    inputs: dict[str, str]
    outputs: dict[str, str]
    arguments: dict[str, Any]
    version: str
    started: str
    ended: str


class Report(Struct, frozen=True, omit_defaults=True):
    """The checks and figures of one stage, with their evidence."""

    stage: str
    passed: bool
    checks: list[Check]
    figures: dict[str, Any]
    evidence: Evidence
    ambers: list[Check] = msgspec.field(default_factory=list)
    """Facts that the owner must know though no check failed (`gates/ambers.py`)."""


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


def report(
    stage: str, checks: list[Check], figures: dict[str, Any], proof: Evidence, ambers: Sequence[Check] = ()
) -> Report:
    """A report passes if all its checks pass. Without a check nothing was measured, so it fails.

    Its verdict is red if it did not pass, amber if it passed with ambers, else green.
    """
    return Report(stage, bool(checks) and all(one.passed for one in checks), checks, figures, proof, list(ambers))


def require_share(value: float, flag: str) -> None:
    """Refuses a percentage where a share is meant: a limit of 30 would let everything pass, or nothing.

    >>> require_share(30, "--max-easy-pct")
    Traceback (most recent call last):
    src.core.errors.BadInput: --max-easy-pct: 30 is not a share from 0 to 1. What to do: write 0.30.
    """
    if not 0 <= value <= 1:
        remedy = f"write {value / 100:.2f}" if 1 < value <= 100 else "give a number between 0 and 1"
        raise BadInput(f"{value:g} is not a share from 0 to 1", where=flag, remedy=remedy)
