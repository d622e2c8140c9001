"""The lines of the ledger as bytes: each holds the hash of the line before it and its own. Pure.

A line is `{"seq":N,"prev":"...","entry":{...},"hash":"..."}`; the hash is taken over the bytes of the line without its
last field. The chain shows that a line was changed, added or taken out, but not that lines are missing at its end:
whoever wants to know that keeps the `Head`.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from ..core.jsonl import MAX_LINE_BYTES
from ..core.types import Record
from .types import Entry

START = "0" * 64
"""What stands for the line before the first."""
_BEFORE_HASH, _AFTER_HASH = b',"hash":"', b'"}'
_TAIL = len(_BEFORE_HASH) + 64 + len(_AFTER_HASH)


class Head(Record, frozen=True):
    """How far a ledger goes: a ticket that holds this notices every change before it."""

    lines: int
    hash: str


class Line(Record, frozen=True):
    seq: int
    prev: str
    entry: Entry
    hash: str

    @property
    def head(self) -> Head:
        return Head(self.seq, self.hash)


class _Body(Record, frozen=True):
    seq: int
    prev: str
    entry: Entry


class Torn(ValueError):
    """Bytes that a crash may have left: no JSON at all."""


class Forged(ValueError):
    """Bytes that no crash leaves. The text says what is wrong with them."""


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Line)


def seal(entry: Entry, after: Head) -> tuple[bytes, Head]:
    """The bytes of the next line, newline included, and the head that it makes."""
    body = _ENCODER.encode(_Body(after.lines + 1, after.hash, entry))
    head = Head(after.lines + 1, sha256(body).hexdigest())
    line = body[:-1] + _BEFORE_HASH + head.hash.encode() + _AFTER_HASH
    # Written once, read for years: what could not be read back (a NaN becomes null) is refused now.
    if len(line) >= MAX_LINE_BYTES:
        raise Forged(f"a line of {len(line)} bytes is longer than any that would be read")
    unseal(line)
    return line + b"\n", head


def unseal(line: bytes) -> Line:
    """A line without its newline, its own hash checked."""
    try:
        found = _DECODER.decode(line)
    except msgspec.ValidationError as error:
        raise Forged(f"not a ledger line ({error})") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Torn(f"not valid JSON ({error})") from None
    digest = found.hash.encode()
    if line[-_TAIL:] != _BEFORE_HASH + digest + _AFTER_HASH:
        raise Forged("the hash does not stand at the end of the line")
    if sha256(line[:-_TAIL] + b"}").hexdigest().encode() != digest:
        raise Forged("the line does not fit its hash: it was changed after it was written")
    return found


def follow(line: bytes, after: Head) -> Line:
    """A line that must be the next one."""
    found = unseal(line)
    if found.prev != after.hash:
        raise Forged("the line before it is not the one that it was written after")
    if found.seq != after.lines + 1:
        raise Forged(f"it says that it is line {found.seq}")
    return found
