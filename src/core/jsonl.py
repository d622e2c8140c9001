"""Typed JSONL, read line by line, with errors that name file, line and field."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Protocol, TypeVar

import msgspec

from .errors import BadInput
from .files import explain_read_errors, note_read

T = TypeVar("T")

MAX_LINE_BYTES = 4 * 2**20
"""A real HotpotQA sample is 20 KB. A line above 4 MB means a broken file that would fill the memory."""
ROWS_LISTED = 10
LINES_NAMED = 3
_SKIPPED = re.compile(r"(.+?):(\d+): (?:'.*' )?skipped: (.+?)\.?", re.DOTALL)


class OtherEncoding(BadInput):
    """A file is not in UTF-8."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers (from 1) and lines, without blank ones and the byte order mark. Notes the SHA-256 of a file that is
    read to its end."""
    if path.exists() and not path.is_file():
        raise BadInput("is not a file", where=str(path), remedy="name a file")  # reading a pipe might wait forever
    with explain_read_errors(path):
        handle = open(path, "rb")
    with handle:
        number, digest = 0, sha256()
        while line := handle.readline(MAX_LINE_BYTES + 1):
            number += 1
            digest.update(line)
            if len(line) > MAX_LINE_BYTES:
                what = f"line is longer than {MAX_LINE_BYTES // 2**20} MB"
                raise BadInput(what, where=f"{path}:{number}", remedy="check that the file is JSONL, one sample a line")
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # Windows writes one
            if line and not line.isspace():
                yield number, line
        note_read(path, digest.hexdigest())


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """Every line decoded as `kind`. The first that does not fit raises BadInput with file, line and field."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in read_lines(path):
        yield decode(decoder, line, f"{path}:{number}")


def read_plain(path: Path, kind: type[T]) -> Iterator[T]:
    """Like `read_records`, but refuses a line that `write_records` would not write: if a key occurs twice, a person may
    read another value than the decoder."""
    decoder, encoder = msgspec.json.Decoder(kind), msgspec.json.Encoder()
    for number, line in read_lines(path):
        record = decode(decoder, line, f"{path}:{number}")
        if encoder.encode(record) != line.rstrip(b"\r\n"):
            what = "is not written as AskGate writes it, such as a line with a key twice"
            raise BadInput(what, where=f"{path}:{number}", remedy="put the file back as it was, or make it again")
        yield record


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
            what = f"the id {record.id!r} occurs twice, first in line {seen[record.id]}"
            remedy = "give every sample its own id, or build the file again"
            raise BadInput(what, where=f"{path}:{number}", remedy=remedy)
        yield record


def decode(decoder: msgspec.json.Decoder[T], line: bytes, where: str, remedy: str = "") -> T:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        remedy = remedy or "correct that field or build the file again"
        raise BadInput(str(error), where=where, remedy=remedy) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        refuse_other_encoding(line, where)
        remedy = remedy or "correct that line or build the file again"
        raise BadInput(f"not valid JSON ({error})", where=where, remedy=remedy) from None


def read_all(read: Callable[[str, bytes], T], lines: Iterable[tuple[str, bytes]]) -> list[T]:
    """The results of `read` for all rows, given as location and text. One error names all rows that `read` refuses."""
    results: list[T] = []
    refused: list[BadInput] = []
    for where, line in lines:
        try:
            results.append(read(where, line))
        except OtherEncoding:
            raise  # all rows have the same encoding: one error is enough
        except BadInput as error:
            refused.append(error)
    if len(refused) == 1:
        raise refused[0]
    if refused:
        named = listed([f"{error.where}: {error.what}" for error in refused])
        raise BadInput(f"{len(refused)} rows cannot be read:{named}", remedy=refused[0].remedy)
    return results


@lru_cache(maxsize=256)  # several gates read the same files
def refuse_repeated_keys(path: Path, digest: str) -> None:
    """Refuses a JSON or JSONL file, or a folder with one, in which an object has a key twice: the decoder takes the
    last value, and a person may read the first. `digest` is the key of the cache: a changed file is read again."""
    for file in sorted(path.rglob("*.json*")) if path.is_dir() else [path]:
        if file.suffix not in (".json", ".jsonl") or not file.is_file():
            continue
        for number, text in read_lines(file) if file.suffix == ".jsonl" else [(1, file.read_bytes())]:
            # Invalid JSON is refused where the file is used.
            with suppress(msgspec.DecodeError, ValueError, RecursionError):
                # A line as AskGate writes it has no key twice. The check below takes ten times as long.
                if msgspec.json.encode(msgspec.json.decode(text)) != text.rstrip(b"\r\n"):
                    hook = partial(_refuse_twice, f"{file}:{number}")
                    json.loads(text.removeprefix(codecs.BOM_UTF8), object_pairs_hook=hook)


def _refuse_twice(where: str, pairs: list[tuple[str, object]]) -> None:
    if twice := next((key for key, times in Counter(key for key, _ in pairs).items() if times > 1), None):
        what = f"has the key {twice!r} twice, and a reader sees another value than the one that counts"
        raise BadInput(what, where=where, remedy="put the file back as it was, or make it again")


def listed(rows: Sequence[str]) -> str:
    """The first rows, one a line, and the number of those left out."""
    left_out = len(rows) - ROWS_LISTED
    return "".join(f"\n{row}" for row in (*rows[:ROWS_LISTED], *([f"and {left_out} more"] if left_out > 0 else ())))


def grouped(rows: Iterable[str]) -> list[str]:
    """Skipped rows; if many of a file break the same rule, these are one line.

    >>> grouped([*(f"a.jsonl:{at}: skipped: no answer." for at in (1, 3, 4, 7)), "a.jsonl:5: skipped: no text."])
    ['a.jsonl: 4 rows skipped: no answer (lines 1, 3, 4, ...)', 'a.jsonl:5: skipped: no text.']
    """
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for row in rows:
        found = _SKIPPED.fullmatch(row)
        groups.setdefault((found[1], found[3]) if found else (row,), []).append((found[2] if found else "", row))
    lines = []
    for (path, *rule), same in groups.items():
        first = ", ".join(number for number, _ in same[:LINES_NAMED])
        many = f"{path}: {len(same)} rows skipped: {''.join(rule)} (lines {first}, ...)"
        lines += [many] if len(same) > LINES_NAMED else [row for _, row in same]
    return lines


def decode_file(path: Path, kind: type[T], remedy: str) -> T:
    """A JSON file decoded as `kind`; it may begin with a byte order mark."""
    with explain_read_errors(path, "check the file"):
        raw = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    return decode(msgspec.json.Decoder(kind), raw, str(path), remedy)


def decode_or_none(decoder: msgspec.json.Decoder[T], line: bytes) -> T | None:
    """The record of a line; None if the line is another kind of record, or is still being written."""
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def refuse_other_encoding(content: bytes, where: str) -> None:
    """Refuses bytes that are not UTF-8, with the command that converts their file. `where`: path, or path:line."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        remedy, encoding = "save the file as UTF-8 or build it again", ""
        with suppress(UnicodeDecodeError):
            content.decode("gbk")
            encoding = "GBK"
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "UTF-16"
        if encoding:
            file = Path(where if Path(where).is_file() else where.rpartition(":")[0])
            new = f"new{file.suffix}"
            remedy = f"convert it: iconv -f {encoding} -t UTF-8 {file} > {new}; then use {new}"
        raise OtherEncoding(f"invalid UTF-8 at byte {error.start}", where=where, remedy=remedy) from None


def write_records(handle: IO[bytes], records: Iterable[object]) -> int:
    """Writes one JSON object per line. Returns their number."""
    encoder = msgspec.json.Encoder()
    count = 0
    for record in records:
        handle.write(encoder.encode(record) + b"\n")
        count += 1
    return count
