"""The audit after a crash: the judge's own records against the store and the ledger."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import msgspec

from src.scoring.ledger import lines, verify
from src.scoring.types import CallEntry, Reply
from tests.scoring.crash_run import BAD_ONCE, VOTES, ask_for, notes


def stored_ids(folder: Path) -> list[str]:
    """The request ids in the cache file, read without the code under test."""
    file = folder / "scores.sqlite3"
    if not file.exists():
        return []
    connection = sqlite3.connect(file)
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'replies'").fetchone()[0]:
            return []
        rows = connection.execute("SELECT reply FROM replies").fetchall()
    finally:
        connection.close()
    return [msgspec.json.decode(raw, type=Reply).request_id for (raw,) in rows]


def kept_ids(folder: Path) -> list[str]:
    return [request_id for (request_id,) in notes(folder / "kept")]


def billed_ids(folder: Path) -> list[str]:
    return [request_id for _, request_id in notes(folder / "billed")]


def lost_ids(folder: Path) -> set[str]:
    """Request ids that were billed but not stored: the cost of a crash."""
    return set(billed_ids(folder)) - set(stored_ids(folder))


def assert_no_kept_reply_is_lost(folder: Path) -> None:
    """Holds right after a crash, before any repair."""
    assert set(kept_ids(folder)) <= set(stored_ids(folder)), "a reply that was kept is gone"


def assert_records_agree(folder: Path, samples: int, lost: int) -> None:
    """After a complete run every vote exists, each reply is stored once with one ledger line, `lost` is paid again."""
    stored = stored_ids(folder)
    assert len(set(stored)) == len(stored), "a reply is in twice"
    assert set(kept_ids(folder)) <= set(stored)
    verify(folder / "ledger.jsonl")
    calls = [line.entry for line in lines(folder / "ledger.jsonl") if isinstance(line.entry, CallEntry)]
    assert sorted(call.request_id for call in calls if not call.cache_hit) == sorted(stored), "one line for each reply"
    asks = [ask_for(sample, vote) for sample in range(samples) for vote in range(VOTES)]
    bad = sum((ask.text, ask.vote) == BAD_ONCE for ask in asks)
    voted = Counter(call.key for call in calls if not call.cache_hit and call.scores)
    assert set(voted) <= {ask.key for ask in asks}
    # The one bad reply can be among the lost; then the second reply to that vote was good at once.
    assert len(billed_ids(folder)) - len(asks) - lost in (bad, bad - 1), "a call was billed again without need"
    assert all(voted[ask.key] == 1 for ask in asks), "a vote is missing or was paid for twice"
