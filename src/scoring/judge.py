"""The judge: scores a dialogue with K votes, each from the cache or by a paid call, each with a line in the ledger.

    with open_session(settings, print) as session:
        async with session.client() as client:
            entry = await session.judge(client).score(sample)
    entry.overall   # None if a vote could not be obtained; entry.failure says why

A vote that cannot be obtained is missing. It is not replaced by another provider's, by a default or by a guess.

Every paid reply gets exactly one ledger line, whenever the process dies: the reply is stored first, then its line is
appended, then the reply is marked. A crash in between leaves unmarked replies, and `recover` adds the missing lines.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec

from askgate_env.types import Lang, Record

from ..config.judge_config import LimitsSection, VotesSection
from ..runtime.progress import Tell
from .batch_api import section_of
from .batch_client import BatchClient, BatchStore
from .client import JudgeClient
from .ledger import Ledger, lines
from .local_judge import judge_weights, serving
from .prompt import Dialogue, dialogue_text, vote_request
from .providers import Provider, ScorerSettings, address
from .scores import score_key
from .store import Store, Stored, bad_replies, fetch
from .types import OWN, CallEntry, CallFailed, Entry, InCache, Reply, ScoringEntry, VoteRequest, printable, timestamp
from .votes import aggregate, votes_wanted, without_thought

FIRST_REPEAT = 200
"""Number of the first vote of a repeated scoring. The votes of a first scoring have numbers below 101."""
OWN_CALLS = 1
"""Concurrent calls to AskGate's own server. A call about another dialogue between two votes would make it read the
dialogue again, which takes a sixth longer."""
OWN_TIMEOUT_S = 600.0


@dataclass
class Tally:
    """Counts of a judge's work so far."""

    provider: Provider
    total: int = 0
    """Samples that the run is going to score, for its progress bar."""
    scored: int = 0
    failed: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    """Requests by outcome: `ok`, `bad_reply`, or the kind of failure."""
    cache_hits: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unbilled: int = 0
    """Replies without a bill."""
    latency_ms: float = 0.0
    """Total over all requests that brought a reply."""
    waits_for: str = ""
    """State of the batch that the samples wait for, in words."""

    @property
    def done(self) -> int:
        return self.scored + self.failed

    @property
    def cost(self) -> float | None:
        """Cost in US dollars; None if the prices are not known."""
        return self.provider.cost(self.tokens_in, self.tokens_out)

    @property
    def cache_hit_rate(self) -> float:
        votes = self.cache_hits + self.calls["ok"]
        return self.cache_hits / votes if votes else 0.0


Progress = Callable[[Tally], None]


@dataclass
class _Draft:
    """The ledger entries that one scoring will write."""

    scoring: str = field(default_factory=lambda: uuid.uuid4().hex)
    calls: list[CallEntry] = field(default_factory=list)
    paid: list[Stored] = field(default_factory=list)
    entry: ScoringEntry | None = None
    """None if the scoring was interrupted: its calls are recorded all the same."""


class Judge:
    """Scores dialogues with one provider. Several scorings may run at once; the client's limits hold for all."""

    def __init__(
        self, client: JudgeClient | BatchClient, store: Store, ledger: Ledger, votes: VotesSection, tries: int
    ) -> None:
        self._client, self._store, self._ledger = client, store, ledger
        self._votes, self._tries = votes, tries
        self._slots = asyncio.Semaphore(client.votes_at_once)
        self.tally = Tally(client.provider)

    async def score(self, sample: Dialogue, repeat: bool = False) -> ScoringEntry:
        """Scores one dialogue and records it in the ledger. Raises only if the disk fails or the task is cancelled.

        `repeat`: with votes of other numbers than those of a first scoring, so that none comes from its cached votes.
        """
        key = score_key(sample, self._client.provider, self._votes)
        text = dialogue_text(sample)
        return await self._score(sample.id, key, sample.lang, text, "", FIRST_REPEAT if repeat else 0)

    async def grade(self, name: str, text: str, version: str) -> ScoringEntry:
        """Scores a text by the prompt of that version (`benchmark_prompts.yaml`), with the same votes and records."""
        key = vote_request(self._client.provider, "en", text, 0, version).key
        return await self._score(name, key, "en", text, version, 0)

    async def write(self, text: str, version: str) -> tuple[str, str]:
        """Free text by the prompt of that version, or empty and the reason. It is cached and recorded like a vote."""
        stored, failure = await self.fetch(vote_request(self._client.provider, "en", text, 0, version))
        return without_thought(stored.reply.text) if stored else "", failure

    async def fetch(self, request: VoteRequest) -> tuple[Stored | None, str]:
        """A single reply that is not part of a score, or None and the reason."""
        draft = _Draft()
        async with self._recording(draft):
            try:
                return await self._fetch(request, draft), ""
            except CallFailed as failure:
                return None, printable(str(failure))

    async def _score(self, name: str, key: str, lang: Lang, text: str, version: str, first: int) -> ScoringEntry:
        draft = _Draft()
        async with self._recording(draft):
            votes, failure = await self._collect(lang, text, version, draft, first)
            draft.entry = entry = self._entry(name, key, draft, votes, failure)
        if entry.overall is None:
            self.tally.failed += 1
        else:
            self.tally.scored += 1
        return entry

    @asynccontextmanager
    async def _recording(self, draft: _Draft) -> AsyncIterator[None]:
        """Records the draft when the block ends, also if the scoring ends early: every paid call gets its line."""
        try:
            yield
        finally:
            # Shielded, and in a thread instead of a task: a task would be cancelled with the loop.
            entries: list[Entry] = [*draft.calls, *([draft.entry] if draft.entry else [])]
            loop = asyncio.get_running_loop()
            await asyncio.shield(loop.run_in_executor(None, record, self._store, self._ledger, entries, draft.paid))

    async def _collect(
        self, lang: Lang, text: str, version: str, draft: _Draft, number: int
    ) -> tuple[list[dict[str, float]], str]:
        """The votes from `number` on, and why one is missing (empty if none is)."""
        votes: list[dict[str, float]] = []
        while wanted := votes_wanted(votes, self._votes.k, self._votes.k_max, self._votes.variance_max):
            numbers = range(number, number + wanted)
            number += wanted
            requests = [vote_request(self._client.provider, lang, text, vote, version) for vote in numbers]
            # Wait for all even if one fails: their replies are on the way and will be billed.
            outcomes = await asyncio.gather(*(self._fetch(one, draft) for one in requests), return_exceptions=True)
            votes += [outcome.scores for outcome in outcomes if not isinstance(outcome, BaseException)]
            troubles = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
            if troubles:
                if not isinstance(troubles[0], CallFailed):
                    raise troubles[0]
                return votes, printable(str(troubles[0]))
        return votes, ""

    async def _fetch(self, request: VoteRequest, draft: _Draft) -> Stored:
        """One reply. Bad replies are kept and asked for again, up to `tries` times."""
        why_bad = ""
        for _ in range(self._tries):
            started = time.perf_counter()
            try:
                async with self._slots:
                    call = partial(self._call, draft=draft)
                    stored, paid = await fetch(self._store, request, draft.scoring, call, self._client.longest_s)
            except InCache:
                continue
            self._note(stored, paid, (time.perf_counter() - started) * 1000, draft)
            if not stored.why_bad:
                return stored
            why_bad = stored.why_bad
        raise CallFailed("bad_reply", f"{self._tries} replies were no vote, the last one because: {why_bad}")

    async def _call(self, request: VoteRequest, draft: _Draft) -> Reply:
        def note(failure: CallFailed) -> None:
            self.tally.calls[failure.trouble] += 1
            no_reply = Reply("", failure.request_id, request.model, 0, 0, failure.latency_ms)
            status = f"failed: {printable(str(failure))}"
            draft.calls.append(_call_entry(request, draft.scoring, no_reply, status, {}, timestamp()))

        # Bad replies of earlier runs count too: a judge with the same seed would give, and bill, the same reply again.
        return await self._client.ask(request, self._store.tried(request), note)

    def _note(self, stored: Stored, paid: bool, took_ms: float, draft: _Draft) -> None:
        """Counts a reply and adds its ledger entry to the draft."""
        if not paid:
            self.tally.cache_hits += 1
            # The request id stays that of the call that paid, so that its bill can be found.
            of_this_scoring = {"scoring": draft.scoring, "billable_tokens": 0, "latency_ms": took_ms, "cache_hit": True}
            draft.calls.append(msgspec.structs.replace(paid_entry(stored), **of_this_scoring, at=timestamp()))
            return
        reply = stored.reply
        self.tally.calls["bad_reply" if stored.why_bad else "ok"] += 1
        self.tally.tokens_in += reply.tokens_in
        self.tally.tokens_out += reply.tokens_out
        if reply.tokens_in + reply.tokens_out == 0:
            self.tally.unbilled += 1
        self.tally.latency_ms += reply.latency_ms
        draft.calls.append(paid_entry(stored))
        draft.paid.append(stored)

    def _entry(self, name: str, key: str, draft: _Draft, votes: list[dict[str, float]], failure: str) -> ScoringEntry:
        """The scoring's ledger entry. A missing vote leaves it without scores; the others stay in the cache."""
        no_verdict: dict[str, Any] = {"overall": None, "scores": {}, "variance": None, "votes": len(votes)}
        verdict = no_verdict if failure else msgspec.structs.asdict(aggregate(votes))
        return ScoringEntry(
            scoring=draft.scoring,
            sample=name,
            provider=self._client.provider.name,
            model=self._client.provider.model,
            **verdict,
            stable=not failure and verdict["variance"] <= self._votes.variance_max,
            cache_hits=sum(call.cache_hit for call in draft.calls),
            billable_tokens=sum(call.billable_tokens for call in draft.calls),
            live=True,
            failure=failure,
            at=timestamp(),
            key=key,
        )


def paid_entry(stored: Stored) -> CallEntry:
    """The ledger entry of the call that brought this reply."""
    status = f"bad_reply: {stored.why_bad}" if stored.why_bad else "ok"
    return _call_entry(stored.request, stored.scoring, stored.reply, status, stored.scores, timestamp(stored.at))


def _call_entry(
    request: VoteRequest, scoring: str, reply: Reply, status: str, scores: dict[str, float], at: str
) -> CallEntry:
    """The ledger entry of a call that was sent."""
    return CallEntry(
        scoring=scoring,
        key=request.key,
        request_id=printable(reply.request_id),
        provider=request.provider,
        model=printable(reply.model),
        prompt_version=request.prompt_version,
        billable_tokens=reply.tokens_in + reply.tokens_out,
        latency_ms=reply.latency_ms,
        cache_hit=False,
        status=status,
        scores=scores,
        live=True,
        at=at,
        server=address(request.server),
        batch=printable(reply.batch),
    )


def record(store: Store, ledger: Ledger, entries: Sequence[Entry], paid: Sequence[Stored]) -> None:
    """Appends the entries and marks the paid replies whose lines are among them."""
    ledger.append(entries)
    store.mark_ledgered(one.id for one in paid)


def recover(store: Store, ledger: Ledger) -> int:
    """Adds the ledger lines that are missing after a crash, and returns their number. Called once, after opening."""
    with store.recovering():
        unledgered = store.unledgered()
        if not unledgered:
            return 0
        # The lines may exist already: the crash can have come after the append and before the mark.
        written = {
            _call_identity(line.entry)
            for line in lines(ledger.path)
            if isinstance(line.entry, CallEntry) and not line.entry.cache_hit
        }
        recovered = [
            msgspec.structs.replace(entry, status=f"{entry.status} (recovered)")
            for entry in map(paid_entry, unledgered)
            if _call_identity(entry) not in written
        ]
        record(store, ledger, recovered, unledgered)
        return len(recovered)


def _call_identity(entry: CallEntry) -> tuple[str, str, str, float]:
    """Fields that identify a call. A server may give all its replies one request id, or none: the latency differs."""
    return entry.scoring, entry.key, entry.request_id, entry.latency_ms


@dataclass(frozen=True)
class Session:
    """Open resources of a scoring run: settings, cache and ledger."""

    settings: ScorerSettings
    """The settings, with the address of the server that is called."""
    store: Store
    ledger: Ledger
    tell: Tell

    @property
    def provider(self) -> Provider:
        return self.settings.provider

    def client(self) -> JudgeClient:
        """A client for the provider. AskGate's own server gets no key: it needs none."""
        limits = self.settings.scoring.limits
        if self.provider.server == OWN:
            return JudgeClient(self.provider, None, own_server_limits(limits))
        return JudgeClient(self.provider, self.settings.key, limits)

    def batch_client(self) -> BatchClient:
        """A client for the provider's Batch API, in a session that was opened for it."""
        assert isinstance(self.store, BatchStore)

        def keep(stored: Stored) -> None:
            record(self.store, self.ledger, [paid_entry(stored)], [stored])

        limits = self.settings.scoring.limits
        return BatchClient(self.provider, self.settings.key, limits, self.store, self.ledger, keep, self.tell)

    def judge(self, client: JudgeClient | BatchClient) -> Judge:
        scoring = self.settings.scoring
        return Judge(client, self.store, self.ledger, scoring.votes, scoring.limits.tries)


def own_server_limits(limits: LimitsSection) -> LimitsSection:
    """Limits for AskGate's own server, which answers one call after the other, as fast as the machine can."""
    return limits.model_copy(
        update={
            "concurrency_min": min(limits.concurrency_min, OWN_CALLS),
            "concurrency_max": min(limits.concurrency_max, OWN_CALLS),
            "timeout_s": max(limits.timeout_s, OWN_TIMEOUT_S),
        }
    )


@contextmanager
def open_session(settings: ScorerSettings, tell: Tell, batch: bool = False) -> Iterator[Session]:
    """Opens cache and ledger and recovers after a crash. The local judge runs for as long as the session.

    `batch`: for votes through the provider's Batch API, at its prices.
    """
    with ExitStack() as stack:
        scoring, provider = settings.scoring, settings.provider
        if batch:
            share = section_of(provider).price
            prices = {name: getattr(provider, name) for name in ("usd_in", "usd_out")}
            cheaper = {name: None if price is None else price * share for name, price in prices.items()}
            settings = replace(settings, provider=provider.model_copy(update=cheaper))
        store = stack.enter_context((BatchStore if batch else Store)(scoring.cache, scoring.ttl_days))
        ledger = Ledger(scoring.ledger)
        if recovered := recover(store, ledger):
            tell(f"{recovered} paid calls of an earlier run had no ledger line; they have one now")
        if provider.base_url is None:
            weights = judge_weights(settings.gguf, settings.weights_folder, tell)
            base_url = stack.enter_context(serving(weights))
            settings = replace(settings, provider=provider.model_copy(update={"base_url": base_url}))
        yield Session(settings, store, ledger, tell)


class Replay(Record, frozen=True):
    """Result of `replay_bad`: numbers of vote requests."""

    bad: int
    mended: int
    """Requests that have a vote by now, so that no call is needed."""
    other_judge: int
    """Requests to another provider, model, server or prompt than today's. No other judge is asked instead."""
    asked: int
    votes: int
    failures: dict[str, int]


def replay_bad(session: Session) -> Replay:
    """Asks again for every vote that has only bad replies.

    A reply that today's parser can read needs no call: the cache parses on every read.
    """
    requests = {stored.request.key: stored.request for stored in bad_replies(session.store)}
    waiting = [request for request in requests.values() if session.store.get(request) is None]
    ours = [one for one in waiting if one == vote_request(session.provider, one.lang, one.text, one.vote)]
    failures = [failure.partition(":")[0] for failure in asyncio.run(_ask_again(session, ours)) if failure]
    return Replay(
        bad=len(requests),
        mended=len(requests) - len(waiting),
        other_judge=len(waiting) - len(ours),
        asked=len(ours),
        votes=len(ours) - len(failures),
        failures=dict(Counter(failures)),
    )


async def _ask_again(session: Session, requests: list[VoteRequest]) -> list[str]:
    """Reason for each request why there is still no vote; empty if there is one."""
    async with session.client() as client:
        judge = session.judge(client)
        return [failure for _, failure in await asyncio.gather(*map(judge.fetch, requests))]
