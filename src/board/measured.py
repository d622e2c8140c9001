"""Figures that take time: measured beside the requests, and only when something has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from ..core.errors import BadInput

T = TypeVar("T")
REST = 10
"""A measurement is followed by so many times its own length of rest, so that looking slows no run down."""


class Measured(Generic[T]):
    """`get()` answers at once with what is known and sees to it that it is measured again where it has to be.

    `stamp` tells cheaply whether anything changed; without one, `every` seconds decide alone.
    """

    def __init__(self, take: Callable[[], T], every: float, stamp: Callable[[], object] | None = None) -> None:
        self._take, self._every, self._stamp = take, every, stamp
        self._lock = threading.Lock()
        self._first = threading.Event()
        self._busy = False
        self._next = 0.0
        self._known: object = None
        self.value: T | None = None
        self.error = ""
        self.at = 0.0

    def get(self, wait: float = 0.0) -> T | None:
        """`wait`: seconds to give to the first measurement."""
        with self._lock:
            due = not self._busy and time.monotonic() >= self._next
            self._busy = self._busy or due
        if due:
            threading.Thread(target=self._measure, daemon=True).start()
        if wait:
            self._first.wait(wait)
        return self.value

    def _measure(self) -> None:
        started = time.monotonic()
        try:
            stamp = self._stamp() if self._stamp else object()
            if stamp != self._known or not self._first.is_set():
                self._keep(self._take(), "")
                self._known = stamp
        except (BadInput, OSError) as error:
            self._keep(None, str(error))
        finally:
            with self._lock:
                taken = time.monotonic() - started
                self._next = time.monotonic() + max(self._every, REST * taken)
                self._busy = False
            self._first.set()

    def _keep(self, value: T | None, error: str) -> None:
        if error:
            self._known = None
        self.value, self.error = value, error
        self.at = time.time()
