"""Worker processes of the data stages: this process, a process pool, or a Ray cluster, behind one `map`.

    with open_workers("local") as workers:          # "" for a process pool, or the address of a Ray cluster
        for result in workers.map(work, [(1, 2), (3, 4)]):
            ...

Ray schedules the calls, moves their data, repeats those of a worker that died, and makes lost results again. Work is a
function of its arguments only, so a call that is repeated gives the same result.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from ..core.errors import BadInput
from ..utils.processes import usable_cores

T = TypeVar("T")
Call = tuple[Any, ...]
Kept = Any
"""A result that stays with its worker. It can only be passed to later calls."""
AHEAD = 3
"""Calls per worker that are in progress or waiting, so that memory does not grow with the number of calls."""


class Workers:
    """Runs calls one after the other, in this process. Base class of the other kinds of workers."""

    count = 1

    def map(self, work: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        """Results of `work(*call)` in the order of the calls."""
        return (work(*call) for call in calls)

    def keep(self, work: Callable[..., Any], calls: Iterable[Call], parts: int) -> Iterator[tuple[Any, list[Kept]]]:
        """Like `map`, for `work` that returns a tuple: yields its first item, and `parts` kept results."""
        return ((first, kept) for first, *kept in self.map(work, calls))

    def share(self, value: T) -> T:
        """An argument that many calls get, moved to each worker once."""
        return value


class ProcessPool(Workers):
    """Processes on this machine. Kept results are in the memory of the calling process."""

    def __init__(self, count: int) -> None:
        self.count = count

    def map(self, work: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        executor = ProcessPoolExecutor(self.count)
        try:
            yield from _in_order(lambda call: executor.submit(work, *call), lambda one: one.result(), calls, self.count)
        finally:
            executor.shutdown(cancel_futures=True)


class RayWorkers(Workers):
    """Worker processes of a Ray cluster, one call per core at a time. Kept results are in Ray's object store, which
    writes to disk what does not fit."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.count = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def map(self, work: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        remote = self._ray.remote(work)
        return _in_order(lambda call: remote.remote(*call), self._get, calls, self.count)

    def keep(self, work: Callable[..., Any], calls: Iterable[Call], parts: int) -> Iterator[tuple[Any, list[Kept]]]:
        remote = self._ray.remote(num_returns=1 + parts)(work)
        return _in_order(
            lambda call: remote.remote(*call), lambda made: (self._get(made[0]), made[1:]), calls, self.count
        )

    def share(self, value: T) -> Any:
        return self._ray.put(value)

    def _get(self, reference: Any) -> Any:
        from ray.exceptions import RayError, RayTaskError

        try:
            return self._ray.get(reference)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            what = f"a call failed on the cluster, its repetitions included ({str(error).splitlines()[0]})"
            remedy = "see `ray status` and the memory of the workers, then run the same command again"
            raise BadInput(what, where="--cluster", remedy=remedy) from None


def _in_order(
    submit: Callable[[Call], Any], result: Callable[[Any], Any], calls: Iterable[Call], workers: int
) -> Iterator[Any]:
    """Results in the order of the calls, a few calls ahead of the reader."""
    pending: deque[Any] = deque()
    for call in calls:
        pending.append(submit(call))
        if len(pending) > AHEAD * workers:
            yield result(pending.popleft())
    while pending:
        yield result(pending.popleft())


def local_workers(is_large: bool, most: int) -> Workers:
    """Workers on this machine: a process pool for large work, else this process, which starts faster."""
    count = usable_cores(most)
    return ProcessPool(count) if is_large and count > 1 else Workers()


@contextmanager
def open_workers(cluster: str) -> Iterator[Workers | None]:
    """Workers of a Ray cluster: `local` starts one on this machine for the block; an address joins one that runs.

    None without a cluster: each stage then starts processes on this machine as it needs them.
    """
    if not cluster:
        yield None
        return
    with joined(cluster) as ray:
        yield RayWorkers(ray)


@contextmanager
def joined(cluster: str) -> Iterator[Any]:
    """The module `ray`, connected to a cluster. A process that is connected already, such as a Ray task, stays so."""
    try:
        # Nothing is sent to the makers of Ray.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray's own 15 would put the workers of a local cluster behind everything else that the machine does.
        os.environ.setdefault("RAY_worker_niceness", "0")
        import ray
    except ImportError:
        raise BadInput("Ray is not installed", where="--cluster", remedy="pip install 'askgate[cluster]'") from None
    if ray.is_initialized():
        yield ray
        return
    own: dict[str, Any] = {"num_cpus": usable_cores(most=256), "include_dashboard": False} if cluster == "local" else {}
    try:
        ray.init(address=cluster, log_to_driver=False, logging_level=logging.ERROR, **own)
    except Exception as error:  # Ray raises no class of its own here
        what = f"cannot start or join the Ray cluster ({str(error).splitlines()[0]})"
        remedy = "start one with `ray start --head`, or use --cluster local on a machine that is not overloaded"
        raise BadInput(what, where=f"--cluster {cluster}", remedy=remedy) from None
    try:
        yield ray
    finally:
        ray.shutdown()
