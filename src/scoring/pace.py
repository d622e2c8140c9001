"""How many requests a second a service bears, learned from what it accepts and refuses. Pure: time is an argument.

Until the first refusal only the number of calls in flight limits us. Then the rate starts from what was accepted in
the last second and grows by half every second until a refusal shows where the ceiling is. From there it moves the way
TCP CUBIC does: a step back, quickly up to just under the ceiling, slowly past it, and where nothing refuses it there,
in search of a new one. So refusals stay rare, and little is given away.
"""

from __future__ import annotations

from collections import deque
from math import inf

STEP_BACK = 0.98
CLIMB_S = 30.0
"""Seconds of sending at full rate from a step back to the ceiling."""
SETTLE_S = 1.0
"""A service that counts by the second holds a burst against us for so long; until then its refusals say nothing new."""
LOOK_BACK_S = 4.0
FASTER = 1.5
"""By the second, while the ceiling is looked for."""
LATE_S, IDLE_S = 0.1, 0.02
"""How much of the past may be made up for, when somebody was waiting and when nobody was."""
SLOWEST = 0.1


class Pace:
    """A token bucket whose rate is given, or learned when it is not."""

    def __init__(self, rps: float | None = None) -> None:
        self._given = rps
        self._ceiling = rps if rps else inf
        self._searching = False
        self._tested_s = 0.0
        self._cut_at = -inf
        self._seen: deque[tuple[float, bool]] = deque()
        self._tokens = 1.0
        self._filled_at: float | None = None
        self._awaited = False

    @property
    def rate(self) -> float:
        """Requests a second, at present."""
        if self._given or self._ceiling == inf:
            return self._ceiling
        if self._searching:
            return float(self._ceiling * FASTER ** max(0.0, self._tested_s - SETTLE_S))
        return self._ceiling * (1 - (1 - STEP_BACK) * ((CLIMB_S - self._tested_s) / CLIMB_S) ** 3)

    def wait(self, now: float) -> float:
        """Seconds until the next request may go."""
        self._fill(now)
        self._awaited = self._tokens < 1
        return (1 - self._tokens) / self.rate if self._awaited else 0.0

    def take(self, now: float) -> None:
        self._fill(now)
        self._tokens -= 1

    def accepted(self, now: float) -> None:
        self._seen.append((now, True))
        self._forget(now)

    def refused(self, now: float, sent_at: float, *, held: bool) -> None:
        """`held`: the service also said how long to wait, so that nothing was sent for a while."""
        if self._given or sent_at < self._cut_at:
            return
        self._seen.append((now, False))
        self._forget(now)
        if sent_at < self._cut_at + self._settle_s:
            return
        self._ceiling = self._estimate(now, held)
        self._searching = self._cut_at == -inf
        self._tested_s = 0.0
        self._cut_at = now

    def _estimate(self, now: float, held: bool) -> float:
        accepted, refused = self._counted(now, held)
        if self._ceiling == inf:
            return max(1.0, accepted / SETTLE_S)
        # A single refusal says no more than that the ceiling is here.
        share = accepted / max(1, accepted + refused - 1)
        if held:
            # Each wait wipes out what was held against us, so refusals come one by one however wrong the rate is.
            # What got through says more.
            share = min(share, (accepted + 1) / (self.rate * self._settle_s))
        # Half is the least that a refusal can mean: we may have been sending less than we were allowed to.
        return max(SLOWEST, self.rate * max(0.5, share))

    @property
    def _settle_s(self) -> float:
        """Long enough to count a few requests in."""
        return max(SETTLE_S, 4 / self.rate)

    def _counted(self, now: float, held: bool) -> tuple[int, int]:
        """Requests accepted and refused lately: over a few seconds where the rate has been steady for so long."""
        steady = not (self._searching or held or self._cut_at == -inf)
        steady_s = now - self._cut_at - self._settle_s if steady else 0.0
        since = now - min(max(steady_s, self._settle_s), self._look_back_s)
        lately = [accepted for at, accepted in self._seen if at > since]
        return sum(lately), len(lately) - sum(lately)

    @property
    def _look_back_s(self) -> float:
        return max(LOOK_BACK_S, 4 * self._settle_s)

    def _forget(self, now: float) -> None:
        while self._seen[0][0] < now - self._look_back_s:
            self._seen.popleft()

    def _fill(self, now: float) -> None:
        passed = now - self._filled_at if self._filled_at is not None else 0.0
        self._filled_at = now
        if self.rate == inf:
            self._tokens = 1.0
            return
        # The rate is tested only while somebody waits for it; a quiet time teaches nothing.
        late_s = LATE_S if self._awaited else IDLE_S
        if self._awaited:
            self._test(passed)
        self._awaited = False
        # What a late timer owes to somebody who waits is made up for; what nobody asked for is not saved up, because a
        # burst is what gets refused.
        self._tokens = max(self._tokens, min(self._tokens + passed * self.rate, 1 + late_s * self.rate))

    def _test(self, passed: float) -> None:
        self._tested_s += passed
        if not self._searching and self._tested_s > 2 * CLIMB_S and not self._given:
            # As far above the ceiling as the step back was below it, and not refused: the ceiling is gone.
            self._ceiling, self._searching, self._tested_s = self.rate, True, 0.0
