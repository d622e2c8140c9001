"""The policy is looked at on held-out samples before the first step, every so often and after the last."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from src.callbacks.eval_shadow import EvalShadow
from src.core.api import Engine, StepResult
from src.core.jsonl import read_records
from src.core.paths import step_file
from src.core.types import Episode
from src.runtime.logs import StepLog

from .fake_engine import EngineWithoutPolicy, FakeEngine, episode


class Asked:
    """Stands for the policy's play: what it is shown, and ever fewer asks."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def __call__(self, policy: Any) -> list[Episode]:
        self.shown.append(policy)
        return [episode(number, asks=max(0, 3 - len(self.shown)), reward={"outcome": 0.5}) for number in range(4)]


def asks(episodes: Sequence[Episode]) -> dict[str, float]:
    return {"asks": sum(one.asks for one in episodes) / len(episodes)}


class Seen:
    def __init__(self) -> None:
        self.metrics: list[dict[str, float]] = []

    def on_start(self, engine: Engine) -> None: ...

    def on_step(self, engine: Engine, result: StepResult) -> None:
        self.metrics.append(dict(result.metrics))

    def on_end(self, engine: Engine) -> None: ...


def shadow(folder: Path, play: Asked, steps: int = 5) -> EvalShadow:
    return EvalShadow(1, steps, 2, play, asks, StepLog(folder / "eval.jsonl"), folder / "eval")


def looks(folder: Path) -> list[int]:
    return [json.loads(line)["step"] for line in (folder / "eval.jsonl").read_text().splitlines()]


def test_evaluates_before_during_and_after_training(tmp_path: Path) -> None:
    play, seen = Asked(), Seen()
    FakeEngine(last=5).fit([shadow(tmp_path, play), seen])
    assert looks(tmp_path) == [0, 2, 4, 5]
    assert set(play.shown) == {"the policy"}
    assert [line.get("eval/asks") for line in seen.metrics] == [None, 1.0, None, 0.0, 0.0]
    assert [line.get("eval/reward") for line in seen.metrics] == [None, 0.5, None, 0.5, 0.5]


def test_evaluation_episodes_can_be_read_again(tmp_path: Path) -> None:
    watching = shadow(tmp_path, Asked())
    FakeEngine(last=5).fit([watching])
    sides = [read_records(step_file(tmp_path / "eval", step), Episode) for step in (0, 5)]
    assert [sum(one.asks for one in side) for side in sides] == [8, 0]
    assert not watching.has_episodes(3)


def test_a_resumed_run_does_not_repeat_the_baseline_evaluation(tmp_path: Path) -> None:
    FakeEngine(last=5).fit([shadow(tmp_path, Asked())])
    play = Asked()
    FakeEngine(step=3, last=5).fit([shadow(tmp_path, play)])
    assert len(play.shown) == 2
    assert looks(tmp_path) == [0, 2, 4, 5]


def test_an_engine_without_a_policy_is_trained_but_not_evaluated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    with caplog.at_level(logging.WARNING):
        EngineWithoutPolicy(last=5).fit([shadow(tmp_path, Asked()), seen])
    assert "does not expose its policy" in caplog.text
    assert [sorted(line) for line in seen.metrics] == [["kl", "loss"]] * 5
