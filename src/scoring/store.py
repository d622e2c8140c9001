"""The score cache: a judge's reply is on disk before anybody uses it, and no vote is paid for twice.

One SQLite file in WAL mode. A reply is committed with a full sync. The mark that a reply has its ledger line is
committed without one, because its loss is harmless: after a power cut `judge.recover` compares with the ledger.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Self

import msgspec

from askgate_env.types import Record

from ..core.disk import disk
from ..core.errors import BadInput
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import POLL_SECONDS, NamedLocks
from .types import CallFailed, Reply, VoteRequest, printable
from .votes import YES_NO, BadReply, parse_answers, parse_scores, without_thought

DAY_S = 86400.0
BUSY_SECONDS = 30.0
_APPLICATION, _LAYOUT = 0x41534B47, 1
_TABLES = Path(__file__).with_name("score_cache.sql").read_text(encoding="utf-8")
_COLUMNS = "id, ask, reply, scoring, at"
_PAGE = 500
Sync = Literal["FULL", "NORMAL"]


class Stored(Record, frozen=True):
    """A reply in the cache, with the scores that today's parser reads from it."""

    id: int
    request: VoteRequest
    reply: Reply
    scoring: str
    """Id of the scoring that paid for it."""
    at: float
    scores: dict[str, float]
    """Empty if the reply is bad."""
    why_bad: str


class Store:
    """The cache file. Safe to use from several threads and processes at once.

    Open it around `asyncio.run`, not inside: the loop ends only when all replies that arrived are stored.
    """

    def __init__(self, path: Path, ttl_days: float, now: Callable[[], float] = time.time) -> None:
        self.path, self._ttl_s, self.now = path, ttl_days * DAY_S, now
        self.owner = f"owner-{uuid.uuid4().hex}"
        with explain_disk_errors(path, RUN_AGAIN):
            self._locks = NamedLocks(path.with_name(path.name + ".claims"))
            self._locks.sweep()
            with self._locks.holding("opening"):
                self._writer = _connect(path)
                self._reader = _connect(path)
                self._prepare()
            while not self._locks.acquire(self.owner):
                time.sleep(0)  # another process is sweeping and holds it for a moment
        self._write_lock, self._read_lock = Lock(), Lock()
        self._refusal: BadInput | None = None

    def get(self, request: VoteRequest) -> Stored | None:
        """The newest valid reply to that request that has not expired."""
        rows = self.read(
            "SELECT id, reply, scoring, at FROM replies WHERE key = ? AND at > ? AND NOT dropped ORDER BY id DESC",
            (request.key, self.oldest),
        )
        replies = (_stored(id_, request, reply, scoring, at) for id_, reply, scoring, at in rows)
        return next((stored for stored in replies if not stored.why_bad), None)

    @property
    def oldest(self) -> float:
        """The time before which replies have expired."""
        return self.now() - self._ttl_s

    def newest(self) -> int:
        """The row id of the last reply to any request; 0 if there is none."""
        return int(self.read("SELECT coalesce(max(id), 0) FROM replies")[0][0])

    def tried(self, request: VoteRequest) -> int:
        """Number of stored replies to that request, bad ones included."""
        return int(self.read("SELECT count(*) FROM replies WHERE key = ?", (request.key,))[0][0])

    def put(self, request: VoteRequest, reply: Reply, scoring: str) -> Stored:
        """Stores a reply, good or bad, and syncs it."""
        at = self.now()
        # The standard library's JSON, because it can write whatever a server sends: lone surrogates, huge numbers.
        raw = json.dumps(msgspec.structs.asdict(reply))
        encoded = msgspec.json.encode(request).decode()
        columns = (request.key, request.provider, request.model, request.prompt_version)
        row = (*columns, encoded, raw, scoring, at, self.owner)
        try:
            with self.writing("FULL") as connection:
                id_ = connection.execute(
                    "INSERT INTO replies (key, provider, model, prompt_version, ask, reply, scoring, at, owner)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                ).lastrowid
                # In the same transaction: results of a batch that are not stored yet are downloaded again.
                connection.execute("UPDATE batch_votes SET done = 1 WHERE key = ? AND done = 0", (request.key,))
        except BadInput as refusal:
            self._refusal = refusal
            raise
        assert id_ is not None, "an INSERT that succeeded has a row"
        return _stored(id_, request, raw, scoring, at)

    def acquire(self, key: str) -> bool:
        """Locks a vote, so that only this caller asks for it; False if it is locked already.

        `release` or the end of the process unlocks it. After a reply could not be stored this raises BadInput: no
        call is made whose reply cannot be kept.
        """
        if self._refusal is not None:
            raise self._refusal
        with explain_disk_errors(self.path, RUN_AGAIN):
            return self._locks.acquire(key)

    def batch_of(self, key: str) -> str:
        """The batch in which a request for that vote waits; empty if none does."""
        found = self.read("SELECT name FROM batch_votes WHERE key = ? AND done = 0", (key,))
        return str(found[0][0]) if found else ""

    def release(self, key: str) -> None:
        with explain_disk_errors(self.path, RUN_AGAIN):
            self._locks.release(key)

    def unledgered(self) -> list[Stored]:
        """Replies without a ledger line whose process has ended. A running process writes its own lines."""
        owners = [owner for (owner,) in self.read("SELECT DISTINCT owner FROM replies WHERE ledgered = 0")]
        gone = [owner for owner in owners if not self._locks.is_held(owner)]
        query = f"SELECT {_COLUMNS} FROM replies WHERE ledgered = 0 AND owner = ? ORDER BY id"
        return [from_row(row) for owner in gone for row in self.read(query, (owner,))]

    def mark_ledgered(self, ids: Iterable[int]) -> None:
        """Marks replies whose ledger lines are synced. Those that were invalidated in the meantime are deleted now."""
        marked = [(id_,) for id_ in ids]
        with self.writing("NORMAL") as connection:
            connection.executemany("UPDATE replies SET ledgered = 1 WHERE id = ?", marked)
            connection.executemany("DELETE FROM replies WHERE id = ? AND dropped", marked)

    def recovering(self) -> AbstractContextManager[None]:
        """Lock for recovery: two processes at once would write the same ledger lines."""
        return self._locks.holding("recovery")

    def read(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._read_lock, explain_disk_errors(self.path, RUN_AGAIN):
            return self._reader.execute(query, values).fetchall()

    @contextmanager
    def writing(self, sync: Sync) -> Iterator[sqlite3.Connection]:
        """One transaction, rolled back after any error."""
        with self._write_lock, explain_disk_errors(self.path, RUN_AGAIN):
            self._writer.execute(f"PRAGMA synchronous = {sync}")
            with _transaction(self._writer):
                yield self._writer

    def close(self, *_: object) -> None:
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()
            self._locks.close()

    __exit__ = close

    def __enter__(self) -> Self:
        return self

    def _prepare(self) -> None:
        """Creates the tables of a new file. Refuses a file that is no score cache of this layout."""
        application, layout = (self._value(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        if application == _APPLICATION and layout != _LAYOUT:
            raise BadInput(
                f"a score cache of layout {layout}; this version reads layout {_LAYOUT}",
                where=str(self.path),
                remedy="move it away, a new one is made",
            )
        if application != _APPLICATION:
            if self._value("SELECT count(*) FROM sqlite_schema"):
                raise BadInput("an SQLite file, but no score cache", where=str(self.path), remedy="choose another path")
            self._value("PRAGMA journal_mode = WAL")
        # A cache of a version without batches lacks their tables.
        if not self._value("SELECT count(*) FROM sqlite_schema WHERE name = 'batch_votes'"):
            with _transaction(self._writer):
                for statement in _TABLES.split(";"):
                    self._writer.execute(statement)
                self._writer.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._writer.execute(f"PRAGMA user_version = {_LAYOUT}")

    def _value(self, query: str) -> Any:
        return self._writer.execute(query).fetchone()[0]


def read_replies(path: Path, keys: Iterable[str]) -> dict[str, list[Stored]]:
    """Stored replies by key, expired ones included. The file is opened read-only: evidence must not change."""
    if not path.is_file():
        raise BadInput(
            "the judge's replies are not here", where=str(path), remedy="put the file back, or score again live"
        )
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            query = f"SELECT {_COLUMNS} FROM replies WHERE key = ?"
            return {key: [from_row(row) for row in connection.execute(query, (key,))] for key in keys}
    except sqlite3.Error as error:
        raise BadInput(f"cannot be read ({error})", where=str(path), remedy="put the file back as it was") from None


def from_row(row: tuple[Any, ...]) -> Stored:
    """Decodes a row of `id, ask, reply, scoring, at`."""
    id_, request, reply, scoring, at = row
    return _stored(id_, msgspec.json.decode(request, type=VoteRequest), reply, scoring, at)


def _stored(id_: int, request: VoteRequest, raw: str, scoring: str, at: float) -> Stored:
    """A row with its reply parsed by today's parser."""
    reply = Reply(**json.loads(raw))
    if not request.dimensions:
        return Stored(id_, request, reply, scoring, at, {}, "" if without_thought(reply.text) else "it is empty")
    parse = parse_answers if request.prompt_version.startswith(YES_NO) else parse_scores
    try:
        return Stored(id_, request, reply, scoring, at, parse(reply.text, request.dimensions), "")
    except BadReply as bad:
        return Stored(id_, request, reply, scoring, at, {}, printable(str(bad)))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        disk.commit(connection)
    except BaseException:
        # After some errors, such as a full disk, SQLite has rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_OTHER_PROCESS_HANGS = (
    "another process has been asking for this vote, and for {:g} s no reply came. What to do: see whether an askgate"
    " is stopped (`ps` shows it with T), end it or resume it, then run the same command again"
)
_IN_A_BATCH = (
    "a request for this vote waits in batch {} and is paid for there. What to do: collect it with"
    " `askgate score --batch`, or give it up with `askgate scorecache forget-batches`"
)


async def fetch(
    store: Store,
    request: VoteRequest,
    scoring: str,
    call: Callable[[VoteRequest], Awaitable[Reply]],
    patience: float = inf,
) -> tuple[Stored, bool]:
    """The reply to `request`, from the cache or from the judge, and whether this call paid for it.

    While another process asks for the same vote, this waits for its reply. A paid reply may be bad; then call `fetch`
    again. The cache never answers with a bad reply.

    `patience`: maximum seconds of a call with its retries. If another process holds the vote and the cache got no reply
    at all for that long, that process hangs: a stopped process keeps its locks.
    """
    newest, deadline = None, time.monotonic() + patience
    while True:
        if (cached := store.get(request)) is not None:
            return cached, False
        if store.acquire(request.key):
            break
        if time.monotonic() > deadline:
            # The call may wait for its turn in the other process. As long as replies come, that process is alive.
            last, newest = newest, store.newest()
            if newest == last:
                raise CallFailed("timeout", _OTHER_PROCESS_HANGS.format(patience))
            deadline = time.monotonic() + patience
        await asyncio.sleep(POLL_SECONDS)
    try:
        # The reply may have arrived between `get` and `acquire`.
        if (cached := store.get(request)) is not None:
            store.release(request.key)
            return cached, False
        if batch := store.batch_of(request.key):
            raise CallFailed("refused", _IN_A_BATCH.format(batch))
        reply = await call(request)
    except BaseException:
        store.release(request.key)
        raise
    # In a thread, because the sync takes milliseconds and other calls continue meanwhile. Shielded, so that a reply
    # that has arrived is stored even if everything is being cancelled.
    kept = asyncio.get_running_loop().run_in_executor(None, _keep, store, request, reply, scoring)
    return await asyncio.shield(kept), True


def _keep(store: Store, request: VoteRequest, reply: Reply, scoring: str) -> Stored:
    try:
        return store.put(request, reply, scoring)
    finally:
        store.release(request.key)


class CacheGroup(Record, frozen=True):
    """Number of replies of one judge with one prompt version."""

    provider: str
    model: str
    prompt_version: str
    rows: int


class CacheStat(Record, frozen=True):
    """Counts of the cache. `bad`: unexpired replies that are no votes. `owed`: replies without a ledger line yet."""

    rows: int
    groups: tuple[CacheGroup, ...]
    expired: int
    bad: int
    owed: int
    bytes: int


def stat(store: Store) -> CacheStat:
    rows, expired, owed = store.read(
        "SELECT count(*), coalesce(sum(at <= ?), 0), coalesce(sum(NOT ledgered), 0) FROM replies WHERE NOT dropped",
        (store.oldest,),
    )[0]
    groups = store.read(
        "SELECT provider, model, prompt_version, count(*) FROM replies WHERE NOT dropped"
        " GROUP BY provider, model, prompt_version ORDER BY provider, model, prompt_version"
    )
    files = (store.path, store.path.with_name(store.path.name + "-wal"))
    return CacheStat(
        rows=rows,
        groups=tuple(CacheGroup(*group) for group in groups),
        expired=expired,
        bad=sum(1 for _ in bad_replies(store)),
        owed=owed,
        bytes=sum(file.stat().st_size for file in files if file.exists()),
    )


def bad_replies(store: Store) -> Iterator[Stored]:
    """Unexpired bad replies, oldest first. They are kept, because a better parser may be able to read them."""
    last, oldest = 0, store.oldest
    # Page by page: a large cache need not fit into memory.
    while rows := store.read(
        f"SELECT {_COLUMNS} FROM replies WHERE id > ? AND at > ? AND NOT dropped ORDER BY id LIMIT ?",
        (last, oldest, _PAGE),
    ):
        yield from (stored for stored in map(from_row, rows) if stored.why_bad)
        last = rows[-1][0]


def invalidate(store: Store, spec: str) -> int:
    """Removes the replies that the spec names and returns their number.

    A reply without a ledger line is hidden now and deleted when it has its line.
    """
    where, values = _condition(spec, store.now())
    with store.writing("FULL") as connection:
        deleted = connection.execute(f"DELETE FROM replies WHERE {where} AND ledgered AND NOT dropped", values).rowcount
        hidden = connection.execute(f"UPDATE replies SET dropped = 1 WHERE {where} AND NOT dropped", values).rowcount
    return deleted + hidden


_SPEC_SQL = {name: f"{name} = ?" for name in ("provider", "model", "prompt_version")} | {"older_than": "at <= ?"}
_AGE = re.compile(r"(\d{1,6})([mhd])")
_SECONDS = {"m": 60.0, "h": 3600.0, "d": DAY_S}


def _condition(spec: str, now: float) -> tuple[str, tuple[Any, ...]]:
    """The SQL condition of a spec, and its values: all parts must hold."""
    parts: dict[str, str | float] = {}
    for part in spec.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in parts:
            raise _bad_spec(f"{name} is named twice", spec)
        if not value:
            raise _bad_spec(f"{name or 'the spec'} has no value", spec)
        if name not in _SPEC_SQL:
            raise _bad_spec(f"no field is called {name}", spec)
        parts[name] = value
    if older_than := parts.get("older_than"):
        if not (age := _AGE.fullmatch(str(older_than))):
            raise _bad_spec(f"older_than={older_than} is no age", spec)
        parts["older_than"] = now - int(age[1]) * _SECONDS[age[2]]
    return " AND ".join(_SPEC_SQL[name] for name in parts), tuple(parts.values())


def _bad_spec(what: str, spec: str) -> BadInput:
    example = "provider=deepseek_r1,prompt_version=judge-1,older_than=7d"
    return BadInput(what, where=f"--spec {spec}", remedy=f"write it like {example} (m, h or d)")
