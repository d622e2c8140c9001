"""Figures of a policy match their definitions, counted by hand."""

from __future__ import annotations

from math import sqrt
from random import Random

import msgspec
import pytest

from askgate_env.types import LEVELS, TASKS, Episode
from src.eval.metrics import HARD_READING, NAMES, Figure, figures, flat, wilson
from tests.eval.episodes import episode


def values(*episodes: Episode) -> dict[str, float]:
    return flat(figures(episodes))


def test_success_counts_right_answers_lucky_or_not() -> None:
    found = values(episode(success=True), episode(success=False), episode(needs=True, asks=0, success=True))
    assert found["success"] == pytest.approx(2 / 3)


def test_need_ask_success_excludes_lucky_guesses() -> None:
    found = values(
        episode(needs=True, asks=1, success=True),
        episode(needs=True, asks=0, success=True),
        episode(needs=True, asks=2, success=False),
        episode(needs=True, asks=0, success=False),
        episode(needs=False, asks=1, success=True),
    )
    assert found["need_ask_success"] == 0.25
    assert found["lucky_guess_rate"] == 0.25


def test_over_clarification_is_the_share_of_complete_samples_asked() -> None:
    found = values(
        episode(needs=False, asks=5),
        episode(needs=False, asks=0),
        episode(needs=False, asks=0),
        episode(needs=False, asks=1),
        episode(needs=True, asks=1),
    )
    assert found["overclar_rate"] == 0.5


def test_ask_precision_and_recall() -> None:
    found = values(
        *[episode(needs=True, asks=1)] * 3, *[episode(needs=True, asks=0)] * 1, *[episode(needs=False, asks=2)] * 2
    )
    assert found["ask_precision"] == 3 / 5
    assert found["ask_recall"] == 3 / 4


def test_ask_figures_by_question_count_every_ask() -> None:
    found = values(
        *[episode(needs=True, asks=1)] * 2,
        episode(needs=True, asks=3),
        episode(needs=True, asks=1, received_info=False),
        episode(needs=False, asks=2),
    )
    precision, recall = 3 / 8, 3 / 4
    assert found["question_precision"] == precision
    assert found["question_recall"] == recall
    assert found["question_f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_turns_are_those_of_the_policy() -> None:
    assert values(episode(asks=1, calls=2), episode(asks=0, calls=0))["avg_turns"] == 2.5
    assert values(episode(asks=1, calls=2, level="hard"), episode(level="easy", calls=0))["avg_turns_hard"] == 4


def test_every_task_and_level_has_its_own_figures() -> None:
    made = [episode(task=task, level=level, success=level != "hard") for task in TASKS for level in LEVELS]
    found = values(*made, episode(task="gsm8k", level=None, success=False))
    assert (found["success_easy"], found["success_medium"], found["success_hard"]) == (1, 1, 0)
    assert found["success_hotpotqa"] == pytest.approx(2 / 3)
    assert found["success_gsm8k"] == 0.5, "one without a level belongs to its task"
    assert figures(made)["success_hard"].n == 3
    assert figures(made)[f"success_{HARD_READING}"].n == 2


def test_figures_without_episodes_are_not_measured() -> None:
    assert values() == {}
    assert set(figures([])) == set(NAMES)
    found = figures([episode(needs=False, asks=0)])
    assert found["need_ask_success"].value is None
    assert found["ask_precision"].value is None
    assert found["overclar_rate"].value == 0.0


def test_wilson_intervals_have_95_percent_coverage() -> None:
    """In 400 draws of 30 episodes with a true share of 0.2, Wilson's interval contains it in about 95%."""
    rng = Random(3)
    held = 0
    for _ in range(400):
        share = sum(rng.random() < 0.2 for _ in range(30)) / 30
        low, high = wilson(share, 30)
        held += low <= 0.2 <= high
    assert 0.92 <= held / 400 <= 0.985


def test_the_interval_of_mean_turns_is_the_normal_one() -> None:
    found = figures([episode(f"s{calls}", calls=calls) for calls in (0, 1, 2, 3, 4)])["avg_turns"]
    assert found.value == 3
    assert found.low is not None
    assert found.high is not None
    assert found.high - 3 == pytest.approx(3 - found.low) == pytest.approx(1.96 * sqrt(2.5) / sqrt(5), rel=1e-3)
    assert figures([episode()])["avg_turns"].low is None


def test_copies_of_episodes_do_not_narrow_the_interval() -> None:
    """Three seeds of a greedy base are three copies of the same episodes."""
    once = [episode(f"s{number}", calls=number % 5, success=number % 3 == 0) for number in range(60)]
    alone, thrice = figures(once), figures(once * 3)
    for name in ("success", "avg_turns", "success_hotpotqa", "ask_recall"):
        assert thrice[name].value == alone[name].value
        assert thrice[name].low == pytest.approx(alone[name].low)
        assert thrice[name].high == pytest.approx(alone[name].high)
    assert thrice["success"].n == 180
    sure = figures([episode(f"s{number}") for number in range(60)] * 3)["success"]
    assert (sure.low, sure.high) == wilson(1.0, 60)


def test_independent_seeds_narrow_the_interval() -> None:
    rng = Random(5)
    seeds = [[episode(f"s{number}", success=rng.random() < 0.5) for number in range(400)] for _ in range(3)]
    one, all_three = (figures(some)["success"] for some in (seeds[0], [each for seed in seeds for each in seed]))
    assert _width(all_three) == pytest.approx(_width(one) / sqrt(3), rel=0.1)


def test_intervals_over_seeds_have_95_percent_coverage() -> None:
    """300 draws of 60 easy and hard samples with 3 seeds each: about 95% of the intervals contain the truth."""
    rng = Random(4)
    held = 0
    for _ in range(300):
        chances = [rng.choice((0.05, 0.95)) for _ in range(60)]
        made = [episode(f"s{at}", success=rng.random() < chance) for at, chance in enumerate(chances) for _ in range(3)]
        found = figures(made)["success"]
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.5 <= found.high
    assert 0.91 <= held / 300 <= 0.99


def _width(found: Figure) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_figures_are_json() -> None:
    assert b'"success":{"value":1.0' in msgspec.json.encode(figures([episode()]))
