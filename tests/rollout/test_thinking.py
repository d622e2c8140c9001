"""Two budgets a turn: a thought that is cut off is closed, and the action after it has tokens of its own."""

from __future__ import annotations

from copy import copy

import pytest

from askgate_env.types import Sample
from src.agents.render import ChatRenderer, TagRenderer
from src.agents.trajectory import Job
from src.config.train_config import RolloutLimits
from src.rollout.scheduler import Dialogue
from tests.agents.test_chat import trl_template, with_template
from tests.rollout.test_cuda import assert_same
from tests.rollout.test_scheduler import model, one_thread, renderer, roll_out

__all__ = ["model", "one_thread", "renderer"]
LIMITS = RolloutLimits(max_turns=3, max_new_tokens=60, think_tokens=6, max_tokens=4000)


@pytest.fixture(scope="module")
def thinking() -> ChatRenderer:
    """A template that opens every turn inside `<think>`, as Qwen3-Thinking does."""
    return ChatRenderer(with_template(trl_template("qwen3_5_think")))


def say(one: Dialogue, text: str, most: int = 1000) -> int:
    """Lets the policy say a text. Returns how many of its tokens were taken before something else was added."""
    taken = 0
    for token in one.renderer.tokenizer.encode(text, add_special_tokens=False)[:most]:  # type: ignore[attr-defined]
        length = len(one.tokens)
        one.take(token, -1.0)
        taken += 1
        if one.over or len(one.tokens) != length + 1:
            break
    return taken


def test_a_long_thought_is_closed_and_the_action_follows(thinking: ChatRenderer, pool: list[Sample]) -> None:
    one = Dialogue(Job(pool[0]), 0, thinking, LIMITS)
    start = len(one.tokens)
    assert say(one, "this is a long thought that never seems to end <answer>7</answer>") == 6
    assert thinking.think is not None
    forced = thinking.think.forced_close
    assert one.tokens[start + 6 :] == forced
    assert one.policy[start:] == [True] * 6 + [False] * len(forced)
    assert one.logp[start + 6 :] == [0.0] * len(forced)
    say(one, "<answer>42</answer>")
    one.take(next(iter(thinking.stop_ids)), -1.0)
    episode = one.env.episode(0)
    assert (episode.end, episode.answer, episode.turns[-1].act) == ("answer", "42", "answer")
    assert (one.cut_thoughts, one.cut_turns) == (1, 0)


def test_a_short_thought_is_left_alone(thinking: ChatRenderer, pool: list[Sample]) -> None:
    one = Dialogue(Job(pool[0]), 0, thinking, LIMITS)
    start = len(one.tokens)
    say(one, "no</think>\n\n<answer>42</answer>")
    one.take(next(iter(thinking.stop_ids)), -1.0)
    assert one.env.answer == "42"
    assert all(one.policy[start:])
    assert (one.cut_thoughts, one.cut_turns) == (0, 0)


def test_the_action_has_its_own_budget_and_a_cut_one_is_counted(thinking: ChatRenderer, pool: list[Sample]) -> None:
    one = Dialogue(Job(pool[0]), 0, thinking, LIMITS)
    say(one, "a thought that takes all of its six tokens")
    turn = one.turn_start
    assert say(one, "words without any action " * 40) == LIMITS.max_new_tokens
    assert one.turn_start > turn
    assert one.thinking
    assert (one.cut_thoughts, one.cut_turns) == (1, 1)


def test_without_the_setting_thought_and_action_share_one_budget(thinking: ChatRenderer, pool: list[Sample]) -> None:
    limits = LIMITS.model_copy(update={"think_tokens": None})
    one = Dialogue(Job(pool[0]), 0, thinking, limits)
    assert say(one, "a thought that goes on and on " * 40) == limits.max_new_tokens
    assert (one.cut_thoughts, one.cut_turns) == (0, 1)


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_a_model_that_thinks_too_long_acts_in_every_turn(
    model, renderer: TagRenderer, pool: list[Sample], backend: str
) -> None:
    always = copy(renderer)
    assert renderer.think is not None
    always.think = renderer.think._replace(is_open=True)
    made = roll_out(model, always, pool[:8], think_tokens=3, backend=backend)
    for one in made:
        closed = [i for i, token in enumerate(one.tokens) if token == renderer.think.close_id and not one.policy[i]]
        assert len(closed) == one.cut_thoughts > 0
        assert all(one.policy[i - 3 : i].all() and one.policy[i + 1] for i in closed if i + 1 < len(one.policy))
    assert_same(made, roll_out(model, always, pool[:8], think_tokens=3, slots=2))
