"""Cuts the power, fills the disk, breaks the disk: at any step of a process that reaches the disk, counted from 1."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
from collections.abc import Callable
from typing import Literal, NoReturn

from src.runtime.disk import Disk, disk

Kind = Literal["kill before", "kill amid", "kill after", "power cut", "disk full", "disk broken"]
KILLS: tuple[Kind, ...] = ("kill before", "kill amid", "kill after", "power cut")
ERRORS: tuple[Kind, ...] = ("disk full", "disk broken")


def install(kind: Kind, at: int) -> None:
    """From here on this process has such a disk. A full or broken disk stays so; a killed process needs no more."""
    faulty = _Faulty(kind, at)
    disk.write_at, disk.truncate = faulty.write_at, faulty.truncate  # type: ignore[method-assign]
    disk.sync_file, disk.commit = faulty.sync_file, faulty.commit  # type: ignore[method-assign]


class _Faulty:
    def __init__(self, kind: Kind, at: int) -> None:
        self.kind, self.at, self.steps = kind, at, 0
        self.real = Disk()
        self.unsynced: list[tuple[int, int, bytes, int]] = []
        """For each step since the last sync of its file: file, place, bytes that were there, size that it had."""

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        def half() -> None:
            self.real.write_at(file, data[: len(data) // 2], offset)

        self._remember(file, offset, len(data))
        self._step(lambda: self.real.write_at(file, data, offset), half, OSError)

    def truncate(self, file: int, size: int) -> None:
        self._remember(file, size, os.fstat(file).st_size - size)
        if self.kind == "disk full":
            self.real.truncate(file, size)  # giving space back always works
        else:
            self._step(lambda: self.real.truncate(file, size), lambda: None, OSError)

    def sync_file(self, file: int) -> None:
        self._step(lambda: self.real.sync_file(file), lambda: None, OSError)
        self.unsynced = [step for step in self.unsynced if step[0] != file]

    def commit(self, connection: sqlite3.Connection) -> None:
        self._step(lambda: self.real.commit(connection), lambda: None, sqlite3.OperationalError)

    def _step(self, whole: Callable[[], None], half: Callable[[], None], refusal: type[Exception]) -> None:
        self.steps += 1
        if self.steps < self.at:
            whole()
        elif self.kind in ERRORS:
            half()
            raise _error(self.kind, refusal)
        else:
            if self.kind == "kill amid":
                half()
            elif self.kind == "kill after":
                whole()
            elif self.kind == "power cut":
                half()
                self._forget_unsynced()
            _die()

    def _remember(self, file: int, offset: int, length: int) -> None:
        self.unsynced.append((file, offset, os.pread(file, max(0, length), offset), os.fstat(file).st_size))

    def _forget_unsynced(self) -> None:
        for file, offset, before, size in reversed(self.unsynced):
            os.pwrite(file, before, offset)
            os.ftruncate(file, size)


def _error(kind: Kind, refusal: type[Exception]) -> Exception:
    if refusal is OSError:
        code = errno.ENOSPC if kind == "disk full" else errno.EIO
        return OSError(code, os.strerror(code))
    error = refusal("database or disk is full" if kind == "disk full" else "disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if kind == "disk full" else sqlite3.SQLITE_IOERR_WRITE  # type: ignore[attr-defined]
    return error


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives that")
