"""Stage `difficulty_metrics`: a pool in, one `DifficultyRecord` a line out, in the pool's order.

Lines travel to worker processes in chunks and come back in order, so the output does not depend on how many workers
there are. At most a few chunks are under way at once, so memory does not grow with the pool.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sha256_file, sidecar, written
from ...core.jsonl import decode, read_lines
from ...core.types import LEVELS, TASKS, Level, Sample, Task
from ...utils.cores import usable_cores
from ..pool.meta import PoolMeta, described, read_meta
from .metrics import DifficultyRecord, measure_all

CHUNK_LINES = 200
WORKERS = usable_cores(most=4)
LARGE_BYTES = 8 * 2**20
"""Starting workers takes up to half a second; a smaller pool is measured about as soon by one process."""

T = TypeVar("T")


class Measured(Struct, frozen=True):
    n: int
    counts: dict[Task, dict[Level, int]]


class Parent(Struct, frozen=True):
    path: str
    sha256: str


class Chunk(Struct, frozen=True):
    path: str
    lines: list[tuple[int, bytes]]


def difficulty_metrics(in_path: Path, out_path: Path) -> Measured:
    """Measures every sample of a pool and writes the metrics with their sidecar."""
    require_jsonl(out_path, "--out")
    refuse_overlap({"--out": out_path}, {"--in": in_path})
    meta = read_meta(in_path)
    pool_sha256 = described(in_path, meta, Sample)
    counts: Counter[tuple[Task, Level]] = Counter()
    seen: set[str] = set()
    encoder = msgspec.json.Encoder()
    with atomic_files() as start:
        handle, facts = start(out_path), start(sidecar(out_path))
        for record in measured(in_path):
            if record.id in seen:
                raise BadInput(
                    f"the id {record.id!r} stands twice",
                    where=f"{in_path}, sample {counts.total() + 1}",
                    remedy="give every sample its own id, or build the pool again",
                )
            seen.add(record.id)
            counts[record.task, record.level] += 1
            handle.write(encoder.encode(record) + b"\n")
        sha256 = sha256_file(written(handle))
        parent = Parent(where_from(out_path, in_path), pool_sha256)
        facts.write(json_bytes(derived_meta(meta, "metrics", sha256, counts.total(), parent)))
    return Measured(counts.total(), table(counts))


def measured(pool: Path) -> Iterator[DifficultyRecord]:
    """Every sample of a pool measured, in order; by several processes when the pool is large."""
    chunks = _chunks(pool)
    if WORKERS > 1 and pool.is_file() and pool.stat().st_size > LARGE_BYTES:
        results = _in_order(measure_chunk, chunks, WORKERS)
    else:
        results = map(measure_chunk, chunks)
    for records in results:
        yield from records


def measure_chunk(chunk: Chunk) -> list[DifficultyRecord]:
    decoder = msgspec.json.Decoder(Sample)
    return measure_all([decode(decoder, line, f"{chunk.path}:{number}") for number, line in chunk.lines])


def table(counts: Counter[tuple[Task, Level]]) -> dict[Task, dict[Level, int]]:
    """Counts by task and bucket, without tasks that do not occur."""
    tasks = [task for task in TASKS if any(counts[task, level] for level in LEVELS)]
    return {task: {level: counts[task, level] for level in LEVELS} for task in tasks}


def derived_meta(meta: PoolMeta, kind: str, sha256: str, n: int, parent: Parent) -> PoolMeta:
    return msgspec.structs.replace(meta, kind=kind, sha256=sha256, n=n, parent=parent.path, parent_sha256=parent.sha256)


def where_from(out: Path, parent: Path) -> str:
    """From the folder of `out` to its parent. Folders lose their links first: `link/..` is not where it looks to be.

    The parent keeps its own name, for its sidecar has the same.
    """
    return Path(os.path.relpath(parent.parent.resolve() / parent.name, out.parent.resolve())).as_posix()


def _chunks(pool: Path) -> Iterator[Chunk]:
    lines = read_lines(pool)
    while some := list(islice(lines, CHUNK_LINES)):
        yield Chunk(str(pool), some)


def _in_order(work: Callable[[Chunk], T], chunks: Iterable[Chunk], workers: int) -> Iterator[T]:
    """Like `map` over processes, but never more than a few chunks ahead of the reader."""
    executor = ProcessPoolExecutor(workers)
    under_way: deque[Future[T]] = deque()
    try:
        for chunk in chunks:
            under_way.append(executor.submit(work, chunk))
            if len(under_way) > 3 * workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
