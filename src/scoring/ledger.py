"""The ledger: one line per judge call and per scoring, chained by hashes.

A line is `{"seq":N,"prev":"...","entry":{...},"hash":"..."}`; the hash covers the bytes of the line without its last
field. The chain shows that a line was changed, inserted or removed. That lines are missing at its end is shown only by
a `Head` that was stored elsewhere.

One process writes at a time: it holds the lock file beside the ledger during one append. A last line that a crash left
incomplete is cut off and noted; a line that is wrong anywhere else is never touched.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from askgate_env.types import Record

from ..core.disk import disk, make_path
from ..core.errors import BadInput
from ..core.jsonl import MAX_LINE_BYTES
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock
from .types import CallEntry, Entry, RepairEntry, ScoringEntry, timestamp

START = "0" * 64
"""The hash before the first line."""
REPAIR = "run a scoring or `askgate score`: opening the ledger to write cuts off the torn line and notes it"
_RESTORE = "put back the ledger as it was, or move it away and score again; a changed ledger proves nothing"
BLOCK = 64 * 1024
_BEFORE_HASH, _AFTER_HASH = b',"hash":"', b'"}'
_TAIL = len(_BEFORE_HASH) + 64 + len(_AFTER_HASH)


class Head(Record, frozen=True):
    """The end of a ledger. A ticket that stores it detects every change before it."""

    lines: int
    hash: str


EMPTY = Head(0, START)


class Line(Record, frozen=True):
    """One line of the ledger file."""

    seq: int
    prev: str
    entry: Entry
    hash: str

    @property
    def head(self) -> Head:
        return Head(self.seq, self.hash)


class Torn(ValueError):
    """Raised for bytes that a crash may have left: they are not JSON."""


class Forged(ValueError):
    """Raised for bytes that no crash leaves. The message says what is wrong with them."""


class LedgerBroken(BadInput):
    """The chain is broken at `where`."""


_DECODER = msgspec.json.Decoder(Line)


def seal(entry: Entry, after: Head) -> tuple[bytes, Head]:
    """The bytes of the next line, newline included, and the new head."""
    body = msgspec.json.encode({"seq": after.lines + 1, "prev": after.hash, "entry": entry})
    head = Head(after.lines + 1, sha256(body).hexdigest())
    line = body[:-1] + _BEFORE_HASH + head.hash.encode() + _AFTER_HASH
    # Refuses now what could not be read back later: a long line, or a NaN, which is written as null.
    if len(line) >= MAX_LINE_BYTES:
        raise Forged(f"a line of {len(line)} bytes is longer than any that would be read")
    unseal(line)
    return line + b"\n", head


def unseal(line: bytes) -> Line:
    """Decodes a line (without its newline) and checks its own hash."""
    try:
        decoded = _DECODER.decode(line)
    except msgspec.ValidationError as error:
        raise Forged(f"not a ledger line ({error})") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Torn(f"not valid JSON ({error})") from None
    digest = decoded.hash.encode()
    if line[-_TAIL:] != _BEFORE_HASH + digest + _AFTER_HASH:
        raise Forged("the hash does not stand at the end of the line")
    if sha256(line[:-_TAIL] + b"}").hexdigest().encode() != digest:
        raise Forged("the line does not fit its hash: it was changed after it was written")
    return decoded


class Ledger:
    """A ledger opened for writing: a torn end is repaired and the chain verified, so a broken one never grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with explain_disk_errors(path, RUN_AGAIN):
            make_path(path.parent)
            with write_lock(path), _open(path) as file:
                _repaired_end(file, path)
        verify(path)

    def append(self, entries: Sequence[Entry]) -> Head:
        """Writes all entries at once and syncs them. After an error none of them is written."""
        with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path), _open(self.path) as file:
            end, head = _repaired_end(file, self.path)
            sealed = []
            for entry in entries:
                line, head = seal(entry, head)
                sealed.append(line)
            try:
                if sealed:
                    disk.write_at(file, b"".join(sealed), end)
                    disk.sync_file(file)
            except OSError:
                # Undo an incomplete write. If that fails too, the next append cuts it off.
                with suppress(OSError):
                    disk.truncate(file, end)
                raise
            return head


def verify(path: Path) -> Head:
    """Reads the whole chain and returns its head. Raises LedgerBroken, which names the first broken line."""
    head = EMPTY
    for line in lines(path):
        head = line.head
    return head


def lines(path: Path) -> Iterator[Line]:
    """Every line, checked against the one before it. Lines appended during the read are not included."""
    if not path.exists():
        raise BadInput("no such file", where=str(path), remedy="run `askgate score POOL` with REWARD_LIVE_MODE=1 first")
    head, read = EMPTY, 0
    with explain_disk_errors(path, RUN_AGAIN), open(path, "rb", buffering=16 * BLOCK) as handle:
        with write_lock(path, create=False):
            size = os.fstat(handle.fileno()).st_size  # with the lock, so never in the middle of an append
        while read < size:
            raw = handle.readline(MAX_LINE_BYTES)
            read += len(raw)
            where = f"{path}:{head.lines + 1}"
            if len(raw) == MAX_LINE_BYTES:
                raise LedgerBroken("the line is too long to be one", where=where, remedy=_RESTORE)
            if raw[-1:] != b"\n":
                raise LedgerBroken("the last line is torn", where=where, remedy=REPAIR)
            try:
                line = unseal(raw[:-1])
                if line.prev != head.hash:
                    raise Forged("the line before it is not the one that it was written after")
                if line.seq != head.lines + 1:
                    raise Forged(f"it says that it is line {line.seq}")
            except Torn as error:
                remedy = REPAIR if read == size else _RESTORE
                raise LedgerBroken(str(error), where=where, remedy=remedy) from None
            except Forged as error:
                raise LedgerBroken(str(error), where=where, remedy=_RESTORE) from None
            head = line.head
            yield line


class Scoring(Record, frozen=True):
    """One scoring and all its calls, failed ones included, oldest first."""

    entry: ScoringEntry
    calls: tuple[CallEntry, ...]


def scorings(path: Path) -> Iterator[Scoring]:
    """Every scoring, oldest first. The chain is checked on the way, as `lines` does."""
    calls: defaultdict[str, list[CallEntry]] = defaultdict(list)
    for line in lines(path):
        if isinstance(line.entry, CallEntry):
            calls[line.entry.scoring].append(line.entry)
        elif isinstance(line.entry, ScoringEntry):
            yield Scoring(line.entry, tuple(calls.pop(line.entry.scoring, ())))


def newest_scorings(path: Path, n: int) -> list[Scoring]:
    """The last `n` live scorings, oldest first."""
    return list(deque((scoring for scoring in scorings(path) if scoring.entry.live), maxlen=n))


@contextmanager
def _open(path: Path) -> Iterator[int]:
    is_new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if is_new:
            disk.sync(path.parent)  # a new file survives a power cut only after its folder is synced
        yield file
    finally:
        os.close(file)


def _repaired_end(file: int, path: Path) -> tuple[int, Head]:
    """The offset of the next line and the head before it. A torn last line is replaced by a note first."""
    size = os.fstat(file).st_size
    with suppress(Torn):
        return size, _head_at(file, size, path)
    start, raw = _last_line(file, size)
    try:
        head = _head_at(file, start, path)
    except Torn as error:
        raise _broken(f"{error}, and the line after it is torn", file, path, _last_line(file, start)[0]) from None
    note = f"line {head.lines + 1} was torn and cut off: {len(raw)} bytes, sha256 {sha256(raw).hexdigest()}"
    line, head = seal(RepairEntry(note=note, at=timestamp()), head)
    # Overwrite the torn line first, then truncate: a crash between the two leaves a torn end again, never a lost note.
    disk.write_at(file, line, start)
    disk.truncate(file, start + len(line))
    disk.sync_file(file)
    return start + len(line), head


def _head_at(file: int, end: int, path: Path) -> Head:
    """The head of the chain up to byte `end`, by its last line alone."""
    start, raw = _last_line(file, end)
    if not raw:
        return EMPTY
    if not raw.endswith(b"\n"):
        raise Torn("it has no end")
    try:
        return unseal(raw[:-1]).head
    except Forged as error:
        raise _broken(str(error), file, path, start) from None


def _broken(what: str, file: int, path: Path, start: int) -> LedgerBroken:
    """The error of the line that starts at byte `start`. It reads all lines before it to count them."""
    before = sum(os.pread(file, min(BLOCK, start - at), at).count(b"\n") for at in range(0, start, BLOCK))
    return LedgerBroken(what, where=f"{path}:{before + 1}", remedy=_RESTORE)


def _last_line(file: int, end: int) -> tuple[int, bytes]:
    """Start and bytes of the line that ends at byte `end`, including its newline if it has one."""
    raw, start = b"", end
    while start > 0 and b"\n" not in raw[:-1]:
        if len(raw) > MAX_LINE_BYTES:
            break
        block = min(BLOCK, start)
        start -= block
        raw = os.pread(file, block, start) + raw
    cut = raw.rfind(b"\n", 0, len(raw) - 1) + 1
    return start + cut, raw[cut:]
