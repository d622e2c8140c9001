"""Waiting: with a deadline, and for the work of another process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

DEADLINE_S = 120.0


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Returns as soon as the condition holds; fails after two minutes."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"still waiting after {DEADLINE_S:g} s: {what}"
        time.sleep(0.005)


def wait_for_work(child: int, until: float) -> float:
    """Waits until the process has used so many CPU seconds or has ended; returns the seconds used."""
    while True:
        worked = int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) / 1e9
        if worked >= until or Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return worked
        time.sleep(0.001)
