"""What is left of a run that failed: `reports/ERROR_<ts>.json`, enough to see what happened without the machine."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from ..core.files import write_json
from .secrets import redact, secrets_in

LOG_LINES = 200


def write_error_report(
    error: BaseException, log: Path, folder: Path, facts: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Path:
    """The trace, the last lines of the log and what else is known, without secrets. Returns where it lies."""
    secrets = secrets_in(environment)

    def clean(text: str) -> str:
        return redact(text, secrets)

    now = datetime.now(UTC)
    report = {
        "ts": now.isoformat(timespec="seconds"),
        "error": type(error).__qualname__,
        "message": clean(str(error)),
        "trace": [clean(line) for part in traceback.format_exception(error) for line in part.splitlines()],
        "log": [clean(line) for line in _tail(log)],
        "command": [clean(word) for word in sys.argv],
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: clean(value) for name, value in facts.items()},
    }
    path = _free(folder, f"ERROR_{now:%Y%m%dT%H%M%SZ}")
    write_json(path, report)
    return path


def _free(folder: Path, name: str) -> Path:
    """Two failures in one second are two reports."""
    path, count = folder / f"{name}.json", 1
    while path.exists():
        path, count = folder / f"{name}_{count}.json", count + 1
    return path


def _tail(log: Path) -> list[str]:
    if not log.exists():
        return []
    with open(log, encoding="utf-8", errors="replace") as lines:
        return [line.rstrip("\n") for line in deque(lines, LOG_LINES)]
