"""The same figures as curves: `tensorboard --logdir logs/tensorboard`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.api import Engine, StepResult


class TensorBoard:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_start(self, engine: Engine) -> None:
        from tensorboardX import SummaryWriter

        # Points after the step that a run resumes from are hidden, since they happen again.
        self._writer = SummaryWriter(str(self.folder), purge_step=engine.step + 1 if engine.step else None)

    def on_step(self, engine: Engine, result: StepResult) -> None:
        self.add(result.step, {f"train/{name}": value for name, value in result.metrics.items()})
        terms = {term for episode in result.episodes for term in episode.reward}
        for term in sorted(terms):
            values = [episode.reward.get(term, 0.0) for episode in result.episodes]
            self.add(result.step, {f"reward/{term}": sum(values) / len(values)})

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)

    def on_end(self, engine: Engine) -> None:
        self._writer.close()
