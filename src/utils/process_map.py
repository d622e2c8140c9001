"""How many processes may run at once."""

from __future__ import annotations

import os
import sys


def usable_cores(most: int) -> int:
    """Cores that this process may use, at most `most`. A container may allow fewer than the machine has."""
    found = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(found, most)
