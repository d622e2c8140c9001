"""Keeps the index up with the logs. First a row for every episode, which takes seconds; then the text, which takes
longer: one can filter and read before one can search.

Files of episodes appear whole and are replaced as a whole, so a file is known by name, size and time.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..core.episode import Episode
from ..core.errors import BadInput
from ..scoring.scores import Score
from .ledger import read_judged
from .sets import EpisodeFile, episode_files
from .store import index_path, open_store, reading
from .where import Outside, open_inside

SMALL = 2000
"""Episodes in one transaction: so often what is new can be seen."""
_episode = msgspec.json.Decoder(Episode)
_score = msgspec.json.Decoder(Score)


class _Recorded(msgspec.Struct):
    """The line of a recorded episode, as far as the board reads it."""

    id: str
    episode: Episode


_recorded = msgspec.json.Decoder(_Recorded)


@dataclass(frozen=True)
class Progress:
    files: int
    indexed: int
    searchable: int
    episodes: int
    unreadable: int


class Indexer:
    """`catch_up()` brings the index up to date; it may be called from any thread, and one at a time works."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path, self._borrowed = index_path(root)
        self._store = open_store(self.path)
        self._alone = threading.Lock()
        self._stop = threading.Event()
        self._there = 0

    def close(self) -> None:
        self._stop.set()
        with self._alone:
            self._store.close()
        if self._borrowed is not None:
            self._borrowed.cleanup()

    def catch_up(self) -> None:
        with self._alone:
            if self._stop.is_set():
                return
            try:
                self._catch_up()
            except sqlite3.Error as error:
                # Another board of this folder may be at it. Whoever comes second leaves it the lock.
                if self._store.in_transaction:
                    self._store.execute("ROLLBACK")
                raise BadInput(
                    f"the index is busy or cannot be written ({error})", where=str(self.path), remedy="check the disk"
                ) from error

    def _catch_up(self) -> None:
        there = episode_files(self.root)
        self._there = len(there)
        self._forget({one.path for one in there})
        self._judge()
        done = 0
        for one in there:
            if not self._stop.is_set():
                done += self._rows(one)
            if done >= SMALL:
                self._commit()
                done = 0
        self._commit()
        self._search()

    def progress(self) -> Progress:
        """Files as of the last look."""
        with reading(self.path) as store:
            row = store.execute(
                "SELECT count(*), total(searched), total(episodes), total(unreadable) FROM files"
            ).fetchone()
        return Progress(self._there, *(int(value) for value in row))

    def _begin(self) -> None:
        if not self._store.in_transaction:
            self._store.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        if self._store.in_transaction:
            self._store.execute("COMMIT")

    def _forget(self, there: set[str]) -> None:
        """Files that are gone: a run that went on from an older step, or another run in this folder."""
        gone = [row for row in self._store.execute("SELECT id, path FROM files") if row[1] not in there]
        for number, _ in gone:
            self._drop(number)
        self._commit()

    def _drop(self, number: int) -> None:
        self._begin()
        self._store.execute("DELETE FROM episodes WHERE file=?", (number,))
        self._store.execute("DELETE FROM files WHERE id=?", (number,))

    def _judge(self) -> None:
        self._begin()
        read_judged(self._store, self.root)
        self._commit()

    def _rows(self, one: EpisodeFile) -> int:
        """How many were put in."""
        stamp = f"{_stamp(self.root, one.path)} {_stamp(self.root, one.beside)}"
        known = self._store.execute("SELECT id, stamp FROM files WHERE path=?", (one.path,)).fetchone()
        if known and known[1] == stamp:
            return 0
        if known:
            self._drop(known[0])
        self._begin()
        put = self._store.execute(
            "INSERT INTO files(path, stamp, set_path, kind, seed, step) VALUES(?,?,?,?,?,?)",
            (one.path, stamp, one.set, one.kind, one.seed, one.step),
        )
        number = put.lastrowid
        scores = _scores(self.root, one.beside)
        rows, unreadable = [], 0
        for line, start, raw in _lines(self.root, one.path):
            found = understood(raw)
            if found is None:
                unreadable += 1
                continue
            name, episode = found
            score = scores.get(name) or self._judged(one, line, episode)
            rows.append((number, line, start, len(raw), one.set, one.step, *_columns(episode), *score))
        marks = ",".join("?" * 18)
        self._store.executemany(
            "INSERT INTO episodes(file, line, start, size, set_path, step, sample, task, level, lang, needs, asks, "
            f"success, told, turns, reward, variance, score) VALUES({marks})",
            rows,
        )
        self._store.execute(
            "UPDATE files SET unreadable=?, (episodes, successes, asked, reward) = (SELECT count(*), total(success), "
            "total(asks > 0), total(reward) FROM episodes WHERE file=?) WHERE id=?",
            (unreadable, number, number),
        )
        return len(rows)

    def _judged(self, one: EpisodeFile, line: int, episode: Episode) -> tuple[float | None, float | None]:
        if one.kind != "training" or not episode.live:
            return None, None
        row = self._store.execute(
            "SELECT variance, overall FROM judged WHERE step=? AND line=? AND sample=? AND seed=coalesce(?, seed)",
            (one.step, line, episode.sample_id, one.seed),
        ).fetchone()
        return row or (None, None)

    def _search(self) -> None:
        """Text of what has a row and cannot be found yet."""
        self._tidy()
        waiting = self._store.execute("SELECT id, path FROM files WHERE searched=0 ORDER BY id").fetchall()
        done = 0
        for number, path in waiting:
            if self._stop.is_set():
                break
            self._begin()
            if self._store.execute("SELECT searched FROM files WHERE id=?", (number,)).fetchone() != (0,):
                continue  # another board of this folder was faster
            places = self._store.execute("SELECT line, id FROM episodes WHERE file=?", (number,))
            ids = dict(places.fetchall())
            texts = (
                (ids[line], text_of(found[1]))
                for line, _, raw in _lines(self.root, path)
                if line in ids and (found := understood(raw))
            )
            self._store.executemany("INSERT INTO words(rowid, text) VALUES(?,?)", texts)
            self._store.execute("UPDATE files SET searched=1 WHERE id=?", (number,))
            self._store.execute("INSERT OR REPLACE INTO facts VALUES('worded', ?)", (self._worded() + len(ids),))
            done += len(ids)
            if done >= SMALL:
                self._commit()
                done = 0
        self._commit()

    def _tidy(self) -> None:
        """Text of rows that are gone stays in the index until there is more of it than of the others."""
        live = self._store.execute("SELECT count(*) FROM episodes").fetchone()[0]
        if self._worded() > 2 * live + SMALL:
            self._begin()
            self._store.execute("INSERT INTO words(words) VALUES('delete-all')")
            self._store.execute("UPDATE files SET searched=0")
            self._store.execute("INSERT OR REPLACE INTO facts VALUES('worded', 0)")
            self._commit()

    def _worded(self) -> int:
        """Texts that were put into the index."""
        row = self._store.execute("SELECT value FROM facts WHERE name='worded'").fetchone()
        return row[0] if row else 0


def understood(raw: bytes) -> tuple[str, Episode] | None:
    """Name and episode of a line, recorded or logged; None where it is neither."""
    try:
        if raw.startswith(b'{"id"'):
            found = _recorded.decode(raw)
            return found.id, found.episode
        return "", _episode.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def text_of(episode: Episode) -> str:
    """All that was said and thought. Two line ends after each message: a search never runs from one into the next, and
    every two characters have a third behind them."""
    parts = (part for turn in episode.turns for part in (turn.thought, turn.text) if part)
    return "".join(f"{part}\n\n" for part in (episode.sample_id, *parts))


def _columns(one: Episode) -> tuple[object, ...]:
    return (
        one.sample_id, one.task, one.level, one.lang, one.needs_clarification, one.asks, one.success, one.told,
        one.policy_turns, sum(one.reward.values()),
    )  # fmt: skip


def _lines(root: Path, path: str) -> Iterator[tuple[int, int, bytes]]:
    """Number from 0, place and bytes of each line."""
    try:
        handle = open_inside(root, path)
    except Outside:
        return
    start = 0
    with handle:
        for number, raw in enumerate(handle):
            yield number, start, raw
            start += len(raw)


def _scores(root: Path, path: str) -> dict[str, tuple[float | None, float | None]]:
    """What the judge said of recorded episodes, by their names."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for _, _, raw in _lines(root, path) if path else ():
        try:
            score = _score.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        if score.overall is not None:
            found[score.id] = (score.variance, score.overall)
    return found


def _stamp(root: Path, path: str) -> str:
    try:
        found = os.stat(root / path) if path else None
    except OSError:
        found = None
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ino}" if found else "-"
