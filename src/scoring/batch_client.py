"""Votes through a provider's Batch API: `askgate score --batch`.

`BatchClient` has the interface of `JudgeClient`, so `Judge` handles votes, cache and ledger as usual. Requests are
collected until no scoring can continue without a reply, and are then sent as one batch.

Nothing is paid for twice, whenever the process dies. Each of these is on disk before the next step: the requests, the
id of the uploaded file, the id of the batch. A batch whose id was lost is found in the provider's list by its file or
by its name in the metadata. A request is marked as done in the transaction that stores its reply, so results that were
not stored are downloaded again. While a request waits in a batch, no other run asks for that vote (`store.fetch`).
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, Self

import msgspec
from pydantic import SecretStr

from ..config.judge_config import LimitsSection
from ..core.errors import BadInput
from .batch_api import ENDED, MAX_BYTES, MAX_REQUESTS, BatchApi, why_failed
from .ledger import Ledger
from .prompt import request_body
from .providers import Provider, address
from .store import Store, Stored
from .types import BatchEntry, CallFailed, InCache, Reply, VoteRequest, printable, timestamp

SETTLE_S = 0.05
"""A batch is created when no request has come for this long."""
FIRST_POLL_S = 1.0
"""Wait before the second poll of a batch. It doubles with every poll, up to `batch_poll_s`, so that a batch is seen
unfinished for at least half of its time."""
ONE_AT_A_TIME = "batch"
WAITING, FAILED = 0, 2
"""States of a request (`done`); 1: its reply is stored."""


class BatchStore(Store):
    """The cache of a run with batches. Votes are locked by their rows in `batch_votes`, not by lock files."""

    def lock_batches(self) -> None:
        """Lets only one process at a time send batches. The end of the process unlocks."""
        self._asked: set[str] = set()
        if not super().acquire(ONE_AT_A_TIME):
            raise BadInput(
                "another `askgate score --batch` uses this cache",
                where=str(self.path),
                remedy="wait until it has ended, or end it; a batch that it created is not lost",
            )

    def acquire(self, key: str) -> bool:
        if self._refusal is not None:
            raise self._refusal
        is_free = key not in self._asked
        self._asked.add(key)
        return is_free

    def release(self, key: str) -> None:
        self._asked.discard(key)

    def is_held(self, key: str) -> bool:
        """Whether another process is asking for that vote in a single call."""
        return self._locks.is_held(key)

    def batch_of(self, key: str) -> str:
        return ""  # the votes that wait are our own


@dataclass(frozen=True)
class _Batch:
    """A row of the table `batches`."""

    name: str
    file: str
    batch: str
    at: float
    created: float
    seen_open: float


@dataclass
class _Waiting:
    """A vote that a scoring waits for."""

    request: VoteRequest
    bad_replies: int
    reply: asyncio.Future[Reply | Exception]
    """Gets failures as results: asyncio would log an exception that nobody waits for any more."""


class BatchClient:
    """Client of a judge by batches. Its concurrent votes are limited only by the size of a batch."""

    votes_at_once = MAX_REQUESTS
    longest_s = inf

    def __init__(
        self,
        provider: Provider,
        key: SecretStr | None,
        limits: LimitsSection,
        store: BatchStore,
        ledger: Ledger,
        keep: Callable[[Stored], None],
        tell: Callable[[str], None],
    ) -> None:
        """`keep` records a reply that no scoring of this run waits for."""
        self.provider, self.concurrency = provider, limits.concurrency_min
        self.on_wait: Callable[[str], None] = lambda state: None
        """Called at every poll of a batch, with its state and the time left in words."""
        self._api = BatchApi(provider, key)
        self._limits, self._store, self._ledger, self._keep, self._tell = limits, store, ledger, keep, tell
        self._waiting: dict[str, _Waiting] = {}
        self._asked = 0
        self._delivered: set[str] = set()
        self._not_at_provider: set[str] = set()
        """Names of batches whose creation was not tried, or was refused."""
        self._created_here: set[str] = set()
        """Names of batches that this run created, and so polled from their beginning."""
        self._failures: Counter[str] = Counter()
        """Number of consecutive failed calls by batch."""
        self._pause_s = min(FIRST_POLL_S, limits.batch_poll_s)
        self._broken: Exception | None = None
        store.lock_batches()

    async def __aenter__(self) -> Self:
        if waiting := self._store.read("SELECT count(*) FROM batch_votes WHERE done = 0")[0][0]:
            self._tell(f"{waiting} votes wait in batches of an earlier run; they are collected, not asked for again")
        self._task = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._api.close()
        if left := len({batch.name for batch in self._open()}):
            self._tell(f"{left} batches go on at the provider; run the same command again to collect them")

    async def ask(
        self,
        request: VoteRequest,
        bad_replies: int = 0,
        on_failure: Callable[[CallFailed], None] = lambda failure: None,
    ) -> Reply:
        """The reply from a batch. A request without one is sent in another batch. Raises CallFailed in the end."""
        for attempt in range(1, self._limits.tries + 1):
            if self._broken:
                raise self._broken
            waiting = _Waiting(request, bad_replies, asyncio.get_running_loop().create_future())
            self._waiting[request.key] = waiting
            self._asked += 1
            try:
                outcome = await waiting.reply
            finally:
                self._waiting.pop(request.key, None)
            if isinstance(outcome, Reply):
                return outcome
            if not isinstance(outcome, CallFailed):
                raise outcome
            failure = CallFailed(outcome.trouble, outcome.detail)
            on_failure(failure)
            if attempt == self._limits.tries or failure.trouble == "refused":
                raise failure
        raise AssertionError("the last attempt returns or raises")

    async def _serve(self) -> None:
        """Sends and collects batches until the client is closed. An error ends every scoring that waits."""
        try:
            while True:
                await self._settle()
                if not await self._step():
                    await asyncio.sleep(self._pause_s)
                    self._pause_s = min(2 * self._pause_s, self._limits.batch_poll_s)
        except Exception as error:
            self._broken = error
            for one in self._waiting.values():
                if not one.reply.done():
                    one.reply.set_result(error)

    async def _settle(self) -> None:
        """Waits until no new requests come and all delivered replies are stored."""
        asked_before = -1
        while asked_before != self._asked or any(batch.name in self._delivered for batch in self._open()):
            asked_before = self._asked
            await asyncio.sleep(SETTLE_S)

    async def _step(self) -> bool:
        """Queues waiting requests and advances each open batch once. Returns whether something changed."""
        changed = self._enqueue()
        for batch in self._open():
            try:
                changed |= await self._advance(batch)
                del self._failures[batch.name]
            except CallFailed as failure:
                self._note_failure(batch, failure)
        if changed:
            self._pause_s = min(FIRST_POLL_S, self._limits.batch_poll_s)
        return changed

    def _note_failure(self, batch: _Batch, failure: CallFailed) -> None:
        """Raises BadInput after a refusal or too many transient failures in a row; else the next step tries again."""
        self._failures[batch.name] += 1
        never_created = not batch.file or batch.name in self._not_at_provider
        if failure.trouble == "refused" and never_created:
            with self._store.writing("FULL") as connection:
                connection.execute("DELETE FROM batch_votes WHERE name = ?", (batch.name,))
        elif failure.trouble != "refused" and self._failures[batch.name] < self._limits.tries:
            return
        remedy = "run the same command again; nothing is asked for twice"
        if failure.trouble == "refused" and not never_created:
            remedy = "set the SCORER_API_KEY that created it, or give its votes up: askgate scorecache forget-batches"
        raise BadInput(f"batch {batch.batch or batch.name}: {failure}", where=self.provider.name, remedy=remedy)

    def _enqueue(self) -> bool:
        """Stores the waiting requests that are in no batch yet as a new batch of a size that the providers accept.

        A request whose reply another process has stored meanwhile ends. Returns whether something changed.
        """
        queued = {key for (key,) in self._store.read("SELECT key FROM batch_votes WHERE done = 0")}
        lines: list[tuple[VoteRequest, str]] = []
        size, cached = 0, False
        for key, one in self._waiting.items():
            if key in queued or one.reply.done():
                continue
            if self._store.get(one.request):
                one.reply.set_result(InCache())
                cached = True
                continue
            if self._store.is_held(key):
                continue
            line = self._api.input_line(key, request_body(self.provider, one.request, one.bad_replies))
            if len(lines) == MAX_REQUESTS or size + len(line.encode()) >= MAX_BYTES:
                break  # the next step queues the rest
            lines.append((one.request, line))
            size += len(line.encode()) + 1
        if not lines:
            return cached
        name = f"askgate-{uuid.uuid4().hex}"
        rows = [(name, request.key, msgspec.json.encode(request).decode(), line) for request, line in lines]
        with self._store.writing("FULL") as connection:
            connection.execute(
                "INSERT INTO batches (name, provider, server, at) VALUES (?, ?, ?, ?)",
                (name, self.provider.name, self.provider.server, self._store.now()),
            )
            connection.executemany("INSERT INTO batch_votes (name, key, ask, request) VALUES (?, ?, ?, ?)", rows)
        # Leave out votes that another process began to ask for before these rows existed.
        if held := [(name, request.key) for request, _ in lines if self._store.is_held(request.key)]:
            with self._store.writing("FULL") as connection:
                connection.executemany("DELETE FROM batch_votes WHERE name = ? AND key = ?", held)
        self._not_at_provider.add(name)
        return True

    def _open(self) -> list[_Batch]:
        """Batches of this judge with requests that wait, oldest first."""
        rows = self._store.read(
            "SELECT name, file, batch, at, created, seen_open FROM batches WHERE provider = ? AND server = ? AND EXISTS"
            " (SELECT 1 FROM batch_votes WHERE batch_votes.name = batches.name AND done = 0) ORDER BY at",
            (self.provider.name, self.provider.server),
        )
        return [_Batch(*row) for row in rows]

    async def _advance(self, batch: _Batch) -> bool:
        """The next step of a batch. Returns whether it changed."""
        if batch.name in self._delivered:
            return False
        if not batch.file:
            lines = self._store.read("SELECT request FROM batch_votes WHERE name = ? AND done = 0", (batch.name,))
            self._set(batch, file=await self._api.upload(batch.name, [line for (line,) in lines]))
            return True
        if not batch.batch:
            made = await self._find_or_create(batch)
            now = self._store.now()
            self._set(batch, batch=str(made.get("id", "")), created=now, seen_open=now)
            return True
        found = await self._api.get(batch.batch)
        if found.get("status") not in ENDED:
            self._set(batch, seen_open=self._store.now())
            self.on_wait(_progress(found, self._store.now() - batch.created))
            return False
        await self._collect(batch, found)
        return True

    async def _find_or_create(self, batch: _Batch) -> dict[str, Any]:
        """Creates a batch, unless the provider has it already and only its id was lost."""
        if batch.name not in self._not_at_provider:
            for wait_s in (self._pause_s, 0.0):  # the provider's list may lag behind
                if found := await self._api.find(batch.file, batch.name):
                    return found
                await asyncio.sleep(wait_s)
        self._not_at_provider.discard(batch.name)
        try:
            made = await self._api.create(batch.file, batch.name)
        except CallFailed as failure:
            if failure.trouble == "refused":
                self._not_at_provider.add(batch.name)
            raise
        self._created_here.add(batch.name)
        return made

    def _set(self, batch: _Batch, /, **values: str | float) -> None:
        """Updates the row of a batch, which must be on disk before its next step."""
        names = ", ".join(f"{name} = ?" for name in values)
        with self._store.writing("FULL") as connection:
            connection.execute(f"UPDATE batches SET {names} WHERE name = ?", (*values.values(), batch.name))

    async def _collect(self, batch: _Batch, found: dict[str, Any]) -> None:
        """Gives the results of an ended batch to the scorings that wait for them, and stores all others."""
        outcomes, unused = await self._api.outcomes(found)
        rows = self._store.read("SELECT key, ask, done FROM batch_votes WHERE name = ?", (batch.name,))
        unknown = len(outcomes.keys() - {key for key, _, _ in rows})
        if unused or unknown:
            self._tell(f"batch {batch.batch}: {unused} lines repeated or damaged, {unknown} with an unknown custom_id")
        status = str(found.get("status"))
        ended = BatchEntry(
            batch=printable(batch.batch),
            provider=self.provider.name,
            server=address(self.provider.server),
            requests=len(rows),
            replies=sum(isinstance(one, Reply) for one in outcomes.values()),
            status=printable(status),
            seconds=self._seconds(batch, found),
            at=timestamp(),
        )
        self._ledger.append([ended])
        if status == "failed":
            no_result = CallFailed("refused", f"the batch failed: {why_failed(found)}")
        else:
            no_result = CallFailed("timeout", f"the batch ended ({status}) without this request")
        pending = [(key, request) for key, request, done in rows if done == WAITING]
        failed = []
        for key, request in pending:
            outcome, waiting = outcomes.get(key, no_result), self._waiting.get(key)
            if isinstance(outcome, CallFailed):
                failed.append((batch.name, key))
            elif waiting is None or waiting.reply.done():
                self._keep(self._store.put(msgspec.json.decode(request, type=VoteRequest), outcome, batch.name))
        with self._store.writing("FULL") as connection:
            connection.executemany(f"UPDATE batch_votes SET done = {FAILED} WHERE name = ? AND key = ?", failed)
        self._delivered.add(batch.name)
        for key, _ in pending:
            if (waiting := self._waiting.get(key)) and not waiting.reply.done():
                waiting.reply.set_result(outcomes.get(key, no_result))

    def _seconds(self, batch: _Batch, found: dict[str, Any]) -> float:
        """Seconds for which the batch was seen unfinished.

        A batch that this run did not create may have ended while no run polled it: then the time that the provider
        states, but no longer than since its requests were written.
        """
        seen = max(0.0, batch.seen_open - batch.created)
        if batch.name in self._created_here:
            return seen
        begun, ended = found.get("created_at"), found.get(f"{found.get('status')}_at")
        stated = float(ended - begun) if isinstance(begun, int) and isinstance(ended, int) else 0.0
        return max(seen, min(stated, self._store.now() - batch.at))


def _progress(found: dict[str, Any], seconds: float) -> str:
    """The state of a batch that was created so many seconds ago, with the time left.

    >>> _progress({"status": "in_progress", "request_counts": {"total": 90, "completed": 29, "failed": 1}}, 600)
    'batch in_progress: 30 of 90 requests, about 20 min left'
    >>> _progress({"status": "validating"}, 5)
    'batch validating'
    """
    counts: Any = found.get("request_counts")
    with suppress(TypeError, AttributeError, KeyError, ValueError):
        done, total = int(counts["completed"]) + int(counts.get("failed", 0)), int(counts["total"])
        left = f", about {seconds / done * (total - done) / 60:.0f} min left" if done else ""
        return f"batch {found['status']}: {done} of {total} requests{left}"
    return f"batch {found.get('status')}"


def forget_batches(store: Store) -> int:
    """Discards the votes that wait in batches and returns their number.

    The next run requests them, and pays for them, again.
    """
    with store.writing("FULL") as connection:
        return connection.execute(f"UPDATE batch_votes SET done = {FAILED} WHERE done = 0").rowcount
