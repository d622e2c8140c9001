"""Cost and progress of a scoring run: a forecast before it, a budget during it, its figures as JSON and TensorBoard."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Self

from tensorboardX import SummaryWriter

from ..core.errors import BadInput
from ..core.files import write_json
from ..core.types import Record
from .judge import Judge, Session, Tally
from .limiter import Limiter
from .prompt import PROMPT_VERSION, Dialogue
from .providers import Provider

EVENTS = Path("logs/tensorboard/scoring")
NAME = "scoring_monitor.json"
EVERY_S = 2.0
FORECAST_REPLIES = 200
"""A forecast goes by this many of the newest replies in the cache."""


@dataclass(frozen=True)
class Progress:
    """Samples done and cost in US dollars; costs are None if prices are not known."""

    done: int
    total: int
    cost: float | None
    cost_at_end: float | None


class Monitor:
    """Records a point every few seconds while samples are scored, and the figures of the whole run at its end."""

    def __init__(
        self, provider: Provider, tally: Tally, limiter: Limiter, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._provider, self._tally, self._limiter, self._clock = provider, tally, limiter, clock
        self._started = self._last = clock()
        self._points: list[dict[str, float]] = []
        self._events = SummaryWriter(str(EVENTS / time.strftime("%Y%m%d_%H%M%S")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._point()
        self._events.close()

    def tick(self) -> None:
        if self._clock() - self._last >= EVERY_S:
            self._point()

    def write(self, path: Path) -> dict[str, Any]:
        figures = {**run_figures(self._provider, self._tally, self._clock() - self._started), "points": self._points}
        write_json(path, figures)
        return figures

    def _point(self) -> None:
        """Rate, refusals and latency cover the last minute; the rest counts from the start."""
        self._last = self._clock()
        done = self._tally.scored + self._tally.failed
        figures = {
            **self._limiter.figures(),
            "cache_hit_rate": cache_hit_rate(self._tally),
            "cost_usd": cost(self._provider, self._tally) or 0.0,
        }
        self._points.append({"seconds": self._last - self._started, "samples": float(done), **figures})
        for name, value in figures.items():
            self._events.add_scalar(f"scoring/{name}", value, done)


def run_figures(provider: Provider, tally: Tally, seconds: float) -> dict[str, Any]:
    """Figures of the whole run. `avg_latency` is in seconds per reply; `cost_usd` is null if prices are not known."""
    calls = sum(tally.calls.values())
    replies = tally.calls["ok"] + tally.calls["bad_reply"]
    return {
        "provider": provider.name,
        "model": provider.model,
        "seconds": seconds,
        "scored": tally.scored,
        "failed": tally.failed,
        "calls": dict(tally.calls),
        "rps": calls / seconds if seconds else 0.0,
        "429_rate": tally.calls["rate_limited"] / calls if calls else 0.0,
        "avg_latency": tally.latency_ms / 1000 / replies if replies else 0.0,
        "cache_hit_rate": cache_hit_rate(tally),
        "tokens_in": tally.tokens_in,
        "tokens_out": tally.tokens_out,
        "cost_usd": cost(provider, tally),
    }


def cache_hit_rate(tally: Tally) -> float:
    votes = tally.cache_hits + tally.calls["ok"]
    return tally.cache_hits / votes if votes else 0.0


def cost(provider: Provider, tally: Tally) -> float | None:
    return provider.cost(tally.tokens_in, tally.tokens_out)


def progress(provider: Provider, tally: Tally, total: int) -> Progress:
    """The progress after at least one sample has ended."""
    done = tally.scored + tally.failed
    spent = cost(provider, tally)
    return Progress(done, total, spent, None if spent is None else spent / done * total)


class Budget:
    """A budget for one run in US dollars (None: no limit). No sample is started that would probably exceed it."""

    def __init__(self, provider: Provider, tally: Tally, budget: float | None) -> None:
        if budget is not None and provider.cost(0, 0) is None:
            raise BadInput(
                f"the prices of {provider.name} are not known, so no budget can be kept",
                where="--budget",
                remedy="add usd_in and usd_out for it to configs/default.yaml, or leave the flag out",
            )
        self._provider, self._tally = provider, tally
        self._budget = None if provider.cost(1, 1) == 0 else budget
        self._most_tokens = 0

    def sample_ended(self, tokens: int) -> None:
        self._most_tokens = max(self._most_tokens, tokens)

    @property
    def is_blind(self) -> bool:
        """Whether there is a budget to keep and the server did not say what some calls cost."""
        return self._budget is not None and self._tally.unbilled > 0

    def allows(self, running: int) -> bool:
        """Whether one more sample may start. The first runs alone: before it nobody knows what a sample costs."""
        if self._budget is None:
            return True
        if self.is_blind:
            return False
        spent = cost(self._provider, self._tally) or 0.0
        if not self._most_tokens:
            return running == 0 and spent < self._budget
        price = spent / (self._tally.tokens_in + self._tally.tokens_out)
        return spent + (running + 1) * self._most_tokens * price <= self._budget


class Forecast(Record, frozen=True):
    """Calls, cost and time of live scoring. `..._most`: if the votes on every dialogue disagree to the last."""

    dialogues: int
    calls: int
    calls_most: int
    usd: float | None
    """None if the prices are not known."""
    usd_most: float | None
    seconds: float
    seconds_most: float
    known_from: int
    """Number of earlier replies of this judge that it is estimated from."""

    def describe(self) -> str:
        """
        >>> Forecast(100, 300, 1100, 0.5, 1.75, 90.0, 400.0, 3).describe()
        '100 dialogues, 300 calls (1,100 at most), about $0.50 ($1.75 at most), about 2 min (7 min at most)'
        """
        money = "cost not known" if self.usd is None else f"about {_usd(self.usd)} ({_usd(self.usd_most or 0)} at most)"
        time = f"about {_duration(self.seconds)} ({_duration(self.seconds_most)} at most)"
        return f"{self.dialogues:,} dialogues, {self.calls:,} calls ({self.calls_most:,} at most), {money}, {time}"


def forecast(session: Session, dialogues: int, at_once: int) -> Forecast:
    """Estimated from what the newest replies of this judge billed and how long they took.

    `at_once` is the number of concurrent calls. A judge that was never asked must score one dialogue first
    (`score_once`).
    """
    provider, votes = session.provider, session.scoring.votes
    rows = session.store.read(
        "SELECT reply FROM replies WHERE provider = ? AND model = ? AND prompt_version = ? ORDER BY id DESC LIMIT ?",
        (provider.name, provider.model, PROMPT_VERSION, FORECAST_REPLIES),
    )
    replies = [json.loads(reply) for (reply,) in rows]
    if not replies:
        raise ValueError("a forecast needs at least one reply of this judge")
    tokens_in = fmean(reply["tokens_in"] for reply in replies)
    tokens_out = fmean(reply["tokens_out"] for reply in replies)
    seconds = median(reply["latency_ms"] for reply in replies) / 1000
    calls, most = dialogues * votes.k, dialogues * votes.k_max
    return Forecast(
        dialogues=dialogues,
        calls=calls,
        calls_most=most,
        usd=provider.cost(round(calls * tokens_in), round(calls * tokens_out)),
        usd_most=provider.cost(round(most * tokens_in), round(most * tokens_out)),
        seconds=calls * seconds / at_once,
        seconds_most=most * seconds / at_once,
        known_from=len(replies),
    )


async def score_once(judge: Judge, dialogue: Dialogue, provider: Provider) -> None:
    """Scores one dialogue. Raises BadInput if the judge gives no score, so that a run that needs it does not begin."""
    entry = await judge.score(dialogue)
    if entry.failure:
        raise BadInput(
            f"the judge gives no score: {entry.failure}",
            where=provider.name,
            remedy="see that `askgate probe_scorer --live` passes",
        )


def _usd(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"


def _duration(seconds: float) -> str:
    """
    >>> _duration(12), _duration(90), _duration(9000)
    ('12 s', '2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
