"""The reward pays for what came out, for asking only where it had to, and its terms sum to it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from src.core.types import Episode
from src.reward.reward import TrainingReward
from tests.data.samples import make_sample
from tests.eval.episodes import episode

SAMPLE = make_sample("s1", "How many?")


def terms(reward: TrainingReward, made: Episode) -> dict[str, float]:
    return reward(made, SAMPLE)


def test_a_right_answer_earns_the_weight_and_a_wrong_one_nothing() -> None:
    assert terms(TrainingReward(), episode(success=True)) == {"outcome": 1.0, "overclar": 0.0}
    assert terms(TrainingReward(), episode(success=False)) == {"outcome": 0.0, "overclar": 0.0}
    assert terms(TrainingReward(weight=2.0), episode(success=True))["outcome"] == 2.0


def test_where_something_is_missing_it_must_have_asked() -> None:
    assert terms(TrainingReward(), episode(needs=True, asks=1, success=True))["outcome"] == 1.0
    assert terms(TrainingReward(), episode(needs=True, asks=0, success=True))["outcome"] == 0.0, "a lucky guess"
    assert terms(TrainingReward(), episode(needs=True, asks=2, success=False))["outcome"] == 0.0


@pytest.mark.parametrize(("asks", "penalty"), [(1, 0.07), (2, 0.14), (5, 0.21)])
def test_needless_asks_cost(asks: int, penalty: float) -> None:
    made = terms(TrainingReward(), episode(needs=False, asks=asks, success=True))
    assert made == {"outcome": 1.0, "overclar": pytest.approx(-penalty)}
    assert terms(TrainingReward(), episode(needs=True, asks=asks, success=True))["overclar"] == 0.0


def test_without_the_penalty_there_is_no_such_term() -> None:
    assert terms(TrainingReward(alpha=0.0), episode(asks=3, success=True)) == {"outcome": 1.0}


@pytest.mark.parametrize(("level", "factor"), [("hard", 1.1), ("medium", 1.0), ("easy", 0.9), (None, 1.0)])
def test_difficulty_scales_the_whole_base(level: Any, factor: float) -> None:
    made = terms(TrainingReward(beta=0.1), episode(level=level, asks=1, success=True))
    assert sum(made.values()) == pytest.approx(0.93 * factor)
    assert made["outcome"] + made["overclar"] == pytest.approx(0.93)


def test_asking_first_beats_guessing_and_not_asking_beats_asking_needlessly() -> None:
    """The order of worth that training is to find."""
    reward = TrainingReward(beta=0.05)

    def worth(**facts: Any) -> float:
        return sum(terms(reward, episode(**facts)).values())

    assert worth(needs=True, asks=1, success=True) > worth(needs=True, asks=0, success=True)
    assert worth(needs=False, asks=0, success=True) > worth(needs=False, asks=1, success=True)
    assert worth(needs=False, asks=5, success=True) > worth(needs=False, asks=0, success=False)


def test_an_episode_can_carry_its_terms() -> None:
    made = episode(asks=2, success=True)
    told = msgspec.structs.replace(made, reward=terms(TrainingReward(), made))
    assert msgspec.json.decode(msgspec.json.encode(told), type=Episode) == told
