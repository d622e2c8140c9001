"""What the judge said while a policy trained: the ledger's scorings, of which one in a batch is named by its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from .where import Outside, open_inside

LEDGER = "reports/rc1/scoring_ledger.jsonl"
_OURS = b'"sample":"train/'


class _Scoring(msgspec.Struct):
    sample: str
    """`train/SEED/STEP/ROW/SAMPLE`."""
    variance: float | None
    overall: float | None


class _Line(msgspec.Struct):
    entry: _Scoring


_line = msgspec.json.Decoder(_Line)


def read_judged(store: sqlite3.Connection, root: Path) -> None:
    """Adds what was appended since the last look. A ledger that has become shorter is another one."""
    try:
        handle = open_inside(root, LEDGER)
    except Outside:
        return
    with handle:
        known = store.execute("SELECT value FROM facts WHERE name='ledger'").fetchone()
        start = known[0] if known else 0
        if start > handle.seek(0, 2):
            store.execute("DELETE FROM judged")
            start = 0
        handle.seek(start)
        for raw in handle:
            if not raw.endswith(b"\n"):
                break
            start += len(raw)
            if _OURS in raw:
                _put(store, raw)
    store.execute("INSERT OR REPLACE INTO facts VALUES('ledger', ?)", (start,))


def _put(store: sqlite3.Connection, raw: bytes) -> None:
    try:
        entry = _line.decode(raw).entry
        _, seed, step, row, sample = entry.sample.split("/", 4)
        place = (int(step), int(row), sample, int(seed))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return
    if entry.overall is not None:
        store.execute("INSERT OR REPLACE INTO judged VALUES(?,?,?,?,?,?)", (*place, entry.variance, entry.overall))
