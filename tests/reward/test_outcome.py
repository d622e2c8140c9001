"""The reward pays for success and for asking only when needed, and its terms sum to it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode
from tests.data.samples import make_sample
from tests.eval.episodes import episode

SAMPLE = make_sample("s1", "How many?")


def terms(reward: TrainingReward, made: Episode) -> dict[str, float]:
    return reward(made, SAMPLE)


def test_only_a_right_answer_earns_the_weight() -> None:
    assert terms(TrainingReward(), episode(success=True)) == {"outcome": 1.0, "overclar": 0.0}
    assert terms(TrainingReward(), episode(success=False)) == {"outcome": 0.0, "overclar": 0.0}
    assert terms(TrainingReward(outcome=2.0), episode(success=True))["outcome"] == 2.0


def test_success_without_a_needed_ask_earns_nothing() -> None:
    assert terms(TrainingReward(), episode(needs=True, asks=1, success=True))["outcome"] == 1.0
    assert terms(TrainingReward(), episode(needs=True, asks=0, success=True))["outcome"] == 0.0, "a lucky guess"
    assert terms(TrainingReward(), episode(needs=True, asks=2, success=False))["outcome"] == 0.0


def test_without_gold_answers_the_outcome_is_asking_where_needed() -> None:
    def outcome(answer: str | None = "an answer", **facts: Any) -> float:
        made = msgspec.structs.replace(episode(success=False, **facts), task="detect", answer=answer)
        return terms(TrainingReward(), made)["outcome"]

    assert outcome(needs=True, asks=1) == outcome(needs=False, asks=0) == 1.0
    assert outcome(needs=True, asks=0) == outcome(needs=False, asks=1) == 0.0
    assert outcome(needs=True, asks=1, received_info=False) == 0.0, "the ask was about something else"
    assert outcome(needs=False, asks=0, answer=None) == 0.0, "the turns ran out"


@pytest.mark.parametrize(("asks", "penalty"), [(1, 0.07), (2, 0.14), (5, 0.21)])
def test_needless_asks_cost(asks: int, penalty: float) -> None:
    made = terms(TrainingReward(), episode(needs=False, asks=asks, success=True))
    assert made == {"outcome": 1.0, "overclar": pytest.approx(-penalty)}
    assert terms(TrainingReward(), episode(needs=True, asks=asks, success=True))["overclar"] == 0.0


def test_information_obtained_earns_its_term_whatever_the_answer() -> None:
    reward = TrainingReward(info=0.5)
    assert terms(reward, episode(needs=True, asks=1, success=False))["info"] == 0.5
    assert terms(reward, episode(needs=True, asks=3, success=False))["info"] == 0.5, "once an episode"
    assert terms(reward, episode(needs=True, asks=1, received_info=False))["info"] == 0.0
    assert terms(reward, episode(needs=False, asks=1))["info"] == 0.0


def test_asks_earn_in_their_own_turn() -> None:
    reward = TrainingReward(info=0.5, cap=2)
    assert reward.by_turn(episode(needs=True, asks=2, calls=1)) == [0.5, 0.0, 0.0, 0.0]
    assert reward.by_turn(episode(needs=False, asks=3, calls=0)) == [-0.07, -0.07, 0.0, 0.0]
    assert reward.by_turn(episode(needs=True, asks=1, received_info=False)) == [0.0, 0.0, 0.0]


def test_without_the_penalty_the_term_is_absent() -> None:
    assert terms(TrainingReward(alpha=0.0), episode(asks=3, success=True)) == {"outcome": 1.0}


@pytest.mark.parametrize(("level", "factor"), [("hard", 1.1), ("medium", 1.0), ("easy", 0.9), (None, 1.0)])
def test_difficulty_scales_the_whole_base(level: Any, factor: float) -> None:
    made = terms(TrainingReward(beta=0.1), episode(level=level, asks=1, success=True))
    assert sum(made.values()) == pytest.approx(0.93 * factor)
    assert made["outcome"] + made["overclar"] == pytest.approx(0.93)


def test_needed_asks_beat_guesses_and_needless_asks_cost() -> None:
    """The order of behaviours that training should find."""
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
