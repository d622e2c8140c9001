"""Polling with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE_S = 120.0


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Returns as soon as the condition holds; fails after two minutes."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"still waiting after {DEADLINE_S:g} s: {what}"
        time.sleep(0.005)
