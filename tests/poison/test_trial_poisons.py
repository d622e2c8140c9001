"""The gates on the trained policy: each rejects a policy that misses only its threshold."""

from __future__ import annotations

import pytest

from askgate_env.types import LEVELS, TASKS, Episode
from src.core.check import Check
from src.eval.compare import compare, trial_checks
from tests.eval.episodes import episode
from tests.rc1 import THRESHOLDS

from .table import poison, twin

N = 540
"""180 of each task, 60 of each task and level, a third of them lack something."""


def run(
    *, asked: float = 1.0, needless: float = 0.0, right: float = 0.5, hard_right: float = 0.5, calls: int = 2
) -> list[Episode]:
    """Episodes of a policy with exactly these shares, spread over the samples of their kind."""
    made = []
    for number in range(N):
        task, level, needs = TASKS[number % 3], LEVELS[number // 3 % 3], number // 9 % 3 == 0
        turn = number // 27 / (N / 27)
        wanted = hard_right if level == "hard" and task != "gsm8k" else right
        made.append(
            episode(
                f"s{number}",
                task=task,
                level=level,
                needs=needs,
                asks=int(turn < (asked if needs else needless)),
                calls=calls,
                success=turn < wanted,
            )
        )
    return made


BASE = run(asked=0.25, needless=0.4, right=0.5, hard_right=0.4, calls=3)
GOOD = {"asked": 0.8, "needless": 0.2, "right": 0.6, "hard_right": 0.5}


def failed(checks: list[Check]) -> set[str]:
    return {one.name for one in checks if not one.passed}


def judged(base: list[Episode], trained: list[Episode]) -> list[Check]:
    return trial_checks(compare(base, trained, seed=7), THRESHOLDS)


@twin("trial")
def test_an_honest_gain_is_accepted() -> None:
    assert failed(judged(BASE, run(**GOOD))) == set()


@pytest.mark.parametrize(
    ("habit", "named"),
    [
        ({"asked": 0.25}, "need_ask_success_pp"),
        ({"needless": 0.35}, "overclar_relative"),
        ({"calls": 3}, "avg_turns_change"),
        ({"hard_right": 0.4}, "success_hard_pp"),
    ],
)
@poison("trial/*")
def test_each_missed_threshold_is_named(habit: dict[str, float], named: str) -> None:
    assert failed(judged(BASE, run(**{**GOOD, **habit}))) == {named}  # type: ignore[arg-type]


@poison("trial/overclar_change_pct")
def test_a_policy_that_always_asks_is_rejected() -> None:
    assert "overclar_relative" in failed(judged(BASE, run(**{**GOOD, "asked": 1.0, "needless": 1.0})))


def test_a_policy_that_never_asks_and_guesses_well_is_rejected() -> None:
    """Half of its guesses are right; none of them is a success on a sample that needs an ask."""
    assert "need_ask_success_pp" in failed(judged(BASE, run(**{**GOOD, "asked": 0.0, "needless": 0.0})))


def test_easier_samples_do_not_pass_for_hard_ones() -> None:
    """Success on hard gsm8k rises; the gate measures hard samples of hotpotqa and strategyqa."""
    lucky = [
        episode(
            one.sample_id,
            task=one.task,
            level=one.level,
            needs=one.needs_clarification,
            asks=one.asks,
            success=one.success or (one.task == "gsm8k" and one.level == "hard"),
        )
        for one in run(**{**GOOD, "hard_right": 0.4})
    ]
    changes = compare(BASE, lucky, seed=7)
    assert changes["success_hard"].delta_pp is not None
    assert changes["success_hard"].delta_pp > 5
    assert failed(trial_checks(changes, THRESHOLDS)) == {"success_hard_pp"}


def test_checks_without_held_out_samples_fail_with_fitting_advice() -> None:
    complete = [episode(f"s{at}", task="detect", level="easy", needs=False, success=True) for at in range(20)]
    by_name = {one.name: one for one in judged(complete, complete)}
    assert not by_name["success_hard_pp"].passed
    assert "never hard" in by_name["success_hard_pp"].remedy
    assert "mark such rows of your own data with `hidden`" in by_name["need_ask_success_pp"].remedy


class TestAlmostNoNeedlessAsks:
    """A base with under 2% needless asks cannot fall by a fifth; the trained policy must stay under 2%."""

    base = run(asked=0.25, needless=0.0, right=0.5, hard_right=0.4, calls=3)

    def test_staying_there_is_accepted(self) -> None:
        checks = judged(self.base, run(**{**GOOD, "needless": 0.0}))
        assert failed(checks) == set()
        assert "overclar_rate" in {one.name for one in checks}

    def test_rising_is_rejected(self) -> None:
        checks = judged(self.base, run(**{**GOOD, "needless": 0.1}))
        assert failed(checks) == {"overclar_rate"}


@pytest.mark.parametrize("place", range(4))
def test_every_remedy_comes_in_both_languages(place: int) -> None:
    made = judged(BASE, BASE)[place]
    assert made.remedy
    assert any("\u4e00" <= letter <= "\u9fff" for letter in made.remedy_zh)
