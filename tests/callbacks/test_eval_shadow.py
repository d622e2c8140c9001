"""The policy is evaluated on held-out samples before the first step, at intervals, and after the last."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import Episode, Task
from src.callbacks.eval_shadow import EvalShadow
from src.core.api import Engine, StepResult
from src.core.jsonl import read_records
from src.core.paths import step_file
from src.runtime.logs import StepLog

from .fake_engine import EngineWithoutPolicy, FakeEngine, episode


class RecordingRollout:
    """A rollout that records the policies it gets and returns episodes with fewer asks each time."""

    def __init__(self) -> None:
        self.policies: list[Any] = []

    def __call__(self, policy: Any) -> list[Episode]:
        self.policies.append(policy)
        return [episode(number, asks=max(0, 3 - len(self.policies)), reward={"outcome": 0.5}) for number in range(4)]


def asks(episodes: Sequence[Episode]) -> dict[str, float]:
    return {"asks": sum(one.asks for one in episodes) / len(episodes)}


class MetricsRecorder:
    def __init__(self) -> None:
        self.metrics: list[dict[str, float]] = []

    def on_start(self, engine: Engine) -> None: ...

    def on_step(self, engine: Engine, result: StepResult) -> None:
        self.metrics.append(dict(result.metrics))

    def on_end(self, engine: Engine) -> None: ...


def shadow(folder: Path, rollout: RecordingRollout, steps: int = 5) -> EvalShadow:
    return EvalShadow(1, steps, 2, rollout, asks, StepLog(folder / "eval.jsonl"), folder / "eval")


def evaluated_steps(folder: Path) -> list[int]:
    return [json.loads(line)["step"] for line in (folder / "eval.jsonl").read_text().splitlines()]


def test_evaluates_before_during_and_after_training(tmp_path: Path) -> None:
    rollout, recorder = RecordingRollout(), MetricsRecorder()
    FakeEngine(last=5).fit([shadow(tmp_path, rollout), recorder])
    assert evaluated_steps(tmp_path) == [0, 2, 4, 5]
    assert set(rollout.policies) == {"the policy"}
    assert [line.get("eval/asks") for line in recorder.metrics] == [None, 1.0, None, 0.0, 0.0]
    assert [line.get("eval/reward") for line in recorder.metrics] == [None, 0.5, None, 0.5, 0.5]


def test_evaluation_episodes_can_be_read_again(tmp_path: Path) -> None:
    watching = shadow(tmp_path, RecordingRollout())
    FakeEngine(last=5).fit([watching])
    sides = [read_records(step_file(tmp_path / "eval", step), Episode) for step in (0, 5)]
    assert [sum(one.asks for one in side) for side in sides] == [8, 0]
    assert not watching.has_episodes(3)


def test_a_resumed_run_does_not_repeat_the_baseline_evaluation(tmp_path: Path) -> None:
    FakeEngine(last=5).fit([shadow(tmp_path, RecordingRollout())])
    rollout = RecordingRollout()
    FakeEngine(step=3, last=5).fit([shadow(tmp_path, rollout)])
    assert len(rollout.policies) == 2
    assert evaluated_steps(tmp_path) == [0, 2, 4, 5]


def test_an_engine_without_a_policy_is_trained_but_not_evaluated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = MetricsRecorder()
    with caplog.at_level(logging.WARNING):
        EngineWithoutPolicy(last=5).fit([shadow(tmp_path, RecordingRollout()), recorder])
    assert "does not expose its policy" in caplog.text
    assert [sorted(line) for line in recorder.metrics] == [["kl", "loss"]] * 5


@pytest.mark.parametrize(
    ("success", "task", "is_said"), [(0, "gsm8k", True), (1, "gsm8k", False), (0, "detect", False)]
)
def test_a_base_that_solves_nothing_is_said_once(
    success: bool, task: Task, is_said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def rollout(policy: Any) -> list[Episode]:
        return [replace(episode(number), success=bool(success), task=task) for number in range(4)]

    with caplog.at_level(logging.WARNING):
        FakeEngine(last=2).fit([EvalShadow(1, 2, 1, rollout, asks, StepLog(tmp_path / "e.jsonl"), tmp_path / "eval")])
    assert caplog.text.count("the base solves 0 of 4 held-out samples; RL has nothing to learn from") == is_said
