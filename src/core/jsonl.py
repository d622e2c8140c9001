"""Typed JSONL, read line by line, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Protocol, TypeVar

import msgspec

from .errors import BadInput
from .files import explain_read_errors, note_read

T = TypeVar("T")

MAX_LINE_BYTES = 4 * 2**20
"""A real HotpotQA sample is 20 KB. A line above 4 MB means a broken file that would fill the memory."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers (from 1) and lines, without blank ones. The SHA-256 of a file read to its end is noted."""
    if path.exists() and not path.is_file():
        raise BadInput("is not a file", where=str(path), remedy="name a file")  # a pipe would be waited for
    with explain_read_errors(path):
        handle = open(path, "rb")
    with handle:
        number, digest = 0, sha256()
        while line := handle.readline(MAX_LINE_BYTES + 1):
            number += 1
            digest.update(line)
            if len(line) > MAX_LINE_BYTES:
                raise BadInput(
                    f"line is longer than {MAX_LINE_BYTES // 2**20} MB",
                    where=f"{path}:{number}",
                    remedy="check that the file is JSONL, one sample a line",
                )
            if not line.isspace():
                yield number, line
        note_read(path, digest.hexdigest())


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """Every line decoded as `kind`. The first that does not fit raises BadInput with file, line and field."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in read_lines(path):
        yield decode(decoder, line, f"{path}:{number}")


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Identified = TypeVar("Identified", bound=_Identified)


def read_unique(path: Path, kind: type[Identified]) -> Iterator[Identified]:
    """Like `read_records`, but refuses a repeated id."""
    decoder = msgspec.json.Decoder(kind)
    seen: dict[str, int] = {}
    for number, line in read_lines(path):
        record = decode(decoder, line, f"{path}:{number}")
        if seen.setdefault(record.id, number) != number:
            raise BadInput(
                f"the id {record.id!r} occurs twice, first in line {seen[record.id]}",
                where=f"{path}:{number}",
                remedy="give every sample its own id, or build the file again",
            )
        yield record


def decode(decoder: msgspec.json.Decoder[T], line: bytes, where: str) -> T:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, remedy="correct that field or build the file again") from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"invalid UTF-8 at byte {error.start}", where=where, remedy="save the file as UTF-8 or build it again"
        ) from None
    except msgspec.DecodeError as error:
        problem = "invalid UTF-8" if "utf-8" in str(error).lower() else f"not valid JSON ({error})"
        raise BadInput(problem, where=where, remedy="correct that line or build the file again") from None


def write_records(handle: IO[bytes], records: Iterable[object]) -> int:
    encoder = msgspec.json.Encoder()
    count = 0
    for record in records:
        handle.write(encoder.encode(record) + b"\n")
        count += 1
    return count
