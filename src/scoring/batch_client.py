"""Votes through a provider's Batch API: `askgate score --batch`.

`BatchClient` has the interface of `JudgeClient`, so votes, cache and ledger are the judge's own. Asks are collected
until no scoring can continue without a reply, and are sent as one batch.

Nothing is paid for twice, whenever the process dies. On disk are, each before the next step: the requests, the id of
the uploaded file, the id of the batch. A batch whose id was lost is found in the provider's list by its file or by its
name in the metadata. A request is done in the same transaction that stores its reply, so results that were not stored
are downloaded again. While a request waits in a batch, no other run asks for that vote (`store.fetch`).
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
from .batch_api import ENDED, MOST_BYTES, MOST_REQUESTS, BatchApi, why_failed
from .ledger import Ledger
from .prompt import request
from .providers import Provider, address
from .store import Store, Stored
from .types import Ask, BatchEntry, CallFailed, InCache, Reply, printable, timestamp

SETTLE_S = 0.05
"""No batch is created while asks still come within this time."""
FIRST_POLL_S = 1.0
"""Wait before the second look at a batch. It doubles with every look, up to `batch_poll_s`, so that a batch was seen
unfinished for at least half of its time."""
ONE_AT_A_TIME = "batch"
WAITING, FAILED = 0, 2
"""State of a request; 1: its reply is stored."""


class BatchStore(Store):
    """The cache of a run with batches. Votes are locked by their rows in `batch_votes`, not by lock files."""

    def lock_batches(self) -> None:
        """Only one process at a time sends batches. The end of the process unlocks."""
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
        free = key not in self._asked
        self._asked.add(key)
        return free

    def release(self, key: str) -> None:
        self._asked.discard(key)

    def is_held(self, key: str) -> bool:
        """Whether another process is asking for that vote in a call of its own."""
        return self._locks.is_held(key)

    def batch_of(self, key: str) -> str:
        return ""  # the votes that wait are our own


@dataclass(frozen=True)
class _Batch:
    """A row of `batches` with requests that wait."""

    name: str
    file: str
    batch: str
    at: float
    created: float
    seen_open: float


@dataclass
class _Waiting:
    """A vote that a scoring waits for."""

    ask: Ask
    again: int
    reply: asyncio.Future[Reply | Exception]
    """A failure is a result too: an exception that nobody waits for any more would be reported as an error."""


class BatchClient:
    """Answers asks out of batches. `votes_at_once` is a whole file of requests."""

    votes_at_once = MOST_REQUESTS
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
        """Gets the state of a batch with the time left, in words, at every look at it."""
        self._api = BatchApi(provider, key)
        self._limits, self._store, self._ledger, self._keep, self._tell = limits, store, ledger, keep, tell
        self._waiting: dict[str, _Waiting] = {}
        self._asked = 0
        self._delivered: set[str] = set()
        self._sure: set[str] = set()
        """Batches that cannot be at the provider: their creation was not tried, or was refused."""
        self._watched: set[str] = set()
        """Batches that this run created, and so looked at from their beginning."""
        self._failures: Counter[str] = Counter()
        """Failed requests in a row, by batch."""
        self._pause_s = min(FIRST_POLL_S, limits.batch_poll_s)
        self._broken: Exception | None = None
        store.lock_batches()

    async def __aenter__(self) -> Self:
        if waiting := self._store.read("SELECT count(*) FROM batch_votes WHERE done = 0")[0][0]:
            self._tell(f"{waiting} votes wait in batches of an earlier run; they are collected, not asked for again")
        self._server = asyncio.create_task(self._serve())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.cancel()
        await asyncio.gather(self._server, return_exceptions=True)
        await self._api.close()
        if left := len({batch.name for batch in self._open()}):
            self._tell(f"{left} batches go on at the provider; run the same command again to collect them")

    async def ask(
        self, ask: Ask, again: int = 0, on_failure: Callable[[CallFailed], None] = lambda failure: None
    ) -> Reply:
        """Raises CallFailed if no batch brought a reply. A request that its batch did not serve is sent again."""
        for attempt in range(1, self._limits.tries + 1):
            if self._broken:
                raise self._broken
            waiting = _Waiting(ask, again, asyncio.get_running_loop().create_future())
            self._waiting[ask.key] = waiting
            self._asked += 1
            try:
                outcome = await waiting.reply
            finally:
                self._waiting.pop(ask.key, None)
            if isinstance(outcome, Reply):
                return outcome
            if isinstance(outcome, CallFailed):
                outcome = CallFailed(outcome.trouble, outcome.detail)
                on_failure(outcome)
            if not isinstance(outcome, CallFailed) or attempt == self._limits.tries or outcome.trouble == "refused":
                raise outcome
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
        asked = -1
        while asked != self._asked or any(batch.name in self._delivered for batch in self._open()):
            asked = self._asked
            await asyncio.sleep(SETTLE_S)  # replies are being stored, and scorings continue with them

    async def _step(self) -> bool:
        """Sends what waits and looks once at each batch. Returns whether something changed."""
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
        """Transient failures are tried again after a pause; nothing is lost while a batch waits."""
        self._failures[batch.name] += 1
        is_nowhere = not batch.file or batch.name in self._sure
        if failure.trouble == "refused" and is_nowhere:
            with self._store.writing("FULL") as connection:
                connection.execute("DELETE FROM batch_votes WHERE name = ?", (batch.name,))
        elif failure.trouble != "refused" and self._failures[batch.name] < self._limits.tries:
            return
        remedy = "run the same command again; nothing is asked for twice"
        if failure.trouble == "refused" and not is_nowhere:
            remedy = "set the SCORER_API_KEY that created it, or give its votes up: askgate scorecache forget-batches"
        raise BadInput(f"batch {batch.batch or batch.name}: {failure}", where=self.provider.name, remedy=remedy)

    def _enqueue(self) -> bool:
        """Writes the requests that wait for no batch yet, in files of a size that the providers accept.

        An ask whose reply another process has stored meanwhile ends. Returns whether something changed.
        """
        queued = {key for (key,) in self._store.read("SELECT key FROM batch_votes WHERE done = 0")}
        lines: list[tuple[Ask, str]] = []
        size, cached = 0, False
        for key, one in self._waiting.items():
            if key in queued or one.reply.done():
                continue
            if self._store.get(one.ask):
                one.reply.set_result(InCache())
                cached = True
                continue
            if self._store.is_held(key):
                continue
            line = self._api.request(key, request(self.provider, one.ask, one.again))
            if len(lines) == MOST_REQUESTS or size + len(line.encode()) >= MOST_BYTES:
                break  # the rest comes with the next step
            lines.append((one.ask, line))
            size += len(line.encode()) + 1
        if not lines:
            return cached
        name = f"askgate-{uuid.uuid4().hex}"
        rows = [(name, ask.key, msgspec.json.encode(ask).decode(), line) for ask, line in lines]
        with self._store.writing("FULL") as connection:
            connection.execute(
                "INSERT INTO batches (name, provider, server, at) VALUES (?, ?, ?, ?)",
                (name, self.provider.name, self.provider.server, self._store.now()),
            )
            connection.executemany("INSERT INTO batch_votes (name, key, ask, request) VALUES (?, ?, ?, ?)", rows)
        # A call that another process began before these rows were there brings its own reply.
        if held := [(name, ask.key) for ask, _ in lines if self._store.is_held(ask.key)]:
            with self._store.writing("FULL") as connection:
                connection.executemany("DELETE FROM batch_votes WHERE name = ? AND key = ?", held)
        self._sure.add(name)
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
            made = await self._created(batch)
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

    async def _created(self, batch: _Batch) -> dict[str, Any]:
        """Creates a batch, unless one was created whose id never came here."""
        if batch.name not in self._sure:
            for wait_s in (self._pause_s, 0.0):  # a list may be a little behind
                if found := await self._api.find(batch.file, batch.name):
                    return found
                await asyncio.sleep(wait_s)
        self._sure.discard(batch.name)
        try:
            made = await self._api.create(batch.file, batch.name)
        except CallFailed as failure:
            if failure.trouble == "refused":
                self._sure.add(batch.name)
            raise
        self._watched.add(batch.name)
        return made

    def _set(self, batch: _Batch, /, **values: str | float) -> None:
        """Notes a step of a batch on disk before the next one begins."""
        names = ", ".join(f"{name} = ?" for name in values)
        with self._store.writing("FULL") as connection:
            connection.execute(f"UPDATE batches SET {names} WHERE name = ?", (*values.values(), batch.name))

    async def _collect(self, batch: _Batch, found: dict[str, Any]) -> None:
        """Hands the results of an ended batch to the scorings that wait, and keeps those that nobody waits for."""
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
            nothing = CallFailed("refused", f"the batch failed: {why_failed(found)}")
        else:
            nothing = CallFailed("timeout", f"the batch ended ({status}) without this request")
        waits = [(key, ask) for key, ask, done in rows if done == WAITING]
        failed = []
        for key, ask in waits:
            outcome, waiting = outcomes.get(key, nothing), self._waiting.get(key)
            if isinstance(outcome, CallFailed):
                failed.append((batch.name, key))
            elif waiting is None or waiting.reply.done():
                self._keep(self._store.put(msgspec.json.decode(ask, type=Ask), outcome, batch.name))
        with self._store.writing("FULL") as connection:
            connection.executemany(f"UPDATE batch_votes SET done = {FAILED} WHERE name = ? AND key = ?", failed)
        self._delivered.add(batch.name)
        for key, _ in waits:
            if (waiting := self._waiting.get(key)) and not waiting.reply.done():
                waiting.reply.set_result(outcomes.get(key, nothing))

    def _seconds(self, batch: _Batch, found: dict[str, Any]) -> float:
        """How long the batch was seen unfinished. One that this run did not create may have ended while nobody looked:
        then as long as the provider says, but no longer than since its requests were written."""
        seen = max(0.0, batch.seen_open - batch.created)
        if batch.name in self._watched:
            return seen
        begun, ended = found.get("created_at"), found.get(f"{found.get('status')}_at")
        told = float(ended - begun) if isinstance(begun, int) and isinstance(ended, int) else 0.0
        return max(seen, min(told, self._store.now() - batch.at))


def _progress(found: dict[str, Any], seconds: float) -> str:
    """
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
    """Gives up the votes that wait in batches, and returns their number. They are asked for, and billed, again."""
    with store.writing("FULL") as connection:
        return connection.execute(f"UPDATE batch_votes SET done = {FAILED} WHERE done = 0").rowcount
