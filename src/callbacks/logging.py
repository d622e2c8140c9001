"""Logs of a run: metrics and episodes of every step, log lines, curves of trackers, a progress bar on a terminal."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..config.train_config import TrackerName
from ..core.api import Engine, StepResult
from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import write_records
from ..core.paths import step_file, token_file
from ..runtime.disk import explain_disk_errors
from ..runtime.logs import StepLog
from ..runtime.secrets import masker
from ..runtime.tensorboard import EventFile

log = logging.getLogger(__name__)
PROJECT = "askgate"
"""Project or experiment in which trackers list the runs, unless their own settings name another."""


class Logging:
    """Writes `logs/metrics.jsonl`, `logs/episodes/step_00042.jsonl` (with the tokens of some episodes beside it), and
    `step 42/100 ...` to `logs/train.log`.

    It comes before `Checkpoints`: when a step is saved, its log entries are already on disk. Entries after the step
    that a run resumes from are removed, since those steps are repeated.
    """

    def __init__(self, seed: int, steps: int, metrics: StepLog, episodes: Path) -> None:
        self.seed, self.steps, self.metrics, self.episodes = seed, steps, metrics, episodes

    def on_start(self, engine: Engine) -> None:
        self.metrics.cut(self.seed, engine.step)
        for file in self.episodes.glob("step_*.json*"):
            if int(file.name.partition(".")[0].removeprefix("step_")) > engine.step:
                file.unlink()

    def on_step(self, engine: Engine, result: StepResult) -> None:
        path = step_file(self.episodes, result.step)
        with explain_disk_errors(path), atomic_write(path) as file:
            write_records(file, result.episodes)
        if result.tokens:
            with explain_disk_errors(path), atomic_write(token_file(path)) as file:
                file.write(msgspec.json.encode(result.tokens))
        self.metrics.append(self.seed, result.step, result.metrics)
        shown = " ".join(f"{name} {value:.4f}" for name, value in headline(result).items())
        log.info("step %d/%d %s", result.step, self.steps, shown or "no update: the warm start has fewer batches")

    def on_end(self, engine: Engine) -> None:
        log.info("seed %d: %d steps done", self.seed, engine.step)


class Trackers:
    """Metrics as curves: TensorBoard (`tensorboard --logdir logs/tensorboard`), W&B, MLflow or trackio.

    The last three come from accelerate and read settings of their own (`WANDB_PROJECT`, `MLFLOW_TRACKING_URI`, ...).
    They get numbers only. A tracker that fails is left out from then on, with a warning: it never ends a run.
    """

    def __init__(self, names: Sequence[TrackerName], folder: Path, label: str) -> None:
        for name in names:
            if name != "tensorboard" and find_spec(name) is None:
                raise BadInput(f"{name} is not installed", where="trackers", remedy=f"pip install {name}")
        self.names, self.folder, self.label = names, folder, label
        self._events: EventFile | None = None
        self._others: dict[str, Any] = {}

    def on_start(self, engine: Engine) -> None:
        if "tensorboard" in self.names:
            self._events = EventFile(self.folder, str(engine.step), engine.step)
        for name in self.names:
            if name != "tensorboard":
                self._try(name, partial(self._start, name))

    def on_step(self, engine: Engine, result: StepResult) -> None:
        metrics = {f"train/{name}": value for name, value in result.metrics.items()}
        if self._events:
            self._events.add(result.step, metrics)
        for name, tracker in list(self._others.items()):
            self._try(name, partial(tracker.log, metrics, step=result.step))

    def on_end(self, engine: Engine) -> None:
        if self._events:
            self._events.close()
        for name, tracker in list(self._others.items()):
            self._try(name, tracker.finish)

    def _start(self, name: str) -> None:
        from accelerate import PartialState
        from accelerate.tracking import LOGGER_TYPE_TO_CLASS

        PartialState()  # accelerate's logger requires it; most engines have made it already
        project = os.environ.get("WANDB_PROJECT") or PROJECT
        named: dict[str, Any] = {"run_name": project, "name": self.label}  # accelerate calls the project run_name
        if name == "wandb":
            named["settings"] = {"console": "off"}  # it would copy the output of the run
        elif name == "mlflow":
            named = {"experiment_name": PROJECT, "run_name": self.label}
        tracker = LOGGER_TYPE_TO_CLASS[name](**named)
        tracker.start()
        self._others[name] = tracker

    def _try(self, name: str, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:
            self._others.pop(name, None)
            log.warning("tracker %s failed and is left out: %s", name, masker(os.environ)(f"{error}"[:300]))


class ProgressBar:
    """A bar on a terminal with step, reward, success, KL and the remaining time; nothing where output is a file."""

    def __init__(self, label: str, steps: int, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        metrics = TextColumn("{task.fields[metrics]}")
        # Two refreshes a second: more would take time from the training on two cores.
        self._bar = Progress(*columns, metrics, console=console, disable=not console.is_terminal, refresh_per_second=2)
        self._task = self._bar.add_task(label, total=steps, metrics="")

    def on_start(self, engine: Engine) -> None:
        self._bar.update(self._task, completed=engine.step)
        self._bar.start()

    def on_step(self, engine: Engine, result: StepResult) -> None:
        shown = " ".join(f"{name} {value:.3f}" for name, value in headline(result).items() if name != "loss")
        self._bar.update(self._task, completed=result.step, metrics=shown)

    def on_end(self, engine: Engine) -> None:
        self.stop()

    def stop(self) -> None:
        """Also called when the run fails: a running bar would overwrite the error message."""
        self._bar.stop()


def headline(result: StepResult) -> dict[str, float]:
    """The most important metrics of a step."""
    episodes = result.episodes
    metrics: dict[str, float] = {}
    if episodes:
        metrics["reward"] = fmean(sum(episode.reward.values()) for episode in episodes)
        metrics["success"] = fmean(episode.success for episode in episodes)
    return metrics | {name: result.metrics[name] for name in ("kl", "loss") if name in result.metrics}
