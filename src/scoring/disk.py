"""Where scoring meets the disk: every byte that must outlive a crash goes through `disk`, and every refusal of the
disk comes out as a message that says what to do.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import BadInput
from ..core.refused import FAILING, FORBIDDEN, FULL, refused


class Disk:
    """The one place where tests cut the power: they put their own functions in place of these four."""

    def write(self, file: int, data: bytes, offset: int) -> None:
        """All of `data`, at that place. A file that was opened to append would ignore the place; open none so."""
        while data:
            written = os.pwrite(file, data, offset)
            data, offset = data[written:], offset + written

    def truncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)

    def fsync(self, file: int) -> None:
        os.fsync(file)

    def commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")


disk = Disk()

_AGAIN = "run the same command again; nothing stored before was harmed"
_SQLITE = {
    sqlite3.SQLITE_FULL: f"{FULL}, then {_AGAIN}",
    sqlite3.SQLITE_IOERR: f"{FAILING}, then {_AGAIN}",
    sqlite3.SQLITE_READONLY: FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: FORBIDDEN,
    sqlite3.SQLITE_BUSY: "end the other process that keeps the file locked, then run the same command again",
    sqlite3.SQLITE_NOTADB: "this is no score cache; choose another path",
    sqlite3.SQLITE_CORRUPT: "move the file away, a new one is made; the ledger still tells what was paid for",
}
_PRIMARY_CODE = 0xFF
"""SQLite's extended codes carry the plain one in their lowest byte."""


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the disk refuses inside the block, as `BadInput` with path and remedy. Anything else is a defect."""
    try:
        with refused(path, _AGAIN):
            yield
    except sqlite3.Error as error:
        # Errors that Python raises itself carry no code.
        code = error.__dict__.get("sqlite_errorcode", 0) & _PRIMARY_CODE
        if code not in _SQLITE:
            raise
        raise BadInput(str(error), where=str(path), remedy=_SQLITE[code]) from error


@contextmanager
def alone(path: Path, create: bool) -> Iterator[None]:
    """Nobody else writes that file inside the block. A copy, without a lock beside it, has no writer to wait for; no
    lock is made for it unless `create` says so."""
    beside = path.with_name(path.name + ".lock")
    if not create and not beside.exists():
        yield
        return
    lock = os.open(beside, os.O_CREAT if create else os.O_RDONLY, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
