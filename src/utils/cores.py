"""How many processes may run at once."""

from __future__ import annotations

import os
import sys


def usable_cores(most: int) -> int:
    """The cores that this process may use, which in a container or under `taskset` are fewer than the machine has."""
    found = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(found, most)
