"""An episode follows its sample: when a policy says the demonstration, every reply is that of the demonstration."""

from __future__ import annotations

import pytest

from askgate_env.actions import malformed, say
from askgate_env.env import Env
from askgate_env.types import Article, Episode, Hidden, Sample, Turn
from tests.data.samples import changed, make_sample

PAGE = Article("Lund", ("Lund is a city.",))
HIDDEN = Hidden("quantity", "Each crate holds 7.", "how many bottles a crate holds", ("bottles", "crate", "holds"))
COMPLETE = changed(make_sample("a", "What is 6 times 7?"), context=(PAGE,))
LACKING = make_sample("b", "How many bottles are in 6 crates?", hidden=HIDDEN)


def run_episode(sample: Sample, *texts: str, max_turns: int = 20) -> Episode:
    env = Env(sample, max_turns)
    for text in texts:
        env.step(text)
    return env.episode(seed=3, level="easy")


def replayed(sample: Sample) -> Episode:
    return run_episode(sample, *(say(turn) for turn in sample.dialogue if turn.by == "assistant"))


def holds(samples: list[Sample]) -> None:
    for sample in samples:
        episode = replayed(sample)
        assert episode.turns == sample.dialogue
        assert (episode.success, episode.end, episode.answer) == (True, "answer", sample.answer)
        assert (episode.asks > 0) == sample.needs_clarification == episode.need_ask_success


def test_a_replayed_demonstration_gets_the_same_replies_and_succeeds(pool: list[Sample]) -> None:
    assert {(sample.lang, sample.needs_clarification) for sample in pool} == {
        (lang, needs) for lang in ("en", "zh") for needs in (True, False)
    }
    holds(pool)


def test_demonstrations_of_official_files_succeed(official_pool: list[Sample]) -> None:
    assert any(sample.needs_clarification for sample in official_pool)
    holds(official_pool)


def test_each_action_gets_a_reply_from_its_addressee() -> None:
    env = Env(COMPLETE, 9)
    assert env.opening() == "What is 6 times 7?"
    assert env.step("<calc>6*7</calc>") == Turn("tool", "result", "42", tool="calc")
    assert env.step("<wiki>Lund</wiki>") == Turn("tool", "result", "Lund: Lund is a city.", tool="wiki")
    asked = env.step("<ask>Which crate?</ask>")
    assert asked is not None
    assert asked.by == "user"
    assert env.step("<answer>42</answer>") is None
    assert [turn.act for turn in env.turns] == ["say", "call", "result", "call", "result", "ask", "say", "answer"]


def test_a_turn_without_an_action_costs_a_turn() -> None:
    env = Env(COMPLETE, 2)
    assert env.step("42, I think") == Turn("tool", "result", malformed("en"))
    assert env.step("42, I am sure") is None
    episode = env.episode(seed=0)
    assert (episode.end, episode.answer, episode.success, episode.policy_turns) == ("turns", None, False, 2)
    assert episode.turns[1].text == "42, I think"


@pytest.mark.parametrize("text", ["<ask>Which?</ask>", "<calc>6*7</calc>", "no act"])
def test_at_the_last_turn_nothing_but_an_answer_counts(text: str) -> None:
    assert run_episode(COMPLETE, text, max_turns=1).end == "turns"
    assert run_episode(COMPLETE, "<answer>42</answer>", max_turns=1).success


def test_a_tool_that_is_not_offered_does_not_run() -> None:
    assert Env(COMPLETE, 9, ("wiki",)).step("<calc>6*7</calc>") == Turn("tool", "result", malformed("en", ("wiki",)))
    assert "<calc>" not in Env(COMPLETE, 9, ("wiki",)).system()


def test_a_lucky_guess_is_a_success_that_did_not_ask() -> None:
    episode = run_episode(LACKING, "<answer>42</answer>")
    assert episode.success
    assert episode.needs_clarification
    assert not episode.need_ask_success


def test_running_out_of_tokens_keeps_the_partial_turn() -> None:
    env = Env(COMPLETE, 9)
    env.finish("length", "let me see")
    episode = env.episode(seed=0)
    assert (episode.end, episode.success, episode.turns[-1].text) == ("length", False, "let me see")


def test_only_a_finished_episode_has_a_record() -> None:
    env = Env(COMPLETE, 9)
    with pytest.raises(RuntimeError, match="not over"):
        env.episode(seed=0)
    env.step("<answer>42</answer>")
    with pytest.raises(RuntimeError, match="is over"):
        env.step("<answer>43</answer>")
    with pytest.raises(RuntimeError, match="is over"):
        env.finish("length")


def test_the_record_carries_sample_seed_and_level() -> None:
    episode = run_episode(LACKING, "<answer>1</answer>")
    assert (episode.sample_id, episode.task, episode.lang, episode.seed, episode.level) == (
        "b",
        "gsm8k",
        "en",
        3,
        "easy",
    )


def test_a_vague_question_and_a_lucky_guess_do_not_count(pool: list[Sample]) -> None:
    sample = next(sample for sample in pool if sample.hidden is not None)
    env = Env(sample, max_turns=4)
    env.step("<ask>Could you clarify?" if sample.lang == "en" else "<ask>请说清楚？")
    env.step(f"<answer>{sample.answer}")
    episode = env.episode(seed=0)
    assert episode.success
    assert episode.asks == 1
    assert not episode.received_info
    assert not episode.need_ask_success
