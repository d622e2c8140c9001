"""Cost and progress of a scoring run: forecast before it, budget during it, and its figures as JSON and TensorBoard."""

from __future__ import annotations

import json
import os
import time
from collections import Counter, deque
from pathlib import Path
from statistics import fmean, median
from typing import Any, Protocol, Self

from ..core.errors import BadInput
from ..runtime.progress import duration
from ..runtime.tensorboard import EventFile
from .judge import Judge, Session, Tally
from .prompt import Dialogue, prompt_version

EVENTS = Path("logs/scoring")
NAME = "scoring_monitor.json"
EVERY_S, MINUTE_S = 2.0, 60.0
FORECAST_REPLIES = 200
"""Number of the newest replies in the cache that a forecast is based on."""


class HasConcurrency(Protocol):
    @property
    def concurrency(self) -> int: ...


class Monitor:
    """Records a point every few seconds while samples are scored, and the figures of the whole run at its end."""

    def __init__(self, tally: Tally, limiter: HasConcurrency) -> None:
        self._tally, self._limiter = tally, limiter
        self._started = time.monotonic()
        self._history = deque([(self._started, Counter[str](), 0.0)])
        """Time, calls and latency at each point of the last minute, and at the last one before it."""
        self._points: list[dict[str, float]] = []
        # Two commands that start in the same second share the folder, and each has its own file in it.
        self._events = EventFile(EVENTS / time.strftime("%Y%m%d_%H%M%S"), str(os.getpid()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:  # after an error the disk may be full
            self._point()
        self._events.close()

    def tick(self) -> None:
        """Records a point if the last one is at least EVERY_S old."""
        if time.monotonic() - self._history[-1][0] >= EVERY_S:
            self._point()

    def figures(self) -> dict[str, Any]:
        """The figures of the whole run, and all points."""
        return {**run_figures(self._tally, time.monotonic() - self._started), "points": self._points}

    def _point(self) -> None:
        """Records a point. Rate, refusals and latency cover the last minute; the rest counts from the start."""
        now, tally = time.monotonic(), self._tally
        while len(self._history) > 1 and self._history[1][0] <= now - MINUTE_S:
            self._history.popleft()
        then, calls, latency_ms = self._history[0]
        self._history.append((now, tally.calls.copy(), tally.latency_ms))
        figures = {
            **_service_figures(tally.calls - calls, tally.latency_ms - latency_ms, now - then),
            "concurrency": float(self._limiter.concurrency),
            "cache_hit_rate": tally.cache_hit_rate,
            "cost_usd": tally.cost or 0.0,
        }
        self._points.append({"seconds": now - self._started, "samples": float(tally.done), **figures})
        self._events.add(tally.done, {f"scoring/{name}": value for name, value in figures.items()})


def run_figures(tally: Tally, seconds: float) -> dict[str, Any]:
    """Figures of the whole run. `avg_latency` is in seconds per reply; `cost_usd` is null if prices are not known."""
    return {
        "provider": tally.provider.name,
        "model": tally.provider.model,
        "seconds": seconds,
        "scored": tally.scored,
        "failed": tally.failed,
        "calls": dict(tally.calls),
        **_service_figures(tally.calls, tally.latency_ms, seconds),
        "cache_hit_rate": tally.cache_hit_rate,
        "tokens_in": tally.tokens_in,
        "tokens_out": tally.tokens_out,
        "cost_usd": tally.cost,
    }


def _service_figures(calls: Counter[str], latency_ms: float, seconds: float) -> dict[str, float]:
    """Requests per second, share of refusals, and seconds per reply."""
    replies = calls["ok"] + calls["bad_reply"]
    return {
        "rps": calls.total() / seconds if seconds else 0.0,
        "429_rate": calls["rate_limited"] / calls.total() if calls else 0.0,
        "avg_latency": latency_ms / 1000 / replies if replies else 0.0,
    }


class Budget:
    """A budget for one run in US dollars (None: no limit). No sample is started that would probably exceed it."""

    def __init__(self, tally: Tally, budget: float | None) -> None:
        provider = tally.provider
        if budget is not None and provider.cost(0, 0) is None:
            raise BadInput(
                f"the prices of {provider.name} are not known, so no budget can be kept",
                where="--budget",
                remedy="add usd_in and usd_out for it to configs/default.yaml, or leave the flag out",
            )
        self._tally = tally
        self._budget = None if provider.cost(1, 1) == 0 else budget
        self._sample_tokens = 0
        """Tokens of the largest sample so far; 0: not known yet."""

    def expect(self, session: Session) -> None:
        """Estimates a sample by the largest recent reply in the cache: a batch starts all samples before one ends."""
        if self._budget is None:
            return
        if not (replies := newest_replies(session)):
            raise BadInput(
                f"{session.provider.name} has answered nothing yet, so nobody knows what a batch costs",
                where="--budget",
                remedy="run `askgate probe-scorer --live` first, or leave the flag out",
            )
        largest = max(reply["tokens_in"] + reply["tokens_out"] for reply in replies)
        self._sample_tokens = largest * session.settings.scoring.votes.k

    def sample_ended(self, tokens: int) -> None:
        self._sample_tokens = max(self._sample_tokens, tokens)

    @property
    def lacks_bills(self) -> bool:
        """Whether there is a budget and the server did not bill some calls, so that it cannot be kept."""
        return self._budget is not None and self._tally.unbilled > 0

    def allows(self, running: int) -> bool:
        """Whether one more sample may start. The first runs alone, because it shows what a sample costs."""
        if self._budget is None:
            return True
        if self.lacks_bills:
            return False
        spent = self._tally.cost or 0.0
        if not self._sample_tokens:
            return running == 0 and spent < self._budget
        tokens = self._tally.tokens_in + self._tally.tokens_out
        cost = self._tally.provider.cost
        price = spent / tokens if tokens else max(cost(1, 0) or 0.0, cost(0, 1) or 0.0)
        return spent + (running + 1) * self._sample_tokens * price <= self._budget


def newest_replies(session: Session) -> list[dict[str, Any]]:
    """The newest replies of this judge in the cache."""
    provider = session.provider
    rows = session.store.read(
        "SELECT reply FROM replies WHERE provider = ? AND model = ? AND prompt_version = ? ORDER BY id DESC LIMIT ?",
        (provider.name, provider.model, prompt_version(provider), FORECAST_REPLIES),
    )
    return [json.loads(reply) for (reply,) in rows]


def forecast(session: Session, dialogues: int, at_once: int) -> str:
    """Calls, cost and time of live scoring, estimated from bills and latencies of this judge's newest replies.

    "At most": if every dialogue needs `k_max` votes. `at_once`: number of concurrent calls. A judge without any reply
    must score one dialogue first (`score_once`).
    """
    provider, votes = session.provider, session.settings.scoring.votes
    replies = newest_replies(session)
    tokens_in = fmean(reply["tokens_in"] for reply in replies)
    tokens_out = fmean(reply["tokens_out"] for reply in replies)
    # Replies from a batch have no latency.
    latencies = [reply["latency_ms"] for reply in replies if not reply.get("batch")]
    seconds = median(latencies) / 1000 / at_once if latencies else None
    calls, most = dialogues * votes.k, dialogues * votes.k_max
    usd, usd_most = (provider.cost(round(n * tokens_in), round(n * tokens_out)) for n in (calls, most))
    cost_text = "cost not known" if usd is None else f"about {_usd(usd)} ({_usd(usd_most or 0)} at most)"
    time_text = "time not known"
    if seconds is not None:
        time_text = f"about {duration(calls * seconds)} ({duration(most * seconds)} at most)"
    return (
        f"{dialogues:,} dialogues, {calls:,} calls ({most:,} at most), {cost_text}, {time_text}; by the newest"
        f" {len(replies)} calls"
    )


async def score_once(judge: Judge, dialogue: Dialogue) -> None:
    """Scores one dialogue. Raises BadInput if the judge gives no score, so that a run that needs it does not begin."""
    entry = await judge.score(dialogue)
    if entry.failure:
        raise BadInput(
            f"the judge gives no score: {entry.failure}",
            where=judge.tally.provider.name,
            remedy="see that `askgate probe-scorer --live` passes",
        )


def _usd(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"
