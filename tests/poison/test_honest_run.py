"""The finished honest run, which every gate of the rounds accepts."""

from __future__ import annotations

from pathlib import Path

from src.gates.gate import measure
from src.gates.rounds import FILE_GATES
from src.gates.ticket import TICKET, read_round
from tests.gates.run_folder import current_context

from .table import twin


@twin("weights", "calibration", "shadow", "penalty", "ablation", "config")
def test_the_honest_run_is_accepted(run: Path) -> None:
    gates = {name: gate for name, gate in FILE_GATES.items() if name not in ("pool", "difficulty")}
    assert [one.name for one in measure(gates, current_context()) if not one.passed] == []


@twin("pool", "difficulty", "disk", "fresh", "scoring", "judge", "round1")
def test_both_rounds_of_the_honest_run_have_passed(run: Path) -> None:
    report = read_round(TICKET)
    assert {one.gate for one in report.findings} >= {
        "pool",
        "difficulty",
        "disk",
        "fresh",
        "scoring",
        "judge",
        "round1",
    }
    assert all(one.verdict for one in report.findings)
