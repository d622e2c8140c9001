"""TensorBoard curves, written by this process alone.

`SummaryWriter` hands its records to a thread through a queue between processes: on a full disk the thread dies, and the
run hangs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from threading import get_ident
from typing import Any

from .disk import explain_disk_errors


class _WithoutTorch(MetaPathFinder):
    """Context manager that makes this thread, and no other, unable to import torch.

    tensorboardX imports it if it can, which takes seconds and serves images and graphs only.
    """

    def __enter__(self) -> None:
        self._thread = get_ident()
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "torch" and get_ident() == self._thread:
            raise ModuleNotFoundError("not needed for curves", name=name)


class EventFile:
    """A TensorBoard event file in `folder`. Every point is flushed at once."""

    def __init__(self, folder: Path, suffix: str, resumed_at: int = 0) -> None:
        """`resumed_at` hides points of an earlier file after that step, since those steps are taken again."""
        with _WithoutTorch():
            from tensorboardX.proto.event_pb2 import Event, SessionLog
            from tensorboardX.record_writer import RecordWriter

        self.folder = folder
        with explain_disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._writer: Any = RecordWriter(str(folder / f"events.out.tfevents.{time.time():.0f}.{suffix}"))
        self._add(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if resumed_at:
            self._add(Event(step=resumed_at + 1, session_log=SessionLog(status=SessionLog.START)))

    def add(self, step: int, metrics: Mapping[str, float]) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary
        from tensorboardX.summary import scalar

        points = [point for name, value in metrics.items() for point in scalar(name, value).value]
        self._add(Event(wall_time=time.time(), step=step, summary=Summary(value=points)))

    def close(self) -> None:
        self._writer.close()

    def _add(self, event: Any) -> None:
        with explain_disk_errors(self.folder):
            try:
                self._writer.write(event.SerializeToString())
                self._writer.flush()
            except OSError:
                # Closed here, or its buffer would raise the same error again, with a traceback, when the process ends.
                with suppress(OSError):
                    self._writer.close()
                raise
