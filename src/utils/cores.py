"""The number of CPU cores that this process may use."""

from __future__ import annotations

import os
import sys


def usable_cores(most: int) -> int:
    """Usable cores, at most `most`. In a container or under `taskset` there are fewer than the machine has."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(cores, most)
