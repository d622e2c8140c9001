"""A circuit breaker: a service that fails again and again is left alone for a while.

Refusals for going too fast are not failures; the limiter answers those.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from .types import CallFailed


class Breaker:
    """Closed: calls pass. Open: none does. Then one call may try, and its outcome decides for all."""

    def __init__(self, name: str, *, failures: int, open_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._most, self._open_s, self._clock = name, failures, open_s, clock
        self._in_a_row = 0
        self._opened_at: float | None = None
        self._trying = False
        self._last = ""

    def check(self) -> None:
        """Raises while nothing may be sent."""
        if self._opened_at is None:
            return
        wait = max(0.0, self._opened_at + self._open_s - self._clock())
        if wait > 0 or self._trying:
            when = f"in {wait:.0f} s" if wait > 0 else "when the one call that is trying it has ended"
            raise CallFailed(
                "circuit_open",
                f"{self._name} failed {self._in_a_row} times in a row, last with {self._last}; asked again {when}",
                retry_after=wait,
            )

    def admit(self) -> bool:
        """Like `check`; true when this call is the one that finds out whether the service is back."""
        self.check()
        self._trying = self._opened_at is not None
        return self._trying

    def worked(self) -> None:
        """The service answered: with a reply, or by asking for patience."""
        self._in_a_row, self._opened_at, self._trying = 0, None, False

    def failed(self, why: str, *, tried: bool) -> None:
        self._in_a_row += 1
        self._last = why
        if tried:
            self._trying = False
        if tried or (self._opened_at is None and self._in_a_row >= self._most):
            self._opened_at = self._clock()

    def abandoned(self, *, tried: bool) -> None:
        """The call was cancelled and says nothing about the service."""
        if tried:
            self._trying = False
