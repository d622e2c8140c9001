"""The ablation gates: each rejects a penalty that misses only its threshold, and accepts one that meets it."""

from __future__ import annotations

from typing import Any

import pytest

from askgate_env.types import Episode
from src.core.check import Check
from src.eval.compare import ablation_checks, compare
from tests.eval.episodes import episode
from tests.rc1 import THRESHOLDS

from .table import poison, twin

N = 200


def policy(*, needless: float = 0.4, right: float = 0.6, calls: int = 2, asked: float = 0.8) -> list[Episode]:
    """Episodes of a policy with exactly these shares. A quarter of the samples lack information."""
    made = []
    for number in range(N):
        needs, place = number % 4 == 0, number // 4 / (N / 4)
        asks = int(place < (asked if needs else needless))
        made.append(episode(f"s{number}", needs=needs, asks=asks, calls=calls, success=place < right))
    return made


def failed(with_penalty: list[Episode]) -> set[str]:
    checks = ablation_checks(compare(policy(), with_penalty, seed=7), THRESHOLDS)
    return {one.name for one in checks if not one.passed}


@twin("ablation")
def test_a_penalty_that_does_what_it_should_is_accepted() -> None:
    assert failed(policy(needless=0.2)) == set()


@pytest.mark.parametrize(
    ("habit", "named"),
    [
        ({"needless": 0.36}, "overclar_change_pct"),
        ({"needless": 0.2, "calls": 3}, "turns_change"),
        ({"needless": 0.2, "right": 0.58}, "success_drop_points"),
    ],
)
@poison("ablation/*")
def test_each_missed_threshold_is_named(habit: dict[str, Any], named: str) -> None:
    assert failed(policy(**habit)) == {named}


@poison("ablation/overclar_change_pct")
def test_a_penalty_that_does_nothing_is_rejected() -> None:
    assert failed(policy()) == {"overclar_change_pct"}


@pytest.mark.parametrize("place", range(3))
def test_every_remedy_comes_in_both_languages(place: int) -> None:
    made: Check = ablation_checks(compare(policy(), policy(), 1), THRESHOLDS)[place]
    assert made.remedy
    assert any("\u4e00" <= letter <= "\u9fff" for letter in made.remedy_zh)
