"""A gate that no poison can fail is a defect, and so is one that no honest input passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.check import remedies
from src.gates.gate import GATES
from src.gates.ticket import TICKET, read_round

from .table import marked

HERE = Path(__file__).parent
AT_LEAST = 40
ELSEWHERE = {"trial", "stability", "amber"}
"""Gates of an evaluation, of the scale-up and of a release, not of a round."""


@pytest.fixture
def suite(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """All tests of this folder, where they were all collected."""
    items = [item for item in request.session.items if item.path.parent == HERE]
    if {item.path for item in items} != set(HERE.glob("test_*.py")):
        pytest.skip("only a part of the poisons was asked for")
    return items


def test_every_check_of_a_round_has_a_poison(suite: list[pytest.Item], run: Path) -> None:
    measured = {f"{one.gate}/{one.name.split('[')[0]}" for one in read_round(TICKET).findings}
    assert sorted(measured - marked(suite, "poison")) == []


def test_every_amber_has_a_poison(suite: list[pytest.Item]) -> None:
    assert {f"amber/{name}" for name in remedies("ambers")} == {
        one for one in marked(suite, "poison") if one.startswith("amber/")
    }


def test_every_poison_names_an_existing_gate(suite: list[pytest.Item]) -> None:
    gates = {one.partition("/")[0] for one in marked(suite, "poison")}
    assert gates - ELSEWHERE == set(GATES)


def test_every_gate_has_an_honest_twin(suite: list[pytest.Item]) -> None:
    assert marked(suite, "twin") - ELSEWHERE == set(GATES)


def test_there_are_enough_poisons(suite: list[pytest.Item]) -> None:
    assert sum(any(item.iter_markers("poison")) for item in suite) >= AT_LEAST
