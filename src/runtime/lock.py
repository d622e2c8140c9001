"""File locks between processes. The system releases a lock the moment its process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.disk import make_path
from ..core.errors import BadInput
from .disk import RUN_AGAIN, explain_disk_errors

POLL_SECONDS = 0.05
TRIES = 5
"""Attempts to lock a folder: `is_locked` of another process holds the lock for a moment."""


def lock_folder(folder: Path) -> int:
    """Locks a folder for one run and returns the open lock file. Closing it, or the end of the process, unlocks."""
    with explain_disk_errors(folder):
        make_path(folder)
        file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            for attempt in range(TRIES):
                if _try_lock(file):
                    return file
                time.sleep(POLL_SECONDS if attempt + 1 < TRIES else 0)
        except OSError:
            os.close(file)
            raise
    os.close(file)
    raise BadInput("another run is writing here", where=str(folder), remedy="wait until it has ended, or end it")


def is_locked(folder: Path) -> bool:
    """Whether a run holds the lock of a folder."""
    return is_held(folder / ".lock")


@contextmanager
def write_lock(path: Path, create: bool = True) -> Iterator[None]:
    """Waits for and holds the lock beside a file, so that no other process writes it inside the block.

    Without `create`, a file that has no lock beside it, such as a copy, is not locked: no process writes it.
    """
    beside = path.with_name(path.name + ".lock")
    if not create and not beside.exists():
        yield
        return
    file = os.open(beside, os.O_CREAT if create else os.O_RDONLY, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@contextmanager
def wait_for_lock(path: Path, on_wait: Callable[[], None], poll_s: float) -> Iterator[int]:
    """Holds a lock file and yields its open descriptor; child processes that inherit it hold the lock too.

    `on_wait` is called once if another process holds the lock.
    """
    with explain_disk_errors(path, RUN_AGAIN):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _try_lock(file):
            on_wait()
            while not _try_lock(file):
                time.sleep(poll_s)
        yield file
    finally:
        os.close(file)


class NamedLocks:
    """Locks by name in one folder. A second lock on a name fails, also inside one process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[str, int] = {}

    def acquire(self, name: str) -> bool:
        """Locks the name. Returns False if it is held already."""
        path = self._folder / name
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _try_lock(file):
                os.close(file)
                return False
            if _is_at(file, path):
                self._held[name] = file
                return True
            # Its last owner removed the file after this process had opened it: other processes do not see this lock.
            os.close(file)

    def release(self, name: str) -> None:
        """Removes the lock file before unlocking it, so that a waiting process makes a new one."""
        file = self._held.pop(name)
        (self._folder / name).unlink(missing_ok=True)
        os.close(file)

    def is_held(self, name: str) -> bool:
        """Whether a living process, this one included, holds the name."""
        return is_held(self._folder / name)

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Waits for the name and holds it inside the block. Polls, so only for short work at the start."""
        while not self.acquire(name):
            time.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self.release(name)

    def sweep(self) -> None:
        """Removes lock files of processes that were killed."""
        for path in self._folder.iterdir():
            if path.name not in self._held and self.acquire(path.name):
                self.release(path.name)

    def close(self) -> None:
        for name in list(self._held):
            self.release(name)


def is_held(path: Path) -> bool:
    """Whether a living process holds this lock file."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _try_lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
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
