"""Work on several processes: how many may run at once, and a `map` over them that stays small."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def usable_cores(most: int) -> int:
    """Cores that this process may use, at most `most`. A container may allow fewer than the machine has."""
    found = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(found, most)


def map_in_order(
    work: Callable[[T], R],
    items: Iterable[T],
    workers: int,
    initializer: Callable[..., None] | None = None,
    initargs: tuple[Any, ...] = (),
) -> Iterator[R]:
    """Like `map` over worker processes, but at most a few items ahead of the reader, so that memory stays small."""
    executor = ProcessPoolExecutor(workers, initializer=initializer, initargs=initargs)
    pending: deque[Future[R]] = deque()
    try:
        for item in items:
            pending.append(executor.submit(work, item))
            if len(pending) > 3 * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
