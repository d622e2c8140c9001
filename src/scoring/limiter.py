"""Limits of the calls to one provider: request rate, tokens per minute, concurrency, and a circuit breaker.

One limiter and one breaker serve all callers of a provider, so a refusal slows all of them down, and `Retry-After`
makes all of them wait.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf

from ..config.judge_config import LimitsSection
from .types import CallFailed

STEP_BACK = 0.98
"""Share of the ceiling at which the rate starts again after a refusal."""
CLIMB_S = 30.0
"""Seconds of sending at full rate from a step back to the ceiling."""
WINDOW_S = 1.0
"""A service that counts by the second remembers a burst for this long. Further refusals within it are ignored."""
SEARCH_GROWTH = 1.5
"""Growth of the rate per second while the ceiling is unknown."""
TICK_S = 1e-6
"""A shorter wait counts as none: rounding may lose it when it is added to a clock, and the wait would never end."""
LATE_S, IDLE_S = 0.1, 0.02
"""Seconds of unused rate that may be saved up for later calls: LATE_S while a caller waits, IDLE_S while none does."""
MIN_RPS = 0.1
MINUTE_S = 60.0
FEWER_CALLS = 0.75
"""Factor of the concurrency after a refusal. Not a half: the rate is cut as well, and deals with most refusals."""
Clock = Callable[[], float]


class RateLimit:
    """A token bucket. Its rate is given, or learned from what the service accepts and refuses. Time is an argument.

    Until the first refusal only the number of concurrent calls limits us. Then the rate starts from what was accepted
    in the last second and grows by half every second until a refusal shows where the ceiling is. From there it moves
    like TCP CUBIC (RFC 9438): a step back, quickly up to just under the ceiling, slowly past it, and, if nothing
    refuses it there, on to a new ceiling. So refusals stay rare and little capacity is given away.
    """

    def __init__(self, rps: float | None = None) -> None:
        self._fixed = bool(rps)
        self._ceiling = rps if rps else inf
        self._searching = False  # the ceiling is unknown; the rate grows until a refusal
        self._tested_s = 0.0  # seconds since the last cut in which a caller waited for the rate
        self._cut_at = -inf
        self._history: deque[tuple[float, bool]] = deque()  # time and acceptance of the last window's requests
        self._tokens = 1.0
        self._filled_at: float | None = None
        self._caller_waits = False

    @property
    def rate(self) -> float:
        """Requests per second, at present."""
        if self._fixed or self._ceiling == inf:
            return self._ceiling
        if self._searching:
            return float(self._ceiling * SEARCH_GROWTH ** max(0.0, self._tested_s - WINDOW_S))
        return self._ceiling * (1 - (1 - STEP_BACK) * ((CLIMB_S - self._tested_s) / CLIMB_S) ** 3)

    def wait(self, now: float) -> float:
        """Seconds until the next request may be sent."""
        self._fill(now)
        self._caller_waits = self._tokens < 1
        return (1 - self._tokens) / self.rate if self._caller_waits else 0.0

    def take(self, now: float) -> None:
        self._fill(now)
        self._tokens -= 1

    def accepted(self, now: float) -> None:
        self._remember(now, True)

    def refused(self, now: float, sent_at: float, *, told_to_wait: bool) -> None:
        """Records a refusal and estimates the ceiling again.

        `told_to_wait`: the service also sent `Retry-After`, so nothing was sent for a while.
        """
        if self._fixed or sent_at < self._cut_at:
            return
        self._remember(now, False)
        if sent_at < self._cut_at + self._window_s:
            return
        self._ceiling = self._estimate(now, told_to_wait)
        self._searching = self._cut_at == -inf
        self._tested_s = 0.0
        self._cut_at = now

    def _estimate(self, now: float, told_to_wait: bool) -> float:
        """The new ceiling, estimated from the requests accepted and refused in the last window."""
        recent = [accepted for at, accepted in self._history if at > now - self._window_s]
        accepted, refused = sum(recent), len(recent) - sum(recent)
        if self._ceiling == inf:
            return max(1.0, accepted / WINDOW_S)
        # A single refusal only shows that the ceiling is at the current rate.
        share = accepted / max(1, accepted + refused - 1)
        if told_to_wait:
            # Each wait clears the service's count, so there is one refusal at a time however wrong the rate is: the
            # number of accepted requests is the better estimate.
            share = min(share, (accepted + 1) / (self.rate * self._window_s))
        # A refusal never more than halves the rate: we may have been sending less than was allowed.
        return max(MIN_RPS, self.rate * max(0.5, share))

    @property
    def _window_s(self) -> float:
        """Seconds in which at least a few requests are sent."""
        return max(WINDOW_S, 4 / self.rate)

    def _remember(self, now: float, accepted: bool) -> None:
        self._history.append((now, accepted))
        while self._history[0][0] < now - self._window_s:
            self._history.popleft()

    def _fill(self, now: float) -> None:
        passed = now - self._filled_at if self._filled_at is not None else 0.0
        self._filled_at = now
        if self.rate == inf:
            self._tokens = 1.0
            return
        # Only time in which a caller waits tests the rate: idle time says nothing about the ceiling.
        late_s = LATE_S if self._caller_waits else IDLE_S
        if self._caller_waits:
            self._tested_s += passed
            if not self._searching and self._tested_s > 2 * CLIMB_S and not self._fixed:
                # The rate is as far above the ceiling as the step back was below it, without a refusal: search again.
                self._ceiling, self._searching, self._tested_s = self.rate, True, 0.0
        self._caller_waits = False
        # A waiting caller gets back the time by which its timer was late. Idle time is hardly saved up, because bursts
        # are refused.
        self._tokens = max(self._tokens, min(self._tokens + passed * self.rate, 1 + late_s * self.rate))


class TokensPerMinute:
    """Keeps the tokens billed in any minute below a limit. A call in flight counts as the mean of the last minute."""

    def __init__(self, tpm: int | None) -> None:
        self._tpm = tpm or inf
        self._billed: deque[tuple[float, int]] = deque()
        self._total = 0

    def wait(self, now: float, running: int) -> float:
        """Seconds until the next request may be sent, with `running` calls in flight."""
        while self._billed and self._billed[0][0] <= now - MINUTE_S:
            self._total -= self._billed.popleft()[1]
        calls = len(self._billed)
        if not calls or self._total + (running + 1) * self._total / calls <= self._tpm:
            return 0.0
        return self._billed[0][0] + MINUTE_S - now

    def billed(self, now: float, tokens: int) -> None:
        self._billed.append((now, tokens))
        self._total += tokens


class Limiter:
    """Rate and concurrency: `async with limiter.turn() as sent_at:` around each call, then `accepted` or `refused`."""

    def __init__(
        self,
        rps: float | None,
        limits: LimitsSection,
        clock: Clock = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        tpm: int | None = None,
    ) -> None:
        self._rate, self._tokens = RateLimit(rps), TokensPerMinute(tpm)
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._max_running = float(limits.concurrency_min)
        self._running = 0
        self._cut_at = self._paused_until = -inf
        self._queue = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for a turn, first come, first served, and yields the time of sending.

        Raises CallFailed if the service asks for a longer wait than `wait_max_s`.
        """
        async with self._queue:
            while self._running >= self.concurrency:
                self._freed.clear()
                await self._freed.wait()
            while (wait := self._wait()) > TICK_S:
                await self._sleep(wait)
            sent_at = self._clock()
            self._rate.take(sent_at)
            self._running += 1
        try:
            yield sent_at
        finally:
            self._running -= 1
            self._freed.set()

    def accepted(self, tokens: int = 0) -> None:
        """Adds one concurrent call for every full round of accepted calls. `tokens`: the billed tokens of this call."""
        now = self._clock()
        self._rate.accepted(now)
        self._tokens.billed(now, tokens)
        self._max_running = min(float(self._limits.concurrency_max), self._max_running + 1 / self._max_running)

    def refused(self, sent_at: float, retry_after: float | None) -> None:
        """Lowers rate and concurrency, the concurrency once for all refusals of one round."""
        now = self._clock()
        self._rate.refused(now, sent_at, told_to_wait=bool(retry_after))
        if sent_at >= self._cut_at:
            self._max_running = max(float(self._limits.concurrency_min), self._max_running * FEWER_CALLS)
            self._cut_at = now
        self.pause(retry_after)

    def pause(self, retry_after: float | None) -> None:
        """Makes all callers wait for as long as the service asked. Any error may have a `Retry-After`."""
        if retry_after:
            self._paused_until = max(self._paused_until, self._clock() + retry_after)

    @property
    def concurrency(self) -> int:
        """Number of calls that may be in flight."""
        return int(self._max_running)

    def _wait(self) -> float:
        now = self._clock()
        pause, longest = self._paused_until - now, self._limits.wait_max_s
        if pause > longest:
            what = f"the service asks to wait {pause:.0f} s, and at most {longest:.0f} s are waited"
            raise CallFailed("rate_limited", what, retry_after=pause)
        return max(pause, self._rate.wait(now), self._tokens.wait(now, self._running))


class CircuitBreaker:
    """Stops the calls to a service for a while after repeated failures. A rate limit (429) is not a failure.

    Closed: calls pass. Open: no call passes. After `breaker_open_s` one trial call passes, and its outcome decides.
    """

    def __init__(self, name: str, limits: LimitsSection, clock: Clock = time.monotonic) -> None:
        self._name, self._limits, self._clock = name, limits, clock
        self._failures = 0
        self._opened_at: float | None = None
        self._trial_is_running = False
        self._last_failure = ""

    def check(self) -> None:
        """Raises CallFailed while no call may be sent."""
        if self._opened_at is None:
            return
        wait = max(0.0, self._opened_at + self._limits.breaker_open_s - self._clock())
        if wait > 0 or self._trial_is_running:
            when = f"in {wait:.0f} s" if wait > 0 else "when the one call that is trying it has ended"
            raise CallFailed(
                "circuit_open",
                f"{self._name} failed {self._failures} times in a row, last with {self._last_failure};"
                f" asked again {when}",
                retry_after=wait,
            )

    def admit(self) -> bool:
        """Like `check`. True if this call is the trial call."""
        self.check()
        self._trial_is_running = self._opened_at is not None
        return self._trial_is_running

    def succeeded(self) -> None:
        """The service answered: with a reply, or by asking to wait."""
        self._failures, self._opened_at, self._trial_is_running = 0, None, False

    def failed(self, why: str, *, trial: bool) -> None:
        self._failures += 1
        self._last_failure = why
        if trial:
            self._trial_is_running = False
        if trial or (self._opened_at is None and self._failures >= self._limits.breaker_failures):
            self._opened_at = self._clock()

    def cancelled(self, *, trial: bool) -> None:
        """The call was cancelled, which says nothing about the service."""
        if trial:
            self._trial_is_running = False
