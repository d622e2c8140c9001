"""The noisy user is terse, evasive or changes its mind, and is right in the end."""

from __future__ import annotations

import pytest

from askgate_env.env import Env, matches_replay
from askgate_env.types import Sample, Turn
from askgate_env.user_simulator import REPLIES, informs, reply
from askgate_env.users import NoisyUser, rules

ASK = "Could you tell me {missing}?"


def lacking(pool: list[Sample]) -> list[tuple[Sample, str]]:
    return [(sample, ASK.format(missing=sample.hidden.missing)) for sample in pool if sample.hidden]


def test_the_rules_are_the_user_simulator(pool: list[Sample]) -> None:
    for sample, ask in lacking(pool):
        assert rules(sample, ask, ()) == reply(sample, ask)


def test_the_noisy_user_has_three_moods(pool: list[Sample]) -> None:
    user = NoisyUser(1)
    said = [(sample, user(sample, ask, ())) for sample, ask in lacking(pool)]
    evasive = [text for sample, text in said if text == REPLIES["evasive"][sample.lang]]
    terse = [text for sample, text in said if sample.hidden and text == sample.hidden.span]
    changed = [text for sample, text in said if text not in (*evasive, *terse)]
    assert min(len(evasive), len(terse), len(changed)) > len(said) / 5
    assert all(sample.hidden.span in text for sample, text in said if sample.hidden and text not in evasive)
    assert not any(map(informs, evasive))


def test_an_evasive_user_answers_when_asked_again(pool: list[Sample]) -> None:
    user = NoisyUser(1)
    for sample, ask in lacking(pool):
        first = user(sample, ask, ())
        if first == REPLIES["evasive"][sample.lang]:
            again = user(sample, ask, (Turn("assistant", "ask", ask), Turn("user", "say", first)))
            assert informs(again)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_noisy_episode_can_be_replayed(pool: list[Sample], seed: int) -> None:
    user = NoisyUser(seed)
    for sample, ask in lacking(pool)[:40]:
        env = Env(sample, 5, user=user)
        for text in (f"<ask>{ask}</ask>", f"<ask>{ask}</ask>", f"<answer>{sample.answer}</answer>"):
            env.step(text)
        episode = env.episode(seed)
        assert episode.received_info
        assert matches_replay(episode, sample, user=NoisyUser(seed))


def test_refusals_of_the_noisy_user_are_those_of_the_rules(pool: list[Sample]) -> None:
    ask = {"en": "What is the colour of the roof?", "zh": "屋顶刷的啥漆？"}
    for sample in pool[:200]:
        assert NoisyUser(3)(sample, ask[sample.lang], ()) == REPLIES["refusal"][sample.lang]
