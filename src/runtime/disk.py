"""Writes files in blocks, syncs and removes folders, and explains disk errors (`explain_disk_errors`)."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.defaults import RESUME
from ..core.disk import disk
from ..core.errors import BadInput

BLOCK = 4 * 2**20
"""Bytes per write. A large file takes many writes, so a save needs little memory besides what it saves."""


def write_file(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Creates a file with these bytes, written in blocks. The caller syncs it with its folder."""
    file = disk.create(path)
    try:
        block = bytearray()
        for piece in pieces:
            rest = memoryview(piece)
            while len(rest):
                taken = BLOCK - len(block)
                block += rest[:taken]
                rest = rest[taken:]
                if len(block) == BLOCK:
                    disk.write(file, memoryview(block))
                    block = bytearray()
        if block:
            disk.write(file, memoryview(block))
    finally:
        os.close(file)


def read_blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        while block := handle.read(BLOCK):
            yield block


def sync_tree(folder: Path) -> None:
    """Syncs every file, then every folder from the inside out."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            sync_tree(entry)
        else:
            disk.sync(entry)
    disk.sync(folder)


def remove_tree(path: Path) -> None:
    """Removes a file, a link, or a folder with everything in it."""
    if path.is_dir() and not path.is_symlink():
        for entry in sorted(path.iterdir()):
            remove_tree(entry)
        disk.remove_folder(path)
    else:
        disk.remove(path)


RESUME_RUN = f"resume with {RESUME}; the checkpoints saved before are whole"
RUN_AGAIN = "run the same command again; nothing stored before was harmed"
_FULL = "free some space on that disk"
_FAILING = "check the disk"
_FORBIDDEN = "make the file and its folder writable for you, or choose another path"
_IN_THE_WAY = "choose another path; something of that name is in the way"
_RETRY_AFTER = {errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EFBIG: _FULL, errno.EIO: _FAILING}
_REMEDIES = {
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: _FORBIDDEN,
    errno.ENOENT: "make its folder again",
    errno.ENOTDIR: "choose another path; a file is in the way",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: _IN_THE_WAY,
    errno.ENOTEMPTY: _IN_THE_WAY,
    errno.ENOLCK: "choose a path on a local disk; this one has no file locks",
    errno.ENOTCONN: "mount that drive again",
    errno.ESTALE: "mount that drive again",
}
_SQLITE_RETRY_AFTER = {sqlite3.SQLITE_FULL: _FULL, sqlite3.SQLITE_IOERR: _FAILING}
_SQLITE_REMEDIES = {
    sqlite3.SQLITE_READONLY: _FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: _FORBIDDEN,
    sqlite3.SQLITE_BUSY: "end the other process that keeps the file locked, then run the same command again",
    sqlite3.SQLITE_NOTADB: "this is no score cache; choose another path",
    sqlite3.SQLITE_CORRUPT: "move the file away, a new one is made; the ledger still tells what was paid for",
}


@contextmanager
def explain_disk_errors(path: Path, again: str = RESUME_RUN, only_full: bool = False) -> Iterator[None]:
    """Turns disk errors inside the block into `BadInput` with path and remedy. Other exceptions pass unchanged.

    `again`: text on how to continue once the disk works, and what is safe meanwhile. With `only_full`, for a block that
    uses several paths, only a full disk is explained, and a failing one if the error names the file: it is unknown
    which path any other error is about.
    """
    try:
        yield
    except Exception as error:
        sqlite = isinstance(error, sqlite3.Error)
        code = _error_code(error)
        retry_after, remedies = (_SQLITE_RETRY_AFTER, _SQLITE_REMEDIES) if sqlite else (_RETRY_AFTER, _REMEDIES)
        # The system names no file if it was open already.
        named = error.filename if only_full and isinstance(error, OSError) else None
        if retry_after.get(code) == _FULL or (code in retry_after and (named or not only_full)):
            remedy = f"{retry_after[code]}, then {again}"
        elif code in remedies and not only_full:
            remedy = remedies[code]
        else:
            raise
        what = str(error) if sqlite else os.strerror(code)
        raise BadInput(what, where=named if isinstance(named, str) else str(path), remedy=remedy) from error


def _error_code(error: Exception) -> int:
    """The error number. Libraries written in Rust (safetensors, tokenizers) have it only in their message."""
    if isinstance(error, sqlite3.Error):
        # Errors that Python raises itself carry none. Extended codes have the primary code in their lowest byte.
        return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    if isinstance(error, OSError):
        return error.errno or 0
    match = re.search(r"\(os error (\d+)\)", str(error))
    return int(match[1]) if match else 0
