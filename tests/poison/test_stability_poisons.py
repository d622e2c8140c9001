"""Live scores before the set may grow: honest scores pass, poisons do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from src.core.jsonl import read_records, write_records
from src.gates.checks.scoring import stability_checks, validate_scores
from src.loop.scale import red_gates
from src.scoring.scores import Score
from tests.gates.run_folder import FRESH, PROFILE, current_context

from .table import poison, twin

LEAST, MAX_UNSTABLE = 100, 0.5
Spoil = Callable[[list[Score]], list[Score]]


def honest() -> list[Score]:
    return [
        Score(f"s{number}", "k", "local", "m", True, overall=0.6, variance=0.01, votes=3, stable=number % 10 > 0)
        for number in range(LEAST)
    ]


@twin("stability")
def test_honest_scores_pass() -> None:
    assert all(one.passed for one in stability_checks(honest(), LEAST, MAX_UNSTABLE))


def _every(change: Callable[[Score], Score], of: int) -> Spoil:
    return lambda scores: [change(one) if number % of == 0 else one for number, one in enumerate(scores)]


@poison("stability/*")
@pytest.mark.parametrize(
    ("named", "spoil"),
    [
        ("scored", lambda scores: scores[1:]),
        ("unstable_share", _every(lambda one: replace(one, stable=False), of=1)),
        ("not_live", _every(lambda one: replace(one, live=False), of=50)),
        ("without_score", _every(lambda one: replace(one, overall=None, failure="refused"), of=50)),
        ("unstable_share", lambda scores: []),
    ],
)
def test_a_poison_is_caught_by_its_check(named: str, spoil: Spoil) -> None:
    failed = {one.name for one in stability_checks(spoil(honest()), LEAST, MAX_UNSTABLE) if not one.passed}
    assert named in failed


def failed_file() -> set[str]:
    made = validate_scores(
        current_context().fresh,
        least=FRESH,
        max_unstable=MAX_UNSTABLE,
        out=Path("reports/stability.json"),
        profile=PROFILE,
    )
    return {one.name for one in made.checks if not one.passed}


@poison("stability/not_in_ledger")
def test_scores_raised_in_their_file(run: Path) -> None:
    assert failed_file() == set()
    path = current_context().fresh
    lines = list(read_records(path, Score))
    with open(path, "wb") as handle:
        write_records(handle, [replace(lines[0], overall=1.0), *lines[1:]])
    assert failed_file() == {"not_in_ledger"}


@poison("stability/not_in_ledger")
def test_scores_without_a_ledger(run: Path) -> None:
    current_context().ledger.unlink()
    assert failed_file() == {"not_in_ledger"}


def test_growth_measures_the_gates_of_the_reward_again(run: Path) -> None:
    assert red_gates(current_context().profile) == []
    current_context().profile.paths.weights.write_bytes(
        Path("configs/weights.json").read_bytes().replace(b'"seed": 42', b'"seed": 7')
    )
    assert "settings_of_their_own" in {one.name for one in red_gates(current_context().profile)}
