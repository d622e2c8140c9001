"""Cores that a process may use, and its garbage collection."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def usable_cores(most: int) -> int:
    """Cores that this process may use, at most `most`. A container may allow fewer than the machine has."""
    found = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(found, most)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collects cyclic garbage rarely, in this process and in those that it starts.

    A collection searches thousands of records that are still in use. That took a fifth of the time of a round, and a
    forked process copies every memory page that the search touches.
    """
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
