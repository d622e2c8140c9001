"""How fast one provider is asked: a token bucket, and two to eight calls in flight as the refusals allow.

One limiter serves all callers of a provider, so a refusal slows all of them, and `Retry-After` holds all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from typing import Literal

from .pace import Pace
from .types import CallFailed

NARROWER = 0.75
"""The rate answers most refusals. Halving the calls in flight on top of it would give away what the service bears."""
WATCHED_S = 60.0
"""The figures are those of the last minute."""


class Limiter:
    """`async with limiter.turn() as sent_at:` around each call, then `accepted` or `refused`."""

    def __init__(
        self,
        rps: float | None,
        *,
        least: int = 2,
        most: int = 8,
        wait_max_s: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pace = Pace(rps)
        self._width, self._least, self._most = float(least), least, most
        self._wait_max_s, self._clock, self._sleep = wait_max_s, clock, sleep
        self._in_flight = 0
        self._cut_at = self._paused_until = -inf
        self._line = asyncio.Lock()
        self._freed = asyncio.Event()
        self._seen: deque[tuple[float, Literal["accepted", "refused", "failed"], float]] = deque()
        self._started = clock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """First come, first served. Raises when the service has asked for more patience than we have."""
        async with self._line:
            while self._in_flight >= int(self._width):
                self._freed.clear()
                await self._freed.wait()
            while (wait := self._wait()) > 0:
                await self._sleep(wait)
            sent_at = self._clock()
            self._pace.take(sent_at)
            self._in_flight += 1
        try:
            yield sent_at
        finally:
            self._in_flight -= 1
            self._freed.set()

    def accepted(self, sent_at: float) -> None:
        """Adds one call in flight for every round of calls that went well."""
        now = self._clock()
        self._note(now, "accepted", now - sent_at)
        self._pace.accepted(now)
        self._width = min(float(self._most), self._width + 1 / self._width)

    def refused(self, sent_at: float, retry_after: float | None) -> None:
        """Takes a quarter of the calls out of flight, once for all the refusals of one round."""
        now = self._clock()
        self._note(now, "refused", now - sent_at)
        self._pace.refused(now, sent_at, held=bool(retry_after))
        if sent_at >= self._cut_at:
            self._width, self._cut_at = max(float(self._least), self._width * NARROWER), now
        self._pause(now, retry_after)

    def failed(self, sent_at: float, retry_after: float | None) -> None:
        """Says nothing about how fast the service may be asked, except that some errors too say when to come back."""
        now = self._clock()
        self._note(now, "failed", now - sent_at)
        self._pause(now, retry_after)

    def figures(self) -> dict[str, float]:
        """Of the last minute: answered requests a second, share of 429, seconds a reply took; and calls in flight."""
        now = self._clock()
        self._forget(now)
        replies = [took for _, how, took in self._seen if how == "accepted"]
        refused = sum(how == "refused" for _, how, _ in self._seen)
        length = min(WATCHED_S, now - self._started)
        return {
            "rps": len(self._seen) / length if length else 0.0,
            "429_rate": refused / len(self._seen) if self._seen else 0.0,
            "avg_latency": sum(replies) / len(replies) if replies else 0.0,
            "concurrency": float(int(self._width)),
        }

    def _wait(self) -> float:
        now = self._clock()
        pause = self._paused_until - now
        if pause > self._wait_max_s:
            raise CallFailed(
                "rate_limited",
                f"the service asks to wait {pause:.0f} s, and at most {self._wait_max_s:.0f} s are waited",
                retry_after=pause,
            )
        return max(pause, self._pace.wait(now))

    def _pause(self, now: float, retry_after: float | None) -> None:
        if retry_after:
            self._paused_until = max(self._paused_until, now + retry_after)

    def _note(self, now: float, how: Literal["accepted", "refused", "failed"], took: float) -> None:
        self._seen.append((now, how, took))
        self._forget(now)

    def _forget(self, now: float) -> None:
        while self._seen and self._seen[0][0] < now - WATCHED_S:
            self._seen.popleft()
