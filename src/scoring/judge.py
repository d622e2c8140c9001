"""The judge: scores a dialogue with K votes, each from the cache or paid for, each with a line in the ledger.

    with open_session(settings, config.scoring, os.environ, print) as session:
        async with session.client() as client:
            entry = await session.judge(client, config.scoring.votes).score(sample)
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
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import msgspec

from ..config.judge_config import LimitsSection, ScoringSection, VotesSection
from ..core.types import Record
from .client import Attempt, JudgeClient
from .ledger import Ledger, lines
from .local_judge import judge_weights, serving
from .prompt import Dialogue, ask_for, dialogue_text
from .providers import Provider, ScorerSettings
from .scores import score_key
from .store import Store, Stored, bad_votes, fetch
from .types import OWN, Ask, CallEntry, CallFailed, Entry, Reply, ScoringEntry, printable
from .votes import aggregate, votes_wanted

VOTES_AT_ONCE = 128
"""Each vote in progress holds an open lock file, and a process may open about a thousand files."""
DAY_S = 86_400.0
OWN_CALLS = 1
"""Concurrent calls to AskGate's own server. A second call would take the slot between two votes on a dialogue, which
must then be read again: a sixth slower."""
OWN_TIMEOUT_S = 600.0


@dataclass
class Tally:
    """Counts of a judge's work so far."""

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


@dataclass
class _Draft:
    """The ledger entries that one scoring will write."""

    scoring: str
    entries: list[Entry] = field(default_factory=list)
    paid: list[Stored] = field(default_factory=list)
    cache_hits: int = 0
    tokens: int = 0


class _NoVote(Exception):
    """A vote that could not be obtained. The message says why."""


class Judge:
    """Scores dialogues with one provider. Several scorings may run at once; the client's limits hold for all."""

    def __init__(self, client: JudgeClient, store: Store, ledger: Ledger, votes: VotesSection, tries: int) -> None:
        self._client, self._store, self._ledger = client, store, ledger
        self._votes, self._tries = votes, tries
        self._slots = asyncio.Semaphore(VOTES_AT_ONCE)
        self.tally = Tally()

    async def score(self, sample: Dialogue) -> ScoringEntry:
        """Scores one dialogue and records it in the ledger. Raises only if the disk fails or the task is cancelled."""
        draft = _Draft(uuid.uuid4().hex)
        async with self._written(draft):
            votes, failure = await self._collect(sample, draft)
            entry = self._entry(sample, draft, votes, failure)
            draft.entries.append(entry)
        self.tally.scored += entry.overall is not None
        self.tally.failed += entry.overall is None
        return entry

    async def vote_again(self, ask: Ask) -> str:
        """Asks once more for a vote that had only bad replies, outside a scoring. Returns why there is still none."""
        draft = _Draft(uuid.uuid4().hex)
        async with self._written(draft):
            try:
                await self._vote(ask, draft)
            except _NoVote as trouble:
                return str(trouble)
        return ""

    @asynccontextmanager
    async def _written(self, draft: _Draft) -> AsyncIterator[None]:
        try:
            yield
        finally:
            # Also if the scoring ends early: what was paid for is recorded. Not a task of its own, or it would end with
            # the loop.
            loop = asyncio.get_running_loop()
            await asyncio.shield(
                loop.run_in_executor(None, record, self._store, self._ledger, draft.entries, draft.paid)
            )

    async def _collect(self, sample: Dialogue, draft: _Draft) -> tuple[list[dict[str, float]], str]:
        """The votes, and why there are fewer than wanted (empty if there are not)."""
        text = dialogue_text(sample)
        votes: list[dict[str, float]] = []
        asked = 0
        while wanted := votes_wanted(votes, self._votes.k, self._votes.k_max, self._votes.variance_max):
            asks = [ask_for(self._client.provider, sample.lang, text, asked + index) for index in range(wanted)]
            asked += wanted
            # Wait for all even if one fails: their replies are on the way and will be billed.
            outcomes = await asyncio.gather(*(self._vote(ask, draft) for ask in asks), return_exceptions=True)
            votes += [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
            for trouble in [outcome for outcome in outcomes if isinstance(outcome, BaseException)]:
                if not isinstance(trouble, _NoVote):
                    raise trouble
                return votes, str(trouble)
        return votes, ""

    async def _vote(self, ask: Ask, draft: _Draft) -> dict[str, float]:
        """One vote. Bad replies are kept and asked for again, up to `tries` times."""
        why_bad = ""
        for _ in range(self._tries):
            started = time.perf_counter()
            try:
                async with self._slots:
                    call = partial(self._call, draft=draft)
                    stored, paid = await fetch(self._store, ask, draft.scoring, call, self._client.longest_s)
            except CallFailed as failure:
                raise _NoVote(printable(str(failure))) from None
            self._note(stored, paid, (time.perf_counter() - started) * 1000, draft)
            if not stored.why_bad:
                return stored.scores
            why_bad = stored.why_bad
        raise _NoVote(f"bad_reply: {self._tries} replies were no vote, the last one because: {why_bad}")

    async def _call(self, ask: Ask, draft: _Draft) -> Reply:
        def note(attempt: Attempt) -> None:
            self.tally.tokens_in += attempt.tokens_in
            self.tally.tokens_out += attempt.tokens_out
            if not attempt.failure:
                self.tally.latency_ms += attempt.latency_ms
                self.tally.unbilled += not attempt.tokens_in + attempt.tokens_out
            else:
                self.tally.calls[attempt.failure.partition(":")[0]] += 1
                draft.entries.append(_failed_entry(ask, attempt, draft.scoring))

        # Bad replies of earlier runs count too: a judge with the same seed would give, and bill, the same reply again.
        return await self._client.ask(ask, self._store.tried(ask), note)

    def _note(self, stored: Stored, paid: bool, took_ms: float, draft: _Draft) -> None:
        if paid:
            self.tally.calls["bad_reply" if stored.why_bad else "ok"] += 1
            draft.tokens += stored.reply.tokens_in + stored.reply.tokens_out
            draft.entries.append(paid_entry(stored))
            draft.paid.append(stored)
        else:
            self.tally.cache_hits += 1
            draft.cache_hits += 1
            draft.entries.append(_hit_entry(stored, took_ms, draft.scoring))

    def _entry(self, sample: Dialogue, draft: _Draft, votes: list[dict[str, float]], failure: str) -> ScoringEntry:
        """The scoring's ledger entry. A missing vote leaves it without scores; the others stay in the cache."""
        verdict = None if failure else aggregate(votes, self._votes.variance_max)
        return ScoringEntry(
            scoring=draft.scoring,
            sample=sample.id,
            provider=self._client.provider.name,
            model=self._client.provider.model,
            votes=len(votes),
            overall=verdict.overall if verdict else None,
            scores=verdict.scores if verdict else {},
            variance=verdict.variance if verdict else None,
            stable=verdict.stable if verdict else False,
            cache_hits=draft.cache_hits,
            billable_tokens=draft.tokens,
            live=True,
            failure=failure,
            at=_now(),
            key=score_key(sample, self._client.provider, self._votes),
        )


def paid_entry(stored: Stored) -> CallEntry:
    """The ledger entry of the call that brought this reply."""
    ask, reply = stored.ask, stored.reply
    return CallEntry(
        scoring=stored.scoring,
        key=ask.key,
        request_id=printable(reply.request_id),
        provider=ask.provider,
        model=printable(reply.model),
        prompt_version=ask.prompt_version,
        billable_tokens=reply.tokens_in + reply.tokens_out,
        latency_ms=reply.latency_ms,
        cache_hit=False,
        status=f"bad_reply: {stored.why_bad}" if stored.why_bad else "ok",
        scores=stored.scores,
        live=True,
        at=datetime.fromtimestamp(stored.at, UTC).isoformat(timespec="milliseconds"),
        server=ask.server,
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
    """The entry of a vote from the cache. Its request id is that of the call that paid, to find the bill."""
    return msgspec.structs.replace(
        paid_entry(stored), scoring=scoring, billable_tokens=0, latency_ms=took_ms, cache_hit=True, at=_now()
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def record(store: Store, ledger: Ledger, entries: Sequence[Entry], paid: Sequence[Stored]) -> None:
    """Appends the entries and marks the paid replies whose lines are among them."""
    ledger.append(entries)
    store.mark_ledgered(one.id for one in paid)


def recover(store: Store, ledger: Ledger) -> int:
    """Adds the ledger lines that a crash left missing and returns their number. Call it once, after opening both."""
    with store.recovering():
        unledgered = store.unledgered()
        if not unledgered:
            return 0
        wanted = {_call_identity(paid_entry(stored)) for stored in unledgered}
        # The lines may exist already: the crash can have come after the append and before the mark.
        written = {
            call
            for line in lines(ledger.path)
            if isinstance(line.entry, CallEntry)
            and not line.entry.cache_hit
            and (call := _call_identity(line.entry)) in wanted
        }
        missing = [entry for stored in unledgered if _call_identity(entry := paid_entry(stored)) not in written]
        recovered = [msgspec.structs.replace(entry, status=f"{entry.status} (recovered)") for entry in missing]
        record(store, ledger, recovered, unledgered)
        return len(recovered)


def _call_identity(entry: CallEntry) -> tuple[str, str, str, float]:
    """A server may give all its replies one request id, or none; the latency tells them apart."""
    return entry.scoring, entry.key, entry.request_id, entry.latency_ms


@dataclass(frozen=True)
class Session:
    """Everything that a scoring run needs: cache, ledger and provider, open."""

    settings: ScorerSettings
    scoring: ScoringSection
    provider: Provider
    """With the address of the server that answers."""
    store: Store
    ledger: Ledger

    def client(self) -> JudgeClient:
        """A client for the provider. AskGate's own server gets no key: it needs none."""
        if self.provider.server == OWN:
            return JudgeClient(self.provider, None, patient(self.scoring.limits))
        return JudgeClient(self.provider, self.settings.key, self.scoring.limits)

    def judge(self, client: JudgeClient, votes: VotesSection) -> Judge:
        return Judge(client, self.store, self.ledger, votes, self.scoring.limits.tries)


def patient(limits: LimitsSection) -> LimitsSection:
    """Limits for AskGate's own server, which answers one call after the other, as fast as the machine can."""
    return limits.model_copy(
        update={
            "concurrency_min": min(limits.concurrency_min, OWN_CALLS),
            "concurrency_max": min(limits.concurrency_max, OWN_CALLS),
            "timeout_s": max(limits.timeout_s, OWN_TIMEOUT_S),
        }
    )


@contextmanager
def open_session(
    settings: ScorerSettings, scoring: ScoringSection, environment: Mapping[str, str], tell: Callable[[str], None]
) -> Iterator[Session]:
    """Opens cache and ledger and recovers after a crash. The local judge runs for as long as the session."""
    with ExitStack() as stack:
        store = stack.enter_context(Store(scoring.cache, ttl=scoring.ttl_days * DAY_S))
        ledger = Ledger(scoring.ledger)
        if recovered := recover(store, ledger):
            tell(f"{recovered} paid calls of an earlier run had no ledger line; they have one now")
        provider = settings.provider
        if provider.base_url is None:
            weights = judge_weights(settings.gguf, environment, tell)
            provider = msgspec.structs.replace(provider, base_url=stack.enter_context(serving(weights)))
        yield Session(settings, scoring, provider, store, ledger)


class Replay(Record, frozen=True):
    """Result of `replay_bad`, counted by ask."""

    bad: int
    mended: int
    """Asks that have a vote since; nothing to do."""
    other_judge: int
    """Asks for another provider, model, server or prompt than today's. Nobody else is asked instead."""
    asked: int
    votes: int
    failures: dict[str, int]


def replay_bad(session: Session) -> Replay:
    """Asks again for every vote that has only bad replies.

    A reply that today's parser can read needs no call: the cache parses on every read.
    """
    mended = {one.stored.ask.key: one.mended for one in bad_votes(session.store)}
    waiting = {one.stored.ask.key: one.stored.ask for one in bad_votes(session.store) if not one.mended}
    ours = [ask for ask in waiting.values() if _is_current(ask, session)]
    outcomes = asyncio.run(_ask_again(session, ours))
    failures = [outcome.partition(":")[0] for outcome in outcomes if outcome]
    return Replay(
        bad=len(mended),
        mended=sum(mended.values()),
        other_judge=len(waiting) - len(ours),
        asked=len(ours),
        votes=len(ours) - len(failures),
        failures=dict(Counter(failures)),
    )


async def _ask_again(session: Session, asks: list[Ask]) -> list[str]:
    async with session.client() as client:
        judge = session.judge(client, session.scoring.votes)
        return await asyncio.gather(*(judge.vote_again(ask) for ask in asks))


def _is_current(ask: Ask, session: Session) -> bool:
    return ask == ask_for(session.provider, ask.lang, ask.text, ask.vote)
