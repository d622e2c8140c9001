"""Scores a whole pool: resumable, within a budget, without paying for a vote twice.

With `REWARD_LIVE_MODE` off no judge is called: every line says `live: false` and has no scores.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from askgate_env.types import Record

from ..config.judge_config import ScoringSection
from ..core.errors import BadInput
from ..core.files import refuse_overlap, write_json
from ..runtime.progress import Tell
from . import monitor
from .batch_api import MAX_REQUESTS
from .batch_client import BatchClient
from .cluster import RemoteJudge, cluster_judge
from .judge import Judge, Progress, Session, Tally, open_session
from .ledger import REPAIR, Ledger, LedgerBroken, Scoring, scorings
from .monitor import Budget, HasConcurrency, Monitor
from .prompt import Dialogue
from .providers import Provider, ScorerSettings
from .scores import Score, ScoreFile, score_key, score_of, unstable_beside
from .types import ScoringEntry

Scored = TypeVar("Scored", bound=Dialogue)

GIVE_UP = 10
"""Number of consecutive failed samples that ends the run: failing calls are billed too."""


@dataclass(frozen=True)
class ScoringJob:
    """Settings of a scoring run: dialogues, files, limits."""

    pool: Path
    """The file that the dialogues were read from; nothing is written there."""
    out: Path
    n: int | None
    """Size of a random sample drawn by `seed`; None: all. A larger draw with the same seed contains the smaller one."""
    seed: int
    budget: float | None = None
    """US dollars that the run may spend; None: no limit."""
    repeats: frozenset[str] = frozenset()
    """Ids of dialogues that are scored with other votes than in their first scoring."""
    batch_api: bool = False
    """Whether to use the provider's Batch API: cheaper, with replies within hours."""
    cluster: str = ""
    """Ray cluster whose judge scores (`cluster.py`); empty: a judge of this process."""


class Summary(Record, frozen=True):
    """Result of a run. `complete` is false if the budget ended the run; a run with a larger budget continues it."""

    samples: int
    scored: int
    reused: int
    """Number of the scored samples that an earlier run had scored."""
    failed: int
    unstable: int
    not_started: int
    complete: bool
    live: bool
    files: list[str]
    figures: dict[str, Any]


def score_dialogues(
    samples: list[Scored], job: ScoringJob, settings: ScorerSettings, tell: Tell, progress: Progress
) -> tuple[dict[str, Score], Summary]:
    """The scores of these dialogues by this judge, by id, and a summary of the run.

    Raises BadInput if nothing could be scored or the service stopped answering; finished scores are kept.
    """
    if job.cluster and job.batch_api:
        raise BadInput(
            "a batch has no rate limit to share", where="--batch, --cluster", remedy="leave one of the two flags out"
        )
    figures_file = job.out.with_name(monitor.NAME)
    beside = {f"{path.name} beside --out": path for path in (unstable_beside(job.out), figures_file)}
    refuse_overlap({"--out": job.out, **beside}, {"POOL": job.pool})
    _refuse_duplicate_ids(samples, job.pool)
    chosen = choose(samples, job.n, job.seed)
    file = ScoreFile(job.out, {sample.id for sample in samples})
    keys = {sample.id: score_key(sample, settings.provider, settings.scoring.votes) for sample in chosen}
    known: set[str] = set()
    waiting: list[Scored] = []
    if settings.live:
        lines_before = keys.keys() & file.lines.keys()
        known = _already_scored(file, keys, settings.scoring)
        waiting = [sample for sample in chosen if sample.id not in known]
        if removed := len(lines_before - known):
            tell(
                f"{removed} lines of {job.out} are no scores by this judge of these dialogues, have expired or are not"
                " in the ledger; those samples are scored again"
            )
    else:
        _write_unscored(file, keys, settings.provider)
    live = _LiveRun(settings, job, file, waiting, progress) if waiting else None
    if live is None:  # no call is needed, so no judge is started
        figures = monitor.run_figures(Tally(settings.provider), 0.0)
    elif job.cluster:
        with cluster_judge(job.cluster, settings, tell) as judge:
            figures = asyncio.run(live.score_with(judge, Budget(judge.tally, job.budget), judge))
    else:
        with open_session(settings, tell, job.batch_api) as session:
            figures = asyncio.run(live.run(session))
    write_json(figures_file, figures)
    unstable = file.finish(sample.id for sample in samples)
    # A line with another key is the score of another dialogue or judge, by another process that writes this file.
    lines = {name: line for name, key in keys.items() if (line := file.lines.get(name)) and line.key == key}
    scored = [line for line in lines.values() if line.overall is not None]
    summary = Summary(
        samples=len(keys),
        scored=len(scored),
        reused=len(known),
        failed=sum(bool(line.failure) for line in lines.values()),
        unstable=sum(not line.stable for line in scored),
        not_started=len(keys) - len(lines),
        complete=settings.live and len(lines) == len(keys),
        live=settings.live,
        files=[str(path) for path in (job.out, unstable, figures_file)],
        figures=figures,
    )
    if live:
        live.raise_trouble(summary)
    return lines, summary


def _refuse_duplicate_ids(samples: Sequence[Dialogue], where: Path) -> None:
    """Refuses dialogues with the same id: scores are stored by id, so one would get the other's score."""
    if repeated := [name for name, times in Counter(sample.id for sample in samples).items() if times > 1]:
        raise BadInput(
            f"{len(repeated)} ids occur more than once, the first is {repeated[0]!r}",
            where=str(where),
            remedy="give every dialogue its own id",
        )


def choose(samples: list[Scored], n: int | None, seed: int) -> list[Scored]:
    """A random sample of `n` samples (None: all), in the pool's order."""
    if n is None:
        return samples
    if n > len(samples):
        raise BadInput(f"the pool has {len(samples)} samples, not {n}", where="--n", remedy="ask for fewer")
    drawn = sorted(samples, key=lambda sample: sha256(f"{seed}:{sample.id}".encode()).digest())[:n]
    names = {sample.id for sample in drawn}
    return [sample for sample in samples if sample.id in names]


class _LiveRun:
    """Live scoring: a few samples at a time, until all are done, the budget is spent or the service is down."""

    def __init__(
        self,
        settings: ScorerSettings,
        job: ScoringJob,
        file: ScoreFile,
        waiting: Sequence[Dialogue],
        progress: Progress,
    ) -> None:
        self._settings, self._job, self._file = settings, job, file
        self._waiting, self._progress = list(waiting)[::-1], progress
        self._failed_in_a_row = 0
        self.outage = self.first_failure = ""
        self.unbilled = False

    async def run(self, session: Session) -> dict[str, Any]:
        """Scores the samples with the judge of this process and returns the figures of the run."""
        async with session.batch_client() if self._job.batch_api else session.client() as client:
            judge = session.judge(client)
            budget = Budget(judge.tally, self._job.budget)
            if isinstance(client, BatchClient):

                def show_wait(state: str) -> None:
                    judge.tally.waits_for = state
                    self._progress(judge.tally)

                client.on_wait = show_wait
                budget.expect(session)
            return await self.score_with(judge, budget, client)

    async def score_with(self, judge: Judge | RemoteJudge, budget: Budget, client: HasConcurrency) -> dict[str, Any]:
        """Scores the samples with this judge and returns the figures of the run."""
        with Monitor(judge.tally, client) as run_monitor:
            await self._score(judge, budget, run_monitor)
        self.unbilled = budget.lacks_bills
        return run_monitor.figures()

    async def _score(self, judge: Judge | RemoteJudge, budget: Budget, run_monitor: Monitor) -> None:
        judge.tally.total = len(self._waiting)
        scoring = self._settings.scoring
        at_once = MAX_REQUESTS // scoring.votes.k if self._job.batch_api else scoring.limits.concurrency_max
        running: set[asyncio.Task[ScoringEntry]] = set()
        ended: set[asyncio.Task[ScoringEntry]] = set()
        try:
            while True:
                while self._waiting and not self.outage and len(running) < at_once and budget.allows(len(running)):
                    sample = self._waiting.pop()
                    running.add(asyncio.create_task(judge.score(sample, sample.id in self._job.repeats)))
                if not running:
                    return
                ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    self._add(task.result())
                    budget.sample_ended(task.result().billable_tokens)
                run_monitor.tick()
                self._progress(judge.tally)
        finally:
            for task in running:
                task.cancel()
            # `ended` too: all samples of a batch end with the same error, and only the first of them has raised it.
            await asyncio.gather(*running, *ended, return_exceptions=True)

    def _add(self, entry: ScoringEntry) -> None:
        self._file.add(score_of(entry, self._settings.scoring.votes))
        self.first_failure = self.first_failure or entry.failure
        self._failed_in_a_row = self._failed_in_a_row + 1 if entry.failure else 0
        # The remaining samples would fail in the same way, and may be billed.
        if entry.failure.startswith("circuit_open"):
            self.outage = self.outage or f"the service stopped answering: {entry.failure}"
        elif self._failed_in_a_row >= GIVE_UP:
            self.outage = self.outage or f"{GIVE_UP} samples in a row could not be scored: {entry.failure}"

    def raise_trouble(self, summary: Summary) -> None:
        """Raises BadInput if the run ended because the service or its bills failed, or brought no score at all."""
        name = self._settings.provider.name
        if self.outage:
            raise BadInput(
                f"{self.outage}; {summary.scored} of {summary.samples} samples are scored",
                where=name,
                remedy="see that `askgate probe-scorer --live` passes, then run the same command again; it continues"
                " from here and pays for nothing twice",
            )
        if self.unbilled:
            raise BadInput(
                f"the server does not say what it bills, so no budget can be kept; {summary.scored} of"
                f" {summary.samples} samples are scored",
                where="--budget",
                remedy="leave the flag out, or choose a server that reports its usage",
            )
        if summary.failed and not summary.scored:
            raise BadInput(
                f"none of {summary.failed} samples could be scored, the first because: {self.first_failure}",
                where=name,
                remedy=f"see `failure` in the lines of {self._job.out}",
            )


def _already_scored(file: ScoreFile, keys: dict[str, str], scoring: ScoringSection) -> set[str]:
    """Ids of samples that need not be scored again: their lines match the ledger and have not expired.

    All other lines of these samples are removed from the file, because they are not scores of this run: a line that is
    not in the ledger proves nothing.
    """
    recorded = {
        (line.scoring, name): line
        for name, key in keys.items()
        if (line := file.lines.get(name)) and line.key == key and line.live and line.overall is not None
    }
    oldest = datetime.now(UTC) - timedelta(days=scoring.ttl_days)
    known: set[str] = set()
    if recorded and scoring.ledger.exists():
        for entry in (one.entry for one in _scorings(scoring.ledger)):
            score = recorded.get((entry.scoring, entry.sample))
            is_same = score is not None and score == score_of(entry, scoring.votes)
            if is_same and datetime.fromisoformat(entry.at) > oldest:
                known.add(entry.sample)
    file.forget(set(keys) - known)
    return known


def _scorings(ledger: Path) -> list[Scoring]:
    """Scorings of the ledger. If a crash has torn its last line, opening it for writing repairs it first."""
    try:
        return list(scorings(ledger))
    except LedgerBroken as error:
        if error.remedy != REPAIR:
            raise
    return list(scorings(Ledger(ledger).path))


def _write_unscored(file: ScoreFile, keys: dict[str, str], provider: Provider) -> None:
    """Notes a line without scores for each sample. Refuses a file with live scores, which would be lost."""
    if any(line.live for line in file.lines.values()):
        raise BadInput(
            "holds live scores, and REWARD_LIVE_MODE is off",
            where=str(file.path),
            remedy="set REWARD_LIVE_MODE=1, or choose another --out",
        )
    for name, key in keys.items():
        file.note(Score(id=name, key=key, provider=provider.name, model=provider.model, live=False))
