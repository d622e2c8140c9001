"""The watch stops planted reward hacks and names the metric; it does not stop an honest base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode, Sample
from src.callbacks.checkpoint import Deferred, DeferredStop
from src.callbacks.logging import Logging
from src.callbacks.reward_hacking_watch import Watch
from src.config.train_config import WatchSection
from src.core.api import Callback, StepResult, Stop
from src.core.files import HOME
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.runtime.logs import StepLog
from tests.data.samples import MIX
from tests.reward.dialogues import by, demonstration_episode

from .fake_engine import FakeEngine

BATCH, STEPS = 16, 8
Policy = Callable[[Sample], str]
HACKS: dict[str, tuple[Policy, str]] = {
    "always asks": (lambda sample: "<ask>Could you tell me more about that?</ask>", "ask_spam"),
    "asks what the demonstration would": (lambda sample: "<ask>Which year do you mean?</ask>", "ask_spam"),
    "emits only the answer tag": (lambda sample: "<answer>", "malformed"),
    "answers at once": (lambda sample: "<answer>yes</answer>", "bare_answer"),
    "repeats the question as its answer": (lambda sample: f"Well, <answer>{sample.prompt}</answer>", "echo"),
    "repeats the question as an ask": (lambda sample: f"<ask>{sample.prompt}</ask>", "ask_spam"),
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    pool = tmp_path_factory.mktemp("watch") / "pool.jsonl"
    build_pool(BuildPlan(n=BATCH * STEPS, mix=MIX, seed=9, langs=(), templates_dir=Path("templates/pack_v2")), pool)
    return list(read_records(pool, Sample))


def paid(samples: Sequence[Sample], episodes: Sequence[Episode]) -> list[Episode]:
    reward = TrainingReward()
    return [replace(one, reward=reward(one, sample)) for one, sample in zip(episodes, samples, strict=True)]


def batches(episodes: list[Episode]) -> list[list[Episode]]:
    return [episodes[at : at + BATCH] for at in range(0, len(episodes), BATCH)]


def run(folder: Path, steps: Sequence[list[Episode]], start: int = 0) -> Watch:
    """Runs the steps from `start` on, watched and logged as in a real run."""
    log = StepLog(folder / "metrics.jsonl")
    watch = Watch(1, WatchSection(), log)
    engine = FakeEngine(step=start)
    stop = DeferredStop()
    callbacks: list[Callback] = [Deferred(watch, stop), Logging(1, STEPS, log, folder / "episodes"), stop]
    for callback in callbacks:
        callback.on_start(engine)
    for episodes in steps[start:]:
        engine.step += 1
        result = StepResult(engine.step, {}, episodes)
        for callback in callbacks:
            callback.on_step(engine, result)
    return watch


@pytest.mark.parametrize("name", HACKS)
def test_a_planted_hack_stops_the_run_and_names_the_metric(tmp_path: Path, samples: list[Sample], name: str) -> None:
    policy, figure = HACKS[name]
    with pytest.raises(Stop, match=rf"{figure} is [01]\.\d\d over 5 steps, above"):
        run(tmp_path, batches(paid(samples, by(policy, samples))))


def test_the_step_that_stops_a_run_is_logged(tmp_path: Path, samples: list[Sample]) -> None:
    policy, _ = HACKS["always asks"]
    with pytest.raises(Stop, match=r"complete samples with an ask.*; 1\.00 in the first step\).*--set watch\.NAME"):
        run(tmp_path, batches(paid(samples, by(policy, samples))))
    lines = StepLog(tmp_path / "metrics.jsonl").lines(1)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    assert all(line["watch/ask_spam"] == 1 for line in lines)


def test_a_gradual_hack_is_caught_across_a_resume(tmp_path: Path, samples: list[Sample]) -> None:
    honest = batches(paid(samples, [demonstration_episode(sample) for sample in samples]))
    hacked = batches(paid(samples, by(HACKS["answers at once"][0], samples)))
    steps = [*honest[:3], *hacked]
    with pytest.raises(Stop, match=r"step 6\)"):
        run(tmp_path / "whole", steps)
    run(tmp_path / "broken", steps[:4])
    with pytest.raises(Stop, match=r"step 6\)"):
        run(tmp_path / "broken", steps, start=4)


def test_a_spike_in_the_spread_of_rewards_stops_the_run(tmp_path: Path, samples: list[Sample]) -> None:
    rng = Random(1)
    steps = batches(
        [replace(demonstration_episode(sample), reward={"outcome": rng.uniform(0.4, 0.6)}) for sample in samples]
    )
    run(tmp_path / "calm", steps)
    steps[6] = [replace(one, reward={"outcome": 9.0 * (place % 2)}) for place, one in enumerate(steps[6])]
    with pytest.raises(Stop, match=r"the rewards spread by 4\.50, more than watch\.spike = 3 times the usual"):
        run(tmp_path / "wild", steps)


def test_a_weak_policys_first_right_answers_are_no_spike(tmp_path: Path, samples: list[Sample]) -> None:
    steps = batches([replace(demonstration_episode(sample), reward={"outcome": 0.0}) for sample in samples])
    some, many = (
        [replace(one, reward={"outcome": float(place % apart == 0)}) for place, one in enumerate(steps[6])]
        for apart in (len(steps[6]), 2)
    )
    assert run(tmp_path / "some", [*steps[:6], some]).breach == ""
    with pytest.raises(Stop, match="the rewards spread by 0"):
        run(tmp_path / "many", [*steps[:6], many])


@pytest.mark.parametrize(
    ("batch_size", "right", "is_spike"), [(16, 3, False), (16, 5, True), (100, 10, False), (100, 12, True)]
)
def test_how_many_first_right_answers_are_a_spike(
    tmp_path: Path, samples: list[Sample], batch_size: int, right: int, is_spike: bool
) -> None:
    wrong = replace(demonstration_episode(samples[0]), reward={"outcome": 0.0})
    batch = [replace(wrong, reward={"outcome": float(place < right)}) for place in range(batch_size)]
    with pytest.raises(Stop, match="the rewards spread") if is_spike else nullcontext():
        run(tmp_path, [*[[wrong] * batch_size] * 5, batch])


def test_turns_that_were_cut_off_are_not_malformed(tmp_path: Path, samples: list[Sample]) -> None:
    episodes = paid(samples, by(lambda sample: "I think about", samples))
    result = StepResult(1, {"cut_turn_share": 0.75}, episodes)
    Watch(1, WatchSection(), StepLog(tmp_path / "metrics.jsonl")).on_step(FakeEngine(step=1), result)
    assert result.metrics["watch/malformed"] == 0.25


def test_demonstrations_are_not_flagged(tmp_path: Path, samples: list[Sample]) -> None:
    watch = run(tmp_path, batches(paid(samples, [demonstration_episode(sample) for sample in samples])))
    assert watch.breach == ""


def test_the_honest_base_is_not_flagged(tmp_path: Path, samples: list[Sample]) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from src.agents.render import TagRenderer
    from src.config.train_config import RolloutLimits
    from src.reward.recorded_episodes import RecordPlan, record

    torch.set_num_threads(1)
    tiny = HOME / "models/tiny"
    policy = AutoModelForCausalLM.from_pretrained(tiny, dtype=torch.float32)
    renderer = TagRenderer(AutoTokenizer.from_pretrained(tiny))
    recorded = record(
        policy,
        renderer,
        samples,
        RecordPlan(2, RolloutLimits(max_turns=6, max_new_tokens=64, max_tokens=640)),
        "tiny",
        torch.device("cpu"),
    )
    watch = run(tmp_path, batches(paid(samples, [one.episode for one in recorded])))
    assert watch.breach == ""
