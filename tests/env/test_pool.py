"""The built-in pool, and the environment as tools for TRL. Both need nothing but askgate-env."""

from __future__ import annotations

from pathlib import Path

import pytest

from askgate_env.actions import say
from askgate_env.adapters.trl_tools import AskGateTools, rows
from askgate_env.env import play
from askgate_env.pool import DEMO_POOL, load_pool
from askgate_env.reward import TrainingReward, achieved
from askgate_env.types import LANGS, TASKS, Sample

SAMPLES = load_pool()


def demonstration(sample: Sample) -> list[str]:
    return [say(turn) for turn in sample.dialogue if turn.by == "assistant"]


def test_the_built_in_pool_has_every_task_in_both_languages() -> None:
    kinds = {(sample.task, sample.lang, sample.needs_clarification) for sample in SAMPLES}
    assert kinds == {(task, lang, needs) for task in TASKS for lang in LANGS for needs in (True, False)}


def test_every_demonstration_of_the_built_in_pool_is_right() -> None:
    for sample in SAMPLES:
        assert sum(TrainingReward()(play(sample, demonstration(sample)), sample).values()) == 1, sample.id


def test_turns_that_do_not_end_an_episode_earn_nothing() -> None:
    sample = next(sample for sample in SAMPLES if not sample.needs_clarification)
    episode = play(sample, ["<ask>Could you tell me more?</ask>"])
    assert episode.end == "length"
    assert not achieved(episode)


def test_a_line_that_is_no_sample_is_named(tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    pool.write_bytes(DEMO_POOL.read_bytes().splitlines(keepends=True)[0] + b'{"id": "a"}\n')
    with pytest.raises(ValueError, match=r"pool\.jsonl:2: not a sample \(.*task"):
        load_pool(pool)


def test_tool_calls_earn_what_the_same_turns_earn() -> None:
    """The demonstration, and the answer without the ask that was needed."""
    asked = 0
    for sample, row in zip(SAMPLES, rows(), strict=True):
        turns = [turn for turn in sample.dialogue if turn.by == "assistant"]
        for chosen in (turns, [turn for turn in turns if turn.act != "ask"]):
            tools = AskGateTools()
            tools.reset(**row)
            for turn in chosen:
                getattr(tools, turn.tool or turn.act)(turn.text)
            expected = TrainingReward()(play(sample, [say(turn) for turn in chosen]), sample)
            assert tools.get_reward() == sum(expected.values())
        asked += len(chosen) < len(turns)
    assert asked


def test_tools_after_the_end_change_nothing() -> None:
    tools = AskGateTools()
    tools.reset(**rows()[0])
    assert tools.answer("nobody knows") == tools.answer(SAMPLES[0].answer) == "The conversation is over."
    assert tools.get_reward() == 0
