"""A bar on a terminal: step, reward, success, KL and the time that is left. Elsewhere the log's lines are enough."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..core.api import Engine, StepResult
from .logging import headline


class Bar:
    def __init__(self, label: str, steps: int, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        figures = TextColumn("{task.fields[figures]}")
        # Two looks a second: on two cores a livelier bar would be paid for by the training.
        self._bar = Progress(*columns, figures, console=console, disable=not console.is_terminal, refresh_per_second=2)
        self._task = self._bar.add_task(label, total=steps, figures="")

    def on_start(self, engine: Engine) -> None:
        self._bar.update(self._task, completed=engine.step)
        self._bar.start()

    def on_step(self, engine: Engine, result: StepResult) -> None:
        shown = " ".join(f"{name} {value:.3f}" for name, value in headline(result).items() if name != "loss")
        self._bar.update(self._task, completed=result.step, figures=shown)

    def on_end(self, engine: Engine) -> None:
        self.stop()

    def stop(self) -> None:
        """Also when the run fails: a bar that goes on would write over the message."""
        self._bar.stop()
