"""The end of the ledger, read from the end: the last scorings with their calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..core.types import Record
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from .chain import Forged, Line, Torn, unseal
from .ledger import BLOCK, LedgerBroken, settled_size
from .types import CallEntry, ScoringEntry

QUIET_LINES = 1000
"""Other scorings' lines stand between a scoring and its calls when several run at once, but never this many."""


class Scoring(Record, frozen=True):
    """One scoring and all its calls, failed ones included, oldest first."""

    entry: ScoringEntry
    calls: tuple[CallEntry, ...]


def tail(path: Path, n_scorings: int) -> list[Scoring]:
    """The last live scorings, oldest first; fewer where the ledger has fewer. The chain is for `verify`."""
    scorings: dict[str, ScoringEntry] = {}
    calls: dict[str, list[CallEntry]] = {}
    votes_missing = quiet = 0
    for line in _backwards(path):
        entry = line.entry
        quiet += 1
        if isinstance(entry, ScoringEntry) and entry.live and len(scorings) < n_scorings:
            scorings[entry.scoring], calls[entry.scoring] = entry, []
            votes_missing, quiet = votes_missing + entry.votes, 0
        elif isinstance(entry, CallEntry) and entry.scoring in calls:
            calls[entry.scoring].append(entry)
            votes_missing, quiet = votes_missing - bool(entry.scores), 0
        if len(scorings) >= n_scorings and votes_missing <= 0 and quiet >= QUIET_LINES:
            break
    return [Scoring(entry, tuple(reversed(calls[name]))) for name, entry in reversed(scorings.items())]


def _backwards(path: Path) -> Iterator[Line]:
    end = settled_size(path)
    with explain_disk_errors(path, RUN_AGAIN), open(path, "rb") as handle:
        for raw in _raw_lines(handle, end):
            try:
                yield unseal(raw)
            except (Torn, Forged) as error:
                raise LedgerBroken(
                    str(error), where=str(path), remedy="verify the ledger, which names the line"
                ) from None


def _raw_lines(handle: IO[bytes], end: int) -> Iterator[bytes]:
    """Lines without their newlines, last one first."""
    rest = b""
    while end > 0:
        start = max(0, end - BLOCK)
        handle.seek(start)
        pieces = (handle.read(end - start) + rest).split(b"\n")
        # After the newline that ends the file stands nothing; that is no line.
        if rest == b"" and pieces[-1] == b"":
            pieces.pop()
        rest = pieces.pop(0) if pieces else b""
        yield from reversed(pieces)
        end = start
    if rest:
        yield rest
