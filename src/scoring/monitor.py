"""The figures of a scoring run while it goes on: as JSON, and as TensorBoard event files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tensorboardX import SummaryWriter

from ..core.files import write_json
from .judge import Tally
from .limiter import Limiter
from .providers import Provider

EVENTS = Path("logs/tensorboard/scoring")
NAME = "scoring_monitor.json"
EVERY_S = 2.0


@dataclass(frozen=True)
class Progress:
    """`cost` and `cost_at_end` in US dollars; None where prices are not known."""

    done: int
    total: int
    cost: float | None
    cost_at_end: float | None


class Monitor:
    """A point every few seconds while samples end, and the whole run's figures when it is over."""

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
        found = {**whole_run(self._provider, self._tally, self._clock() - self._started), "points": self._points}
        write_json(path, found)
        return found

    def _point(self) -> None:
        """Rate, refusals and latency are those of the last minute; the rest counts from the start."""
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


def whole_run(provider: Provider, tally: Tally, seconds: float) -> dict[str, Any]:
    """`avg_latency` in seconds, of the requests that brought a reply; `cost_usd` null where prices are not known."""
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
    """When at least one sample has ended."""
    done = tally.scored + tally.failed
    spent = cost(provider, tally)
    return Progress(done, total, spent, None if spent is None else spent / done * total)
