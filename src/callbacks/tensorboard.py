"""Metrics as TensorBoard curves: `tensorboard --logdir logs/tensorboard`."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.api import Engine, StepResult
from ..runtime.disk import explain_disk_errors


class TensorBoard:
    """Writes its records itself: on a full disk the thread of `SummaryWriter` dies, and the run hangs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def on_start(self, engine: Engine) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog
        from tensorboardX.record_writer import RecordWriter

        with explain_disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._writer = RecordWriter(str(self.folder / f"events.out.tfevents.{time.time():.0f}.{engine.step}"))
        self._add(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if engine.step:
            # Hides points after the step that a run resumes from, since those steps are taken again.
            self._add(Event(step=engine.step + 1, session_log=SessionLog(status=SessionLog.START)))

    def on_step(self, engine: Engine, result: StepResult) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary
        from tensorboardX.summary import scalar

        metrics = {f"train/{name}": value for name, value in result.metrics.items()}
        for term in sorted({term for episode in result.episodes for term in episode.reward}):
            values = [episode.reward.get(term, 0.0) for episode in result.episodes]
            metrics[f"reward/{term}"] = sum(values) / len(values)
        points = [point for name, value in metrics.items() for point in scalar(name, value).value]
        self._add(Event(wall_time=time.time(), step=result.step, summary=Summary(value=points)))

    def on_end(self, engine: Engine) -> None:
        self._writer.close()

    def _add(self, event: Any) -> None:
        """Writes an event to disk at once."""
        with explain_disk_errors(self.folder):
            try:
                self._writer.write(event.SerializeToString())
                self._writer.flush()
            except OSError:
                # Closed here, or its buffer would raise the same error again, with a traceback, when the process ends.
                with suppress(OSError):
                    self._writer.close()
                raise
