"""The ledger file: what every call and every scoring came to, one line each, chained by hashes.

One process writes at a time: it holds the lock file beside the ledger for the length of one append. What a crash left
torn at the end is cut off and noted; a line that is wrong anywhere else is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ..core.errors import BadInput
from ..core.jsonl import MAX_LINE_BYTES
from ..runtime.disk import RUN_AGAIN, disk, explain_disk_errors
from ..runtime.lock import write_lock
from .chain import START, Forged, Head, Line, Torn, follow, seal, unseal
from .types import Entry, RepairEntry

EMPTY = Head(0, START)
_RESTORE = "put back the ledger as it was, or move it away and score again; a changed ledger proves nothing"
REPAIR = "run a scoring or `askgate score`: opening the ledger to write cuts off the torn line and notes it"
BLOCK = 64 * 1024


class LedgerBroken(BadInput):
    """The chain does not hold at `where`."""


class Ledger:
    """Opened to write: a torn end is repaired, then the chain is checked, for nothing is ever added to a broken one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with explain_disk_errors(path, RUN_AGAIN):
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_lock(path), _open(path) as file:
                _last(file, path)
        verify(path)

    def append(self, entries: Sequence[Entry]) -> Head:
        """All entries in one write, on disk for good when this returns; after an error none of them."""
        with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path), _open(self.path) as file:
            end, head = _last(file, self.path)
            made = []
            for entry in entries:
                line, head = seal(entry, head)
                made.append(line)
            if made:
                _write(file, b"".join(made), end)
            return head


def verify(path: Path) -> Head:
    """Reads the whole chain; `LedgerBroken` names the first line that does not hold."""
    head = EMPTY
    for line in lines(path):
        head = line.head
    return head


def lines(path: Path) -> Iterator[Line]:
    """Every line, checked against the one before it. Lines that others write meanwhile are left for the next time."""
    size = settled_size(path)
    head = EMPTY
    with explain_disk_errors(path, RUN_AGAIN), open(path, "rb", buffering=16 * BLOCK) as handle:
        read = 0
        while read < size:
            raw = handle.readline(MAX_LINE_BYTES)
            read += len(raw)
            where = f"{path}:{head.lines + 1}"
            if len(raw) == MAX_LINE_BYTES:
                raise LedgerBroken("the line is too long to be one", where=where, remedy=_RESTORE)
            if raw[-1:] != b"\n":
                raise LedgerBroken("the last line is torn", where=where, remedy=REPAIR)
            try:
                line = follow(raw[:-1], head)
            except Torn as error:
                remedy = REPAIR if read == size else _RESTORE
                raise LedgerBroken(str(error), where=where, remedy=remedy) from None
            except Forged as error:
                raise LedgerBroken(str(error), where=where, remedy=_RESTORE) from None
            head = line.head
            yield line


def settled_size(path: Path) -> int:
    """The length of the file between two appends, not in the middle of one."""
    with explain_disk_errors(path, RUN_AGAIN), write_lock(path, create=False):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            raise BadInput("no such file", where=str(path), remedy="score something live first") from None


@contextmanager
def _open(path: Path) -> Iterator[int]:
    is_new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if is_new:
            _sync_folder(path.parent)
        yield file
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    """A new file outlives a power cut only when its folder knows of it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        disk.sync_file(handle)
    finally:
        os.close(handle)


def _last(file: int, path: Path) -> tuple[int, Head]:
    """Where the next line goes and what it comes after. A torn end is replaced by a note on the way."""
    size = os.fstat(file).st_size
    start, raw = _last_line(file, size)
    if raw.endswith(b"\n"):
        try:
            return size, unseal(raw[:-1]).head
        except Forged as error:
            raise LedgerBroken(str(error), where=f"{path}:{_line_number(file, start)}", remedy=_RESTORE) from None
        except Torn:
            pass
    elif not raw:
        return 0, EMPTY
    head = _head_before(file, start, path)
    note = f"line {head.lines + 1} was torn and cut off: {len(raw)} bytes, sha256 {sha256(raw).hexdigest()}"
    line, head = seal(RepairEntry(note=note, at=datetime.now(UTC).isoformat(timespec="milliseconds")), head)
    # Over the torn line first, then the end: a crash between the two leaves a torn end again, never a lost note.
    disk.write_at(file, line, start)
    disk.truncate(file, start + len(line))
    disk.sync_file(file)
    return start + len(line), head


def _head_before(file: int, end: int, path: Path) -> Head:
    """The head as it was before a torn line that starts at `end`."""
    start, raw = _last_line(file, end)
    if not raw:
        return EMPTY
    try:
        return unseal(raw[:-1]).head
    except (Torn, Forged) as error:
        where = f"{path}:{_line_number(file, start)}"
        raise LedgerBroken(f"{error}, and the line after it is torn", where=where, remedy=_RESTORE) from None


def _line_number(file: int, start: int) -> int:
    """Which line it is that starts there, from 1. Only for messages: it reads all that comes before."""
    return 1 + sum(os.pread(file, min(BLOCK, start - at), at).count(b"\n") for at in range(0, start, BLOCK))


def _last_line(file: int, end: int) -> tuple[int, bytes]:
    """The line that ends at byte `end`, with its newline if it has one, and where it starts."""
    raw, start = b"", end
    while start > 0 and b"\n" not in raw[:-1]:
        if len(raw) > MAX_LINE_BYTES:
            break
        block = min(BLOCK, start)
        start -= block
        raw = os.pread(file, block, start) + raw
    cut = raw.rfind(b"\n", 0, len(raw) - 1) + 1
    return start + cut, raw[cut:]


def _write(file: int, data: bytes, end: int) -> None:
    try:
        disk.write_at(file, data, end)
        disk.sync_file(file)
    except OSError:
        # What could not be written whole is taken back. If that fails too, the next append cuts it off.
        with suppress(OSError):
            disk.truncate(file, end)
        raise
