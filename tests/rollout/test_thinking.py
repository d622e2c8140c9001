"""Two budgets a turn: a thought that is cut off is closed, and the action after it has tokens of its own."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode, Sample
from src.agents.render import ChatRenderer, Exchange, TagRenderer, without_thought
from src.agents.trajectory import Job
from src.callbacks.reward_hacking_watch import Watch
from src.config.loader import load_train_config
from src.config.train_config import RolloutLimits
from src.core.api import StepResult, Stop
from src.core.files import HOME
from src.data.collate import demo_segments, demo_tokens
from src.engines.packed import hidden_before, pack, score_tokens
from src.rollout.scheduler import Dialogue
from src.runtime.logs import StepLog
from tests.agents.test_chat import DIALOGUES, messages, rendered, trl_template, with_template
from tests.callbacks.fake_engine import FakeEngine
from tests.rollout.test_cuda import assert_same
from tests.rollout.test_scheduler import TEMPERATURE, model, one_thread, renderer, roll_out

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


def test_the_action_has_its_own_budget_and_cuts_count(thinking: ChatRenderer, pool: list[Sample]) -> None:
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
        assert len(closed) == one.cut_thoughts
        assert all(one.policy[i - 3 : i].all() and one.policy[i + 1] for i in closed if i + 1 < len(one.policy))
    # A random model ends a turn inside its thought now and then.
    assert sum(one.cut_thoughts > 0 for one in made) >= len(made) - 2
    assert_same(made, roll_out(model, always, pool[:8], think_tokens=3, slots=2))


@pytest.mark.parametrize("template", ["qwen3", "qwen3_5_think", "llama3"])
@pytest.mark.parametrize(("prompt", "turns"), DIALOGUES)
def test_a_dialogue_without_its_thoughts_is_what_the_template_renders(
    template: str, prompt: str, turns: list[tuple[str, str, str]]
) -> None:
    tokenizer = with_template(trl_template(template))
    last_user = max(place for place, turn in enumerate(turns) if turn[1] == "user")
    exchanges = [Exchange(without_thought(said), by, reply) for said, by, reply in turns[: last_user + 1]]
    plain = messages(prompt, [tuple(one) for one in exchanges])
    assert ChatRenderer(tokenizer).history(prompt, None, exchanges) == rendered(tokenizer, plain)
    if template == "qwen3":  # this one drops them itself
        assert rendered(tokenizer, messages(prompt, turns[: last_user + 1])) == rendered(tokenizer, plain)


def think_and(one: Dialogue, action: str, thought: str = "this is a long thought that never seems to end ") -> None:
    """A turn whose thought is longer than its budget."""
    say(one, thought * 2)
    say(one, action)
    one.take(next(iter(one.renderer.stop_ids)), -1.0)


@pytest.mark.parametrize("thoughts", ["keep", "drop"])
def test_who_thinks_too_long_acts_in_every_turn(thinking: ChatRenderer, pool: list[Sample], thoughts: str) -> None:
    limits = LIMITS.model_copy(update={"thoughts": thoughts, "max_turns": 4})
    one = Dialogue(Job(pool[0]), 0, thinking, limits)
    opening = len(one.tokens)
    for action in ("<ask>Which one do you mean?</ask>", "<calc>6*7</calc>", "<ask>Is that all?</ask>", "<answer>42"):
        think_and(one, action)
    made = one.trajectory(None)
    assert [turn.act for turn in made.episode.turns if turn.by == "assistant"] == ["ask", "call", "ask", "answer"]
    assert (made.cut_thoughts, made.cut_turns, made.episode.end) == (4, 0, "answer")
    assert thinking.think is not None
    close = thinking.think.close_id
    if thoughts == "keep":
        assert [len(part.tokens) for part in made.segments()] == [len(made.tokens)]
        assert made.tokens.tolist().count(close) == 4
        return
    first, second, third = made.segments()
    assert first.tokens[:opening].tolist() == thinking.opening(one.env.opening(), one.env.system())
    assert not first.policy[:opening].any()
    assert first.policy[opening:].any()
    assert [part.tokens.tolist().count(close) for part in (first, second, third)] == [1, 2, 1]
    asked = thinking.history(one.env.opening(), one.env.system(), one.exchanges[:1])
    assert second.tokens[: len(asked)].tolist() == asked
    assert not second.policy[: len(asked)].any()
    assert sum(int(part.policy.sum()) for part in made.segments()) == int(made.policy.sum())


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_segments_have_the_logprobs_of_training(model, renderer: TagRenderer, pool: list[Sample], backend: str) -> None:
    always = copy(renderer)
    assert renderer.think is not None
    always.think = renderer.think._replace(is_open=True)
    samples = pool[:32]  # few of them get an ask
    made = roll_out(model, always, samples, think_tokens=3, max_turns=4, thoughts="drop", backend=backend)
    assert sum(len(one.segment_lengths) > 1 for one in made) > 1
    streams = pack(made, 500, torch.device("cpu"))
    with torch.no_grad():
        scored = [score_tokens(model, hidden_before(model, x), x.label_N, TEMPERATURE)[0] for x in streams]
    measured = torch.from_numpy(np.concatenate([one.logp[one.policy] for one in made]))
    torch.testing.assert_close(torch.cat(scored), measured, atol=1e-4, rtol=0)
    assert_same(made, roll_out(model, always, samples, think_tokens=3, max_turns=4, thoughts="drop", slots=2))


def test_demonstrations_are_cut_like_episodes(thinking: ChatRenderer, pool: list[Sample]) -> None:
    sample = next(one for one in pool if one.needs_clarification)
    whole, said = demo_tokens(sample, thinking, thoughts=True)
    parts = demo_segments(sample, thinking, thoughts=True, drop=True)
    assert len(parts) == 1 + sum(turn.by == "user" for turn in sample.dialogue[1:]) > 1
    spoken = [token for tokens, policy in parts for token, mine in zip(tokens, policy, strict=True) if mine]
    assert spoken == [token for token, mine in zip(whole, said, strict=True) if mine]
    assert parts[0][0] == whole[: len(parts[0][0])]
    assert thinking.think is not None
    last, policy = parts[-1]
    assert thinking.think.close_id not in last[: policy.index(True)]


@pytest.mark.parametrize("budget", [True, False])
def test_the_trial_does_not_stop_because_thoughts_are_long(
    thinking: ChatRenderer, pool: list[Sample], tmp_path: Path, budget: bool
) -> None:
    """Without the budget for thoughts every turn ends inside one: the run stops at step 5."""
    config = load_train_config(HOME / "configs/ppo_trial.yaml")
    limits = config.rollout_limits(("wiki", "calc"))
    assert limits.think_tokens == 1500
    limits = limits.model_copy(update={"think_tokens": 40 if budget else None, "max_new_tokens": 40})

    def play(sample: Sample) -> Episode:
        one = Dialogue(Job(sample), 0, thinking, limits)
        while not one.over:
            last = len(one.env.turns) > 2
            think_and(
                one, "So be it. <answer>42</answer>" if last else "<calc>6*7</calc>", "a thought without end " * 9
            )
        episode = one.trajectory(None).episode
        return replace(episode, reward=TrainingReward()(episode, sample))

    watch = Watch(1, config.watch, StepLog(tmp_path / "metrics.jsonl"))
    episodes = [play(sample) for sample in pool[:8]]

    def run() -> None:
        for step in range(1, 7):
            watch.on_step(FakeEngine(step=step), StepResult(step, {}, episodes))

    if budget:
        return run()
    with pytest.raises(Stop, match="malformed"):
        run()
