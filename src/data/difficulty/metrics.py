"""How hard a sample is: its metrics, its points in eight dimensions, its bucket.

Pure: a `Sample` in, a `DifficultyRecord` out. The fields, the table and the limits are the owner's; SPEC D7 joins them.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sha256_file, sidecar, written
from ...core.jsonl import decode, read_lines
from ...core.types import LEVELS, TASKS, Lang, Level, Record, Sample, Task
from ...utils.cores import usable_cores
from ..pool.meta import PoolMeta, described, read_meta
from ..quality.token_stream import count_tokens
from .text_features import (
    ambiguity_flags,
    asked_arithmetic,
    clue_overlap,
    connector_density,
    names,
    numbers,
    operators,
    pronouns,
)

EASY_MAX_SCORE = 5
HARD_MIN_SCORE = 9
"""Eight dimensions give 0 (easy), 1 or 2 (hard) points each, 0..16 together. A sample is in the bucket whose conditions
it mostly hits: up to 5 points at least three dimensions are plainly easy and the rest mostly medium, from 9 on more
than half of the points there are were scored, which takes at least one hard dimension and mostly several."""

# Per dimension: the last easy value and the last medium value, higher is harder.
LEN_TOKENS = (199, 600)
TURNS = (2, 4)
TOOL_HOPS = (1, 3)
OPS_NUMERIC = (1, 3)
ENTITIES = (3, 6)
CONNECTOR_DENSITY_MEDIUM = (3.0, 6.0)
CLUE_OVERLAP_MEDIUM = (0.20, 0.40)
TURNS_OF_HARD_CLARIFICATION = 4


class DifficultyRecord(Record, frozen=True):
    """One line of a metrics file. Ratios are rounded first, bucketed after: a record proves its own level."""

    id: str
    task: Task
    len_tokens: int
    """Tokens of the prompt and all context."""
    turns: int
    """Assistant turns: asks, tool calls, the answer."""
    tool_hops: int
    entities: int
    """Distinct names and numbers in what the user says."""
    ops_numeric: int
    """Operators in `calc` calls, and comparisons and differences that the question asks for in words."""
    connector_density: float
    """Logical connectors in 100 words of what the user says."""
    coref_pronouns: int
    clue_overlap: float
    ambiguity_flags: tuple[str, ...]
    needs_clarification: bool
    lang: Lang
    level: Level
    score: int


def measure(sample: Sample) -> DifficultyRecord:
    return measure_all([sample])[0]


def measure_all(samples: Sequence[Sample]) -> list[DifficultyRecord]:
    """Many at once, because their tokens are counted in bulk."""
    lengths = count_tokens([_prompt_and_context(sample) for sample in samples])
    return [_record(sample, int(length)) for sample, length in zip(samples, lengths, strict=True)]


def _prompt_and_context(sample: Sample) -> str:
    pages = [part for article in sample.context for part in (article.title, *article.sentences)]
    return "\n".join([sample.prompt, *pages])


def _record(sample: Sample, len_tokens: int) -> DifficultyRecord:
    said = " ".join(part for part in (sample.premise, sample.clue, sample.question) if part)
    named = names(said, sample.lang, [article.title for article in sample.context])
    turns = sum(turn.by == "assistant" for turn in sample.dialogue)
    calls = [turn for turn in sample.dialogue if turn.act == "call"]
    ops = sum(operators(turn.text) for turn in calls if turn.tool == "calc") + asked_arithmetic(sample.question)
    entities = len({name for _, name in named}) + len(numbers(said))
    density = round(connector_density(said), 2)
    overlap = round(clue_overlap(f"{sample.clue} {sample.question}", " ".join(sample.support)), 4)
    points = (
        _rising(len_tokens, LEN_TOKENS)
        + _rising(turns, TURNS)
        + _rising(len(calls), TOOL_HOPS)
        + _rising(ops, OPS_NUMERIC)
        + _rising(entities, ENTITIES)
        + density_points(density)
        + overlap_points(overlap)
        + clarification_points(sample.needs_clarification, turns)
    )
    return DifficultyRecord(
        id=sample.id,
        task=sample.task,
        len_tokens=len_tokens,
        turns=turns,
        tool_hops=len(calls),
        entities=entities,
        ops_numeric=ops,
        connector_density=density,
        coref_pronouns=pronouns(said),
        clue_overlap=overlap,
        ambiguity_flags=ambiguity_flags(sample, said, named),
        needs_clarification=sample.needs_clarification,
        lang=sample.lang,
        level=level_of(points),
        score=points,
    )


def level_of(score: int) -> Level:
    if score <= EASY_MAX_SCORE:
        return "easy"
    return "hard" if score >= HARD_MIN_SCORE else "medium"


def _rising(value: int, last: tuple[int, int]) -> int:
    easy, medium = last
    return 0 if value <= easy else 1 if value <= medium else 2


def density_points(density: float) -> int:
    low, high = CONNECTOR_DENSITY_MEDIUM
    return 0 if density < low else 1 if density <= high else 2


def overlap_points(overlap: float) -> int:
    """The less of its clue a question restates, the harder it is."""
    low, high = CLUE_OVERLAP_MEDIUM
    return 0 if overlap > high else 1 if overlap >= low else 2


def clarification_points(needed: bool, turns: int) -> int:
    return 0 if not needed else 2 if turns >= TURNS_OF_HARD_CLARIFICATION else 1


# Stage `difficulty_metrics`: a pool in, one `DifficultyRecord` a line out, in the pool's order.
#
# Lines travel to worker processes in chunks and come back in order, so the output does not depend on how many workers
# there are. At most a few chunks are under way at once, so memory does not grow with the pool.


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
