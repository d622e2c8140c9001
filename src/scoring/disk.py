"""Where scoring meets the disk: every byte that must outlive a crash goes through `disk`, and every refusal of the
disk comes out as a message that says what to do.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import BadInput


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

_FULL = "free some space on that disk and run the same command again; nothing stored before was harmed"
_FAILING = "check the disk, then run the same command again; nothing stored before was harmed"
_FORBIDDEN = "make the file and its folder writable for you, or choose another path"
_SYSTEM = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EIO: _FAILING,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: _FORBIDDEN,
    errno.ENOENT: "make its folder again",
    errno.ENOTDIR: "choose another path",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: "choose another path",
    errno.ENOLCK: "choose a path on a local disk; this one has no file locks",
}
_SQLITE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FAILING,
    sqlite3.SQLITE_READONLY: _FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: _FORBIDDEN,
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
        yield
    except OSError as error:
        if error.errno not in _SYSTEM:
            raise
        raise BadInput(f"{error.strerror}", where=str(path), remedy=_SYSTEM[error.errno]) from error
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
