"""The finished honest run: the twin that every gate of the rounds accepts."""

from __future__ import annotations

from pathlib import Path

from src.gates.measure import STORED, measured
from src.gates.report import TICKET, read_round
from tests.gates.run_folder import look

from .table import twin


@twin("weights", "calibration", "shadow", "penalty", "ablation", "config")
def test_the_honest_run_is_accepted(run: Path) -> None:
    gates = {name: gate for name, gate in STORED.items() if name not in ("pool", "difficulty")}
    assert [one.name for one in measured(gates, look()) if not one.passed] == []


@twin("pool", "difficulty", "disk", "fresh", "scoring", "round1")
def test_both_rounds_of_the_honest_run_have_passed(run: Path) -> None:
    report = read_round(TICKET)
    assert {one.gate for one in report.findings} >= {"pool", "difficulty", "disk", "fresh", "scoring", "round1"}
    assert all(one.holds for one in report.findings)
