"""Who is at work on what, across processes. A claim is a lock on a file: the system lets go of it the moment its
process is gone, however it went, so that nobody waits for the dead and nobody has to guess from clocks or numbers.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.05


class Claims:
    """Named claims in one folder. A second claim on a name fails also inside one process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[str, int] = {}

    def take(self, name: str) -> bool:
        path = self._folder / name
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _lock(file, fcntl.LOCK_EX):
                os.close(file)
                return False
            if _is_at(file, path):
                self._held[name] = file
                return True
            # Its last owner removed it after this process had opened it: that lock keeps nobody out.
            os.close(file)

    def drop(self, name: str) -> None:
        """Removed before it is unlocked, so that whoever waits for it makes a new one."""
        file = self._held.pop(name)
        (self._folder / name).unlink(missing_ok=True)
        os.close(file)

    def is_taken(self, name: str) -> bool:
        """Whether a living process, this one included, holds the name."""
        try:
            file = os.open(self._folder / name, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            return not _lock(file, fcntl.LOCK_SH)
        finally:
            os.close(file)

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Waits its turn. For short work at start, not for calls."""
        while not self.take(name):
            time.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self.drop(name)

    def sweep(self) -> None:
        """Removes what killed processes left behind."""
        for path in self._folder.iterdir():
            if path.name not in self._held and self.take(path.name):
                self.drop(path.name)

    def close(self) -> None:
        for name in list(self._held):
            self.drop(name)


def _lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
