"""Only the policy's messages of a stored episode are trusted; everything else must follow from the sample."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from askgate_env.env import matches_replay
from askgate_env.types import Episode, Sample, Turn
from tests.data.build_samples import built, small_plan
from tests.gates.scripted_policy import MAX_TURNS, act, ask_first

SAMPLES = built(small_plan(60))


def episodes() -> list[tuple[Episode, Sample]]:
    random = Random(4)
    return [
        (actor(sample, random), sample)
        for sample in SAMPLES
        for actor in (act, lambda one, rnd: ask_first(one, rnd, 0.5))
    ]


def test_a_real_episode_matches_its_replay() -> None:
    made = episodes()
    assert all(matches_replay(episode, sample) for episode, sample in made)
    assert {episode.success for episode, _ in made} == {True, False}
    assert any(episode.received_info for episode, _ in made)


@pytest.mark.parametrize(
    "field",
    ["success", "received_info", "needs_clarification"],
)
def test_changed_facts_are_detected(field: str) -> None:
    for episode, sample in episodes():
        turned = replace(episode, **{field: not getattr(episode, field)})
        assert not matches_replay(turned, sample)


def test_changed_replies_are_detected() -> None:
    for episode, sample in episodes():
        for place, turn in enumerate(episode.turns):
            if turn.by != "assistant":
                turns = list(episode.turns)
                turns[place] = replace(turn, text=f"{turn.text}!")
                assert not matches_replay(replace(episode, turns=tuple(turns)), sample)


def test_a_changed_answer_is_detected() -> None:
    for episode, sample in episodes():
        assert not matches_replay(replace(episode, answer=f"{episode.answer}?"), sample)


def test_removed_or_inserted_questions_are_detected() -> None:
    for episode, sample in episodes():
        cut = [turn for turn in episode.turns if turn.act != "ask"]
        if len(cut) < len(episode.turns):
            assert not matches_replay(replace(episode, turns=tuple(cut)), sample)
        more = (episode.turns[0], Turn("assistant", "ask", "Which one?"), *episode.turns[1:])
        assert not matches_replay(replace(episode, turns=more), sample)


def test_an_episode_of_another_sample_is_detected() -> None:
    for (episode, _), (_, other) in zip(episodes()[:-2], episodes()[2:], strict=True):
        if episode.sample_id != other.id:
            assert not matches_replay(episode, other)


def test_an_answer_recorded_as_a_plain_turn_is_detected() -> None:
    for episode, sample in episodes():
        said = episode.turns[-1]
        if said.act == "answer":
            silent = (*episode.turns[:-1], replace(said, act="say", text=f"<answer>{said.text}</answer>"))
            assert not matches_replay(replace(episode, turns=silent, end="turns", answer=None, success=False), sample)


def test_a_dialogue_broken_off_before_its_last_turn_is_detected() -> None:
    for episode, sample in episodes():
        if len(episode.turns) > 3:
            facts = {"answer": None, "success": False, "received_info": False}
            short = replace(episode, turns=episode.turns[:2], end="turns", **facts)
            assert not matches_replay(short, sample, max_turns=MAX_TURNS)
            assert matches_replay(episode, sample, max_turns=MAX_TURNS)
            assert not matches_replay(episode, sample, max_turns=1)


def test_an_empty_episode_does_not_match() -> None:
    episode, sample = episodes()[0]
    assert not matches_replay(replace(episode, turns=()), sample)
