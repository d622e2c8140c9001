"""A sample's scores: K votes, each from the cache or paid for, every one of them written down.

    entry = await Judge(client, store, ledger, config.scoring.votes, tries=5).score(sample)
    entry.overall   # None where a vote could not be had; entry.failure says why

A vote that cannot be had is missing. It is not replaced by another provider's, by a default or by a guess.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import msgspec

from ..config.schema import VotesSection
from .accounts import paid_entry, write_down
from .client import Attempt, JudgeClient
from .flight import fetch
from .ledger import Ledger
from .prompt import Dialogue, dialogue_text
from .scores import score_key
from .store import Store, Stored
from .types import Ask, CallEntry, CallFailed, Entry, Reply, ScoringEntry, printable
from .votes import settle, votes_wanted
from .wire import ask_for

AT_ONCE = 128
"""Votes under way. Each holds an open file, its claim, and a system gives a process about a thousand."""


@dataclass
class Tally:
    """What a judge has done so far."""

    scored: int = 0
    failed: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    """Requests by outcome: `ok`, `bad_reply`, or the trouble."""
    cache_hits: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unbilled: int = 0
    """Replies whose server did not say what they cost."""
    latency_ms: float = 0.0
    """Of all requests that brought a reply, together."""


@dataclass
class _Book:
    """What one scoring will write into the ledger."""

    scoring: str
    entries: list[Entry] = field(default_factory=list)
    paid: list[Stored] = field(default_factory=list)
    cache_hits: int = 0
    tokens: int = 0


class _NoVote(Exception):
    """A vote that could not be had. The text says why."""


class Judge:
    """Scores samples with one provider. Several scorings may run at once; the client's limits hold for all."""

    def __init__(self, client: JudgeClient, store: Store, ledger: Ledger, votes: VotesSection, tries: int) -> None:
        self._client, self._store, self._ledger = client, store, ledger
        self._votes, self._tries = votes, tries
        self._room = asyncio.Semaphore(AT_ONCE)
        self.tally = Tally()

    async def score(self, sample: Dialogue) -> ScoringEntry:
        """One scoring, on record when this returns. Raises only where the disk fails or the task is cancelled."""
        book = _Book(uuid.uuid4().hex)
        async with self._written(book):
            votes, failure = await self._collect(sample, book)
            entry = self._entry(sample, book, votes, failure)
            book.entries.append(entry)
        self.tally.scored += entry.overall is not None
        self.tally.failed += entry.overall is None
        return entry

    async def vote_again(self, ask: Ask) -> str:
        """One vote outside a scoring, for an ask that has had bad replies only. Says why there is still none."""
        book = _Book(uuid.uuid4().hex)
        async with self._written(book):
            try:
                await self._vote(ask, book)
            except _NoVote as trouble:
                return str(trouble)
        return ""

    @asynccontextmanager
    async def _written(self, book: _Book) -> AsyncIterator[None]:
        try:
            yield
        finally:
            # Also when the scoring ends early: what was paid for until then is on record. Not a task of its own, or it
            # would end with the loop.
            loop = asyncio.get_running_loop()
            await asyncio.shield(
                loop.run_in_executor(None, write_down, self._store, self._ledger, book.entries, book.paid)
            )

    async def _collect(self, sample: Dialogue, book: _Book) -> tuple[list[dict[str, float]], str]:
        """The votes, and why there are fewer than wanted, if so."""
        text = dialogue_text(sample)
        votes: list[dict[str, float]] = []
        asked = 0
        while wanted := votes_wanted(votes, self._votes.k, self._votes.k_max, self._votes.variance_max):
            asks = [ask_for(self._client.provider, sample.lang, text, asked + index) for index in range(wanted)]
            asked += wanted
            # All are waited for even when one fails: their replies are on the way and will be billed.
            outcomes = await asyncio.gather(*(self._vote(ask, book) for ask in asks), return_exceptions=True)
            votes += [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
            for trouble in [outcome for outcome in outcomes if isinstance(outcome, BaseException)]:
                if not isinstance(trouble, _NoVote):
                    raise trouble
                return votes, str(trouble)
        return votes, ""

    async def _vote(self, ask: Ask, book: _Book) -> dict[str, float]:
        """Bad replies are kept, and asked for again; so many of them, and there is no vote."""
        why_bad = ""
        for _ in range(self._tries):
            started = time.perf_counter()
            try:
                async with self._room:
                    call = partial(self._call, book=book)
                    stored, paid = await fetch(self._store, ask, book.scoring, call, self._client.longest_s)
            except CallFailed as failure:
                raise _NoVote(printable(str(failure))) from None
            self._note(stored, paid, (time.perf_counter() - started) * 1000, book)
            if not stored.why_bad:
                return stored.scores
            why_bad = stored.why_bad
        raise _NoVote(f"bad_reply: {self._tries} replies were no vote, the last one because: {why_bad}")

    async def _call(self, ask: Ask, book: _Book) -> Reply:
        def note(attempt: Attempt) -> None:
            self.tally.tokens_in += attempt.tokens_in
            self.tally.tokens_out += attempt.tokens_out
            if not attempt.failure:
                self.tally.latency_ms += attempt.latency_ms
                self.tally.unbilled += not attempt.tokens_in + attempt.tokens_out
            else:
                self.tally.calls[attempt.failure.partition(":")[0]] += 1
                book.entries.append(_failed_entry(ask, attempt, book.scoring))

        # Bad replies of earlier runs count too: a judge with the same seed would say, and bill, the same once more.
        return await self._client.ask(ask, self._store.tried(ask), note)

    def _note(self, stored: Stored, paid: bool, took_ms: float, book: _Book) -> None:
        if paid:
            self.tally.calls["bad_reply" if stored.why_bad else "ok"] += 1
            book.tokens += stored.reply.tokens_in + stored.reply.tokens_out
            book.entries.append(paid_entry(stored))
            book.paid.append(stored)
        else:
            self.tally.cache_hits += 1
            book.cache_hits += 1
            book.entries.append(_hit_entry(stored, took_ms, book.scoring))

    def _entry(self, sample: Dialogue, book: _Book, votes: list[dict[str, float]], failure: str) -> ScoringEntry:
        """A vote that was wanted and could not be had leaves no scoring. The others are in the cache, and a later run
        goes on from there."""
        verdict = None if failure else settle(votes, self._votes.variance_max)
        return ScoringEntry(
            scoring=book.scoring,
            sample=sample.id,
            provider=self._client.provider.name,
            model=self._client.provider.model,
            votes=len(votes),
            overall=verdict.overall if verdict else None,
            scores=verdict.scores if verdict else {},
            variance=verdict.variance if verdict else None,
            stable=verdict.stable if verdict else False,
            cache_hits=book.cache_hits,
            billable_tokens=book.tokens,
            live=True,
            failure=failure,
            at=_now(),
            key=score_key(sample, self._client.provider, self._votes),
        )


def _failed_entry(ask: Ask, attempt: Attempt, scoring: str) -> CallEntry:
    return CallEntry(
        scoring=scoring,
        key=ask.key,
        request_id=printable(attempt.request_id),
        provider=ask.provider,
        model=ask.model,
        prompt_version=ask.prompt_version,
        billable_tokens=attempt.tokens_in + attempt.tokens_out,
        latency_ms=attempt.latency_ms,
        cache_hit=False,
        status=f"failed: {attempt.failure}",
        scores={},
        live=True,
        at=_now(),
        server=ask.server,
    )


def _hit_entry(stored: Stored, took_ms: float, scoring: str) -> CallEntry:
    """The request id is that of the call that paid, so that the bill can be found."""
    return msgspec.structs.replace(
        paid_entry(stored), scoring=scoring, billable_tokens=0, latency_ms=took_ms, cache_hit=True, at=_now()
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
