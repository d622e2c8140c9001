"""How many requests a second a service bears, learned from what it accepts and refuses. Pure: time is an argument.

Until the first refusal only the number of calls in flight limits us. A refusal means that the service's rate lies
between what it has been accepting and what we send. From there the rate climbs the way TCP CUBIC climbs: quickly back
to just under the rate that was refused, slowly past it, and then faster, in case the service bears more than before.
So refusals stay rare, and little is given away.
"""

from __future__ import annotations

from collections import deque
from math import inf

STEP_BACK = 0.97
CLIMB_S = 20.0
"""Seconds of sending at full rate from a step back to where the refusal was."""
SETTLE_S = 1.0
"""A service that counts by the second still holds the burst against us for so long; its refusals say nothing new."""
LOOK_BACK_S = 4.0
SLOWEST = 0.1


class Pace:
    """A token bucket whose rate is given, or learned when it is not."""

    def __init__(self, rps: float | None = None) -> None:
        self._given = rps
        self._peak = rps if rps else inf
        self._climbed_s = CLIMB_S
        self._cut_at = -inf
        self._accepted: deque[float] = deque()
        self._tokens = 1.0
        self._filled_at: float | None = None

    @property
    def rate(self) -> float:
        """Requests a second, at present."""
        if self._given or self._peak == inf:
            return self._peak
        return self._peak * (1 - (1 - STEP_BACK) * ((CLIMB_S - self._climbed_s) / CLIMB_S) ** 3)

    def wait(self, now: float) -> float:
        """Seconds until the next request may go."""
        self._fill(now)
        return 0.0 if self._tokens >= 1 else (1 - self._tokens) / self.rate

    def take(self, now: float) -> None:
        self._fill(now)
        self._tokens -= 1

    def accepted(self, now: float) -> None:
        self._accepted.append(now)

    def refused(self, now: float, sent_at: float) -> None:
        if self._given or sent_at < self._cut_at + self._settle_s:
            return
        rate = self.rate
        # Counting is one off at most, so one more may well be borne. Half is the least that one refusal can mean:
        # we may have been sending less than we were allowed to.
        borne = self._borne(now)
        self._peak = max(SLOWEST, borne if rate == inf else min(rate, max(borne, rate / 2)))
        self._climbed_s = 0.0
        self._cut_at = now

    @property
    def _settle_s(self) -> float:
        return max(SETTLE_S, 4 / self.rate)

    def _borne(self, now: float) -> float:
        """What the service has been accepting, a second: over a few seconds where it was asked steadily for so long."""
        steady_s = 0.0 if self._cut_at == -inf else now - self._cut_at - self._settle_s
        length = min(max(steady_s, self._settle_s), max(LOOK_BACK_S, 5 * self._settle_s))
        while self._accepted and self._accepted[0] <= now - length:
            self._accepted.popleft()
        return (len(self._accepted) + 1) / length

    def _fill(self, now: float) -> None:
        passed = now - self._filled_at if self._filled_at is not None else 0.0
        self._filled_at = now
        if self.rate == inf:
            self._tokens = 1.0
            return
        # The rate is tested only while somebody waits for it; a quiet service teaches nothing.
        if self._tokens < 1:
            self._climbed_s += passed
        # Room for what a late timer owes, no more: a burst is what gets refused.
        self._tokens = min(self._tokens + passed * self.rate, 1 + 0.02 * self.rate)
