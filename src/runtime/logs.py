"""Logs of a run: `logs/train.log`, the metrics of each step as JSONL, and `reports/ERROR_<ts>.json` after a failure.

Text passes the secret masker before it is written.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from ..core.files import atomic_write, write_json
from .disk import explain_disk_errors
from .failpack import last_lines
from .secrets import masker

PACKAGE = __name__.split(".")[0]
STEP_LINES = "callbacks.logging"
"""Ending of the logger that writes a line for each step."""


class _MaskingFormatter(logging.Formatter):
    def __init__(self, layout: str, environment: Mapping[str, str]) -> None:
        super().__init__(layout)
        self._mask = masker(environment)

    def format(self, record: logging.LogRecord) -> str:
        return self._mask(super().format(record))


class _LogFile(logging.FileHandler):
    """A log file that drops lines silently on a full disk. Writers whose lines must not be lost raise an error."""

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        with suppress(OSError):
            super().close()


class ConsoleLog(logging.Handler):
    """The log on standard error; on a terminal without the lines of the steps, which the progress bar shows there."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        if not (self.console.is_terminal and record.levelno == logging.INFO and record.name.endswith(STEP_LINES)):
            self.console.print(self.format(record))


@contextmanager
def logging_to(path: Path, console: logging.Handler, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Inside the block the package's log is appended to the file and shown on the console."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _LogFile(path, encoding="utf-8", errors="replace")
    file.setFormatter(_MaskingFormatter("%(asctime)s %(levelname)s %(message)s", environment))
    console.setFormatter(_MaskingFormatter("%(message)s", environment))
    # Warnings of libraries are worth keeping; the rest of what they log is not.
    sources = [logging.getLogger(PACKAGE), logging.getLogger("py.warnings")]
    before = [source.level for source in sources]
    logging.captureWarnings(True)
    for source in sources:
        source.setLevel(logging.INFO)
        source.addHandler(file)
        source.addHandler(console)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        for source, level in zip(sources, before, strict=True):
            source.setLevel(level)
            source.removeHandler(file)
            source.removeHandler(console)
        file.close()


def write_error_report(
    error: BaseException, log: Path, folder: Path, facts: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Path:
    """Writes the trace, the last lines of the log and these facts, masked. Returns the path of the report."""
    mask = masker(environment)
    now = datetime.now(UTC)
    report = {
        "ts": now.isoformat(timespec="seconds"),
        "error": type(error).__qualname__,
        "message": mask(str(error)),
        "trace": [mask(line) for part in traceback.format_exception(error) for line in part.splitlines()],
        "log": last_lines(log, environment) if log.exists() else [],
        "command": [mask(word) for word in sys.argv],
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: mask(value) for name, value in facts.items()},
    }
    name, count = f"ERROR_{now:%Y%m%dT%H%M%SZ}", 1
    path = folder / f"{name}.json"
    while path.exists():  # two failures in one second are two reports
        path, count = folder / f"{name}_{count}.json", count + 1
    write_json(path, report)
    return path


class _StepKey(msgspec.Struct):
    seed: int
    step: int


class StepLog:
    """A JSONL file with one line per step. After a resume it has the content of an uninterrupted run.

    Every line has `seed` and `step`; the runs of several seeds share the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, seed: int, step: int, figures: Mapping[str, Any]) -> None:
        """Adds a line and syncs it, so that it is on disk before a checkpoint of this step."""
        line = msgspec.json.encode({"seed": seed, "step": step, **figures}) + b"\n"
        with explain_disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

    def cut(self, seed: int, step: int) -> None:
        """Removes this seed's lines after that step, and a line that is incomplete after a kill."""
        if not self.path.exists():
            return
        lines = self.path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if _is_kept(line, seed, step)]
        if kept != lines:
            with explain_disk_errors(self.path), atomic_write(self.path) as file:
                file.writelines(kept)

    def lines(self, seed: int) -> list[dict[str, Any]]:
        """All lines of this seed."""
        if not self.path.exists():
            return []
        lines = [msgspec.json.decode(line) for line in self.path.read_bytes().splitlines()]
        return [line for line in lines if line["seed"] == seed]


def _is_kept(line: bytes, seed: int, step: int) -> bool:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        at = msgspec.json.decode(line, type=_StepKey)
        return line.endswith(b"\n") and (at.seed != seed or at.step <= step)
    return False
