"""Engines without a model, for the tests of callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askgate_env.types import Episode, Turn
from src.core.api import Callback, StepResult


def episode(number: int, asks: int = 0, success: bool = True, reward: dict[str, float] | None = None) -> Episode:
    asked = [Turn("assistant", "ask", "Which one?"), Turn("user", "say", "That one.")] * asks
    return Episode(
        sample_id=f"s{number}",
        task="gsm8k",
        lang="en",
        level="easy",
        needs_clarification=False,
        turns=(Turn("user", "say", "How many?"), *asked, Turn("assistant", "answer", "7")),
        end="answer",
        answer="7",
        success=success,
        seed=1,
        reward=reward or {},
    )


@dataclass
class EngineWithoutPolicy:
    """An engine whose metrics depend only on the step number. It has no policy to evaluate."""

    step: int = 0
    last: int = 4
    strategies: frozenset[str] = frozenset()

    def fit(self, callbacks: Sequence[Callback]) -> None:
        for callback in callbacks:
            callback.on_start(self)
        while self.step < self.last:
            self.step += 1
            batch = [episode(one, reward={"outcome": 1.0, "overclar": -0.07 * one}) for one in range(2)]
            result = StepResult(self.step, {"loss": self.step / 10, "kl": 0.01}, batch)
            for callback in callbacks:
                callback.on_step(self, result)
        for callback in callbacks:
            callback.on_end(self)

    def save(self, folder: Any) -> None: ...

    def load(self, folder: Any) -> None: ...

    def save_model(self, folder: Any) -> None: ...


@dataclass
class FakeEngine(EngineWithoutPolicy):
    policy: str = "the policy"
