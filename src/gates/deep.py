"""The gates derived again from the evidence, and compared with what the rounds wrote down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

from ..config.profile import load_profile
from ..core.errors import BadInput
from .finding import Finding
from .look import Look, look_at
from .measure import STORED, measured, of_round_again
from .report import Round
from .scoring import first_lines

_NOW_ONLY = {"disk", "round1"}
"""Gates of the moment: what the disk had free then is not in any file."""
_ENVIRONMENT = {"run_mode_is_prod", "live_mode_is_on", "simulate"}


def derive_again(rounds: list[Round], tell: Callable[[str], None]) -> None:
    with TemporaryDirectory() as folder:
        stored: dict[str, list[Finding]] = {}
        for report in rounds:
            number = 1 if report.round == "round1" else 2
            profile = load_profile(report.profile)
            look = look_at(profile, number)
            ledger = first_lines(look.ledger, report.ledger.lines, Path(folder) / f"ledger{number}.jsonl")
            look = replace(look, ledger=ledger, work=Path(folder))
            if report.profile not in stored:
                stored[report.profile] = measured(STORED, look)
            _compare(report, [*stored[report.profile], *_of_round(report, look)])
            tell(f"{report.round}: derived again from the evidence, every value as it was written")


def _of_round(report: Round, look: Look) -> list[Finding]:
    gates = of_round_again(report.environment.get("SCORER_PROVIDER", ""))
    if report.fresh_seed is None:
        del gates["fresh"]
    return measured(gates, look)


def _compare(report: Round, again: list[Finding]) -> None:
    wanted = {(one.gate, one.name): one for one in report.findings if not _of_the_moment(one)}
    if report.fresh_seed is None:
        wanted = {key: one for key, one in wanted.items() if key[0] != "fresh"}
    for one in again:
        stated = wanted.pop((one.gate, one.name), None)
        if stated is None or not _same(stated, one):
            said = "nothing" if stated is None else f"{stated.value} {stated.rule} {stated.threshold}"
            raise BadInput(
                f"{one.gate}: {one.name} says {said}, and the evidence gives {one.value} {one.rule} {one.threshold}",
                where=report.round,
                remedy="the report was not measured on this evidence; run both rounds again",
            )
    if wanted:
        gate, name = next(iter(wanted))
        raise BadInput(
            f"{gate}: {name} is in the report, and the evidence gives no such check",
            where=report.round,
            remedy="the report was not measured on this evidence; run both rounds again",
        )


def _of_the_moment(one: Finding) -> bool:
    return one.gate in _NOW_ONLY or (one.gate == "scoring" and one.name.split("[")[0] in _ENVIRONMENT)


def _same(one: Finding, other: Finding) -> bool:
    if (one.rule, one.threshold, one.passed) != (other.rule, other.threshold, other.passed):
        return False
    if one.value is None or other.value is None:
        return one.value == other.value
    return isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-9)
