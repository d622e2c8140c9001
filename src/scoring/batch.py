"""A whole pool scored: resumable, within a budget, with nothing asked twice and nothing made up.

With `REWARD_LIVE_MODE` off nobody is called: every line says `live: false` and has no scores.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..config.schema import ScoringSection, VotesSection
from ..core.errors import BadInput
from ..core.files import write_json
from ..core.jsonl import read_unique
from ..core.types import Record, Sample
from . import monitor
from .judge import Judge, Tally
from .monitor import Monitor
from .providers import Provider, ScorerSettings
from .purse import Purse
from .scores import Score, ScoreFile, score_key, score_of
from .session import Session, open_session
from .types import ScoringEntry


@dataclass(frozen=True)
class Order:
    """What is to be scored and how."""

    pool: Path
    out: Path
    n: int | None
    """So many, drawn by `seed`; None: all. A larger draw with the same seed holds the smaller one."""
    seed: int
    votes: VotesSection
    budget: float | None


@dataclass(frozen=True)
class Progress:
    """`cost` and `cost_at_end` in US dollars; None where prices are not known."""

    done: int
    total: int
    cost: float | None
    cost_at_end: float | None


class Summary(Record, frozen=True):
    """`complete` is false where the budget ended the run; run again with more and it goes on from there."""

    samples: int
    scored: int
    reused: int
    """Taken from the lines of an earlier run, of those scored."""
    failed: int
    unstable: int
    not_started: int
    complete: bool
    live: bool
    files: list[str]
    figures: dict[str, Any]


def score_pool(
    order: Order,
    settings: ScorerSettings,
    scoring: ScoringSection,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> Summary:
    """Raises BadInput where nothing could be scored, or where the service stopped answering; what was had is kept."""
    samples = list(read_unique(order.pool, Sample))
    chosen = choose(samples, order.n, order.seed)
    file = ScoreFile(order.out, {sample.id for sample in samples})
    keys = {sample.id: score_key(sample, settings.provider, order.votes) for sample in chosen}
    if not settings.live:
        _write_unscored(file, keys, settings.provider)
        return _finish(file, samples, keys, reused=0, figures=_no_figures(order.out, settings.provider))
    known = {name for name, key in keys.items() if _still_good(file.lines.get(name), key, scoring.ttl_days)}
    waiting = [sample for sample in chosen if sample.id not in known]
    with open_session(settings, scoring, environment, tell) as session:
        run = _Run(session, order, keys, file, waiting, progress)
        figures = asyncio.run(run.go())
    summary = _finish(file, samples, keys, reused=len(known), figures=figures)
    if run.outage:
        raise BadInput(
            f"the service stopped answering, {summary.scored} of {summary.samples} samples are scored: {run.outage}",
            where=settings.provider.name,
            remedy="run the same command again later; it goes on from here and pays for nothing twice",
        )
    if summary.failed and not summary.scored:
        raise BadInput(
            f"none of {summary.failed} samples could be scored, the first because: {run.first_failure}",
            where=settings.provider.name,
            remedy="see `failure` in the lines of " + str(order.out),
        )
    return summary


def choose(samples: list[Sample], n: int | None, seed: int) -> list[Sample]:
    """In the pool's order."""
    if n is None:
        return samples
    if n > len(samples):
        raise BadInput(f"the pool has {len(samples)} samples, not {n}", where="--n", remedy="ask for fewer")
    drawn = sorted(samples, key=lambda sample: sha256(f"{seed}:{sample.id}".encode()).digest())[:n]
    names = {sample.id for sample in drawn}
    return [sample for sample in samples if sample.id in names]


class _Run:
    """The live part: a few samples at a time, until all are done, the purse is empty or the service is gone."""

    def __init__(
        self,
        session: Session,
        order: Order,
        keys: dict[str, str],
        file: ScoreFile,
        waiting: list[Sample],
        progress: Callable[[Progress], None],
    ) -> None:
        self._session, self._order, self._keys, self._file = session, order, keys, file
        self._waiting, self._total, self._progress = waiting[::-1], len(waiting), progress
        self.outage = self.first_failure = ""

    async def go(self) -> dict[str, Any]:
        async with self._session.client() as client:
            judge = self._session.judge(client, self._order.votes)
            purse = Purse(self._session.provider, judge.tally, self._order.budget)
            with Monitor(self._session.provider, judge.tally, client.limiter) as watch:
                await self._score(judge, purse, watch)
            return watch.write(self._order.out.with_name(monitor.NAME))

    async def _score(self, judge: Judge, purse: Purse, watch: Monitor) -> None:
        running: set[asyncio.Task[ScoringEntry]] = set()
        try:
            while True:
                while self._may_start(len(running), purse):
                    running.add(asyncio.create_task(judge.score(self._waiting.pop())))
                if not running:
                    return
                ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    self._keep(task.result(), purse)
                watch.tick()
                self._tell(judge.tally)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _may_start(self, in_flight: int, purse: Purse) -> bool:
        most = self._session.scoring.limits.concurrency_max
        return bool(self._waiting) and not self.outage and in_flight < most and purse.allows(in_flight)

    def _keep(self, entry: ScoringEntry, purse: Purse) -> None:
        self._file.add(score_of(entry, self._keys[entry.sample]))
        purse.ended(entry.billable_tokens)
        self.first_failure = self.first_failure or entry.failure
        if entry.failure.startswith("circuit_open"):
            # The rest would fail the same way within a second.
            self.outage = entry.failure

    def _tell(self, tally: Tally) -> None:
        done = tally.scored + tally.failed
        spent = monitor.cost(self._session.provider, tally)
        at_end = None if spent is None else spent / done * self._total
        self._progress(Progress(done, self._total, spent, at_end))


def _still_good(line: Score | None, key: str, ttl_days: float) -> bool:
    if line is None or line.key != key or line.overall is None or not line.live:
        return False
    return datetime.fromisoformat(line.at) > datetime.now(UTC) - timedelta(days=ttl_days)


def _write_unscored(file: ScoreFile, keys: dict[str, str], provider: Provider) -> None:
    if any(line.live for line in file.lines.values()):
        raise BadInput(
            "holds live scores, and REWARD_LIVE_MODE is off",
            where=str(file.path),
            remedy="set REWARD_LIVE_MODE=1, or choose another --out",
        )
    for name, key in keys.items():
        file.lines[name] = Score(id=name, key=key, provider=provider.name, model=provider.model, live=False)


def _no_figures(out: Path, provider: Provider) -> dict[str, Any]:
    figures = monitor.whole_run(provider, Tally(), 0.0)
    write_json(out.with_name(monitor.NAME), figures)
    return figures


def _finish(
    file: ScoreFile, samples: list[Sample], keys: dict[str, str], reused: int, figures: dict[str, Any]
) -> Summary:
    unstable = file.finish(sample.id for sample in samples)
    # A line under another key is an older scoring, by another judge or in another way.
    lines = [line for name, key in keys.items() if (line := file.lines.get(name)) and line.key == key]
    live = all(line.live for line in lines)
    scored = [line for line in lines if line.overall is not None]
    not_started = len(keys) - len(lines)
    return Summary(
        samples=len(keys),
        scored=len(scored),
        reused=reused,
        failed=sum(bool(line.failure) for line in lines),
        unstable=sum(not line.stable for line in scored),
        not_started=not_started,
        complete=live and not not_started,
        live=live,
        files=[str(file.path), str(unstable), str(file.path.with_name(monitor.NAME))],
        figures=figures,
    )
