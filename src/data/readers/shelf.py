"""The records of one task that can be used, by source id; how the raw records of each dataset become that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct

from . import gsm8k, hotpotqa, strategyqa
from .gsm8k import Problem
from .raw import GsmRecord, HotpotRecord, Paragraph, StrategyRecord
from .reading import Reading

T = TypeVar("T")


class Shelf(Struct, frozen=True):
    records: dict[str, Reading | Problem]
    seen: int
    """How many records there were, with those left aside: repeated ones, and ones whose answer does not follow."""
    sha256: dict[str, str]
    """Of everything that was read, by name."""


def shelve_hotpotqa(records: Iterable[HotpotRecord], sha256: dict[str, str]) -> Shelf:
    return _shelve([(hotpotqa.source_id(record), record) for record in records], hotpotqa.read, sha256)


def shelve_gsm8k(records: Iterable[GsmRecord], sha256: dict[str, str]) -> Shelf:
    return _shelve([(gsm8k.source_id(record), record) for record in records], gsm8k.read, sha256)


def shelve_strategyqa(
    records: Iterable[tuple[str, StrategyRecord]], paragraphs: Mapping[str, Paragraph], sha256: dict[str, str]
) -> Shelf:
    """Each record comes with where it stands. One question occurs under two ids: its second row would leak past any
    hold-out by id, so it is left aside."""
    rows = list(records)
    first: dict[str, tuple[str, StrategyRecord]] = {}
    for where, record in rows:
        first.setdefault(" ".join(record.question.lower().split()), (where, record))

    def read(row: tuple[str, StrategyRecord]) -> Reading | None:
        return strategyqa.read(row[1], paragraphs, row[0])

    shelf = _shelve([(strategyqa.source_id(row[1]), row) for row in first.values()], read, sha256)
    return Shelf(shelf.records, len(rows), sha256)


def _shelve(rows: list[tuple[str, T]], read: Callable[[T], Reading | Problem | None], sha256: dict[str, str]) -> Shelf:
    records: dict[str, Reading | Problem] = {}
    for source_id, record in rows:
        if source_id not in records and (ready := read(record)) is not None:
            records[source_id] = ready
    return Shelf(records, len(rows), sha256)
