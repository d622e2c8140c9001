"""The cache of votes: what a judge sent is on disk before anybody uses it.

One SQLite file in WAL mode. A reply is committed with a full sync. Notes whose loss is harmless (that a ledger line
exists) are committed without one: if the power goes, `accounts.recover` finds out again.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from ..core.errors import BadInput
from ..core.types import Record
from ..runtime.disk import RUN_AGAIN, disk, explain_disk_errors
from ..runtime.lock import NamedLocks
from .parse import BadReply, parse_scores
from .types import Ask, Reply, printable

TTL_SECONDS = 14 * 86400.0
BUSY_SECONDS = 30.0
_APPLICATION, _LAYOUT = 0x41534B47, 1
_TABLES = """
CREATE TABLE replies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_version TEXT NOT NULL,
  ask TEXT NOT NULL,
  reply TEXT NOT NULL,
  scoring TEXT NOT NULL,
  at REAL NOT NULL,
  owner TEXT NOT NULL,
  ledgered INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX replies_by_key ON replies (key);
CREATE INDEX replies_owed ON replies (owner) WHERE ledgered = 0;
"""
_COLUMNS = "id, ask, reply, scoring, at"
Sync = Literal["FULL", "NORMAL"]


class Stored(Record, frozen=True):
    """A reply as it lies in the cache, with what `parse` makes of it today."""

    id: int
    ask: Ask
    reply: Reply
    scoring: str
    """The scoring that paid for it."""
    at: float
    scores: dict[str, float]
    """Empty where the reply is bad."""
    why_bad: str


class Store:
    """Safe to use from several threads and several processes at once.

    Open it around `asyncio.run`, not inside: the loop ends only when the replies that had arrived are stored.
    """

    def __init__(self, path: Path, ttl: float = TTL_SECONDS, now: Callable[[], float] = time.time) -> None:
        self.path, self.ttl, self.now = path, ttl, now
        self.owner = f"owner-{uuid.uuid4().hex}"
        with explain_disk_errors(path, RUN_AGAIN):
            self._locks = NamedLocks(path.with_name(path.name + ".claims"))
            self._locks.sweep()
            with self._locks.holding("opening"):
                self._writer = _connect(path)
                self._reader = _connect(path)
                self._prepare()
            while not self._locks.acquire(self.owner):
                time.sleep(0)  # another process is sweeping and looks at it just now
        self._write_lock, self._read_lock = Lock(), Lock()
        self._refusal: BadInput | None = None

    def get(self, ask: Ask) -> Stored | None:
        """The newest reply to that ask that is a vote and has not expired."""
        rows = self.read(
            "SELECT id, reply, scoring, at FROM replies WHERE key = ? AND at > ? AND NOT dropped ORDER BY id DESC",
            (ask.key, self.now() - self.ttl),
        )
        votes = (_stored(id_, ask, reply, scoring, at) for id_, reply, scoring, at in rows)
        return next((vote for vote in votes if not vote.why_bad), None)

    def newest(self) -> int:
        """The number of the last reply that came, to anybody's ask; 0 where there is none."""
        return int(self.read("SELECT coalesce(max(id), 0) FROM replies")[0][0])

    def tried(self, ask: Ask) -> int:
        """How many replies to that ask are stored, of any kind."""
        return int(self.read("SELECT count(*) FROM replies WHERE key = ?", (ask.key,))[0][0])

    def put(self, ask: Ask, reply: Reply, scoring: str) -> Stored:
        """On disk for good when this returns, be it a vote or a bad reply."""
        at = self.now()
        # The standard library's JSON takes whatever a server may send: lone surrogates, numbers of any size.
        raw = json.dumps(msgspec.structs.asdict(reply))
        row = (ask.key, ask.provider, ask.model, ask.prompt_version, _text(ask), raw, scoring, at, self.owner)
        try:
            with self.writing("FULL") as connection:
                id_ = connection.execute(
                    "INSERT INTO replies (key, provider, model, prompt_version, ask, reply, scoring, at, owner)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                ).lastrowid
        except BadInput as refusal:
            self._refusal = refusal
            raise
        assert id_ is not None, "an INSERT that succeeded has a row"
        return _stored(id_, ask, raw, scoring, at)

    def claim(self, key: str) -> bool:
        """Whether the vote is now this caller's to ask for. A claim ends with `release` or with the process.

        After a reply could not be stored no more claims are given: nobody is to pay for what cannot be kept.
        """
        if self._refusal is not None:
            raise self._refusal
        with explain_disk_errors(self.path, RUN_AGAIN):
            return self._locks.acquire(key)

    def release(self, key: str) -> None:
        with explain_disk_errors(self.path, RUN_AGAIN):
            self._locks.release(key)

    def owed(self) -> list[Stored]:
        """Replies without a ledger line whose process is gone. A living process writes its own lines."""
        owners = [owner for (owner,) in self.read("SELECT DISTINCT owner FROM replies WHERE ledgered = 0")]
        gone = [owner for owner in owners if not self._locks.is_held(owner)]
        query = f"SELECT {_COLUMNS} FROM replies WHERE ledgered = 0 AND owner = ? ORDER BY id"
        return [from_row(row) for owner in gone for row in self.read(query, (owner,))]

    def mark_ledgered(self, ids: Iterable[int]) -> None:
        """Only after the ledger has synced the lines. A reply that was invalidated meanwhile can go now."""
        marked = [(id_,) for id_ in ids]
        with self.writing("NORMAL") as connection:
            connection.executemany("UPDATE replies SET ledgered = 1 WHERE id = ?", marked)
            connection.executemany("DELETE FROM replies WHERE id = ? AND dropped", marked)

    @contextmanager
    def recovering(self) -> Iterator[None]:
        """One process at a time settles what is owed, or two would write the same lines."""
        with self._locks.holding("recovery"):
            yield

    def read(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._read_lock, explain_disk_errors(self.path, RUN_AGAIN):
            return self._reader.execute(query, values).fetchall()

    @contextmanager
    def writing(self, sync: Sync) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or after any error nothing of it."""
        with self._write_lock, explain_disk_errors(self.path, RUN_AGAIN):
            self._writer.execute(f"PRAGMA synchronous = {sync}")
            with _transaction(self._writer):
                yield self._writer

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()
            self._locks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _prepare(self) -> None:
        """Makes the tables of a new file; refuses a file that is something else."""
        application, layout = (self._value(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        if (application, layout) != (_APPLICATION, _LAYOUT):
            if application == _APPLICATION:
                raise BadInput(
                    f"a score cache of layout {layout}; this version reads layout {_LAYOUT}",
                    where=str(self.path),
                    remedy="move it away, a new one is made",
                )
            if self._value("SELECT count(*) FROM sqlite_schema"):
                raise BadInput("an SQLite file, but no score cache", where=str(self.path), remedy="choose another path")
            self._value("PRAGMA journal_mode = WAL")
            with _transaction(self._writer):
                for statement in _TABLES.split(";"):
                    self._writer.execute(statement)
                self._writer.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._writer.execute(f"PRAGMA user_version = {_LAYOUT}")

    def _value(self, query: str) -> Any:
        return self._writer.execute(query).fetchone()[0]


def from_row(row: tuple[Any, ...]) -> Stored:
    """A row of `id, ask, reply, scoring, at`."""
    id_, ask, reply, scoring, at = row
    return _stored(id_, msgspec.json.decode(ask, type=Ask), reply, scoring, at)


def _stored(id_: int, ask: Ask, raw: str, scoring: str, at: float) -> Stored:
    reply = Reply(**json.loads(raw))
    try:
        return Stored(id_, ask, reply, scoring, at, parse_scores(reply.text, ask.dimensions), "")
    except BadReply as bad:
        return Stored(id_, ask, reply, scoring, at, {}, printable(str(bad)))


def _text(ask: Ask) -> str:
    return msgspec.json.encode(ask).decode()


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        disk.commit(connection)
    except BaseException:
        # Some errors (a full disk) have SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
