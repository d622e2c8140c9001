"""`logs/train.log`: everything that the package says while it trains, each line with its time, and no secret in it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from .secrets import redact, secrets_in

PACKAGE = __name__.split(".")[0]


class _Redacted(logging.Formatter):
    def __init__(self, layout: str, environment: Mapping[str, str]) -> None:
        super().__init__(layout)
        self._secrets = secrets_in(environment)

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), self._secrets)


class _File(logging.FileHandler):
    """On a full disk its lines get lost without a trace on the screen. Whose lines must not, says so and stops."""

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def logged(path: Path, console: logging.Handler, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Inside the block the package's log goes to the file, at its end, and to the console."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _File(path, encoding="utf-8", errors="replace")
    file.setFormatter(_Redacted("%(asctime)s %(levelname)s %(message)s", environment))
    console.setFormatter(_Redacted("%(message)s", environment))
    # Warnings of libraries are worth keeping; their chatter is not.
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
