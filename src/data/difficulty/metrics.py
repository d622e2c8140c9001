"""Difficulty of a sample: its metrics, its points in eight dimensions, its level; and the stage `difficulty_metrics`.

Each dimension gives 0 (easy), 1 (medium) or 2 (hard) points, 0 to 16 together. Up to 5 points at least three
dimensions are plainly easy and the rest mostly medium; from 9 on more than half of all points were scored, which takes
at least one hard dimension and mostly several.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from askgate_env.types import ALL_TASKS, LEVELS, Lang, Level, Record, Sample, Task

from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sha256_file, sidecar, written
from ...core.jsonl import decode, read_lines
from ...runtime.workers import Workers, local_workers
from ..pool.meta import derived_meta, id_hash, read_meta, refuse_repeated_ids, verify_sha256
from ..quality.token_stream import count_tokens
from . import text_features as text

EASY_MAX_SCORE = 5
HARD_MIN_SCORE = 9

RISING = {"len_tokens": (199, 600), "turns": (2, 4), "tool_hops": (1, 3), "ops_numeric": (1, 3), "entities": (3, 6)}
"""Last easy and last medium value of the dimensions in which higher is harder."""
CONNECTOR_DENSITY_MEDIUM = (3.0, 6.0)
"""First and last medium value; higher is harder."""
CLUE_OVERLAP_MEDIUM = (0.20, 0.40)
"""First and last medium value; lower is harder."""
TURNS_OF_HARD_CLARIFICATION = 4
"""Turns from which a needed clarification gives 2 points instead of 1."""

CHUNK_LINES = 1_000
LARGE_BYTES = 8 * 2**20
"""Pool size from which several processes measure it. Starting them takes up to half a second."""

LevelCounts = dict[Task, dict[Level, int]]


class DifficultyRecord(Record, frozen=True):
    """One line of a metrics file. Ratios are rounded before they are scored, so a record proves its own level."""

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
    """Logical connectors per 100 words of what the user says."""
    coref_pronouns: int
    clue_overlap: float
    ambiguity_flags: tuple[str, ...]
    needs_clarification: bool
    lang: Lang
    level: Level
    score: int


def difficulty_metrics(in_path: Path, out_path: Path, workers: Workers | None = None) -> LevelCounts:
    """Measures every sample of a pool, writes the records in its order with a sidecar, and returns their counts.

    Keeps 8 bytes per sample.
    """
    require_jsonl(out_path, "--out")
    refuse_overlap({"--out": out_path}, {"--in": in_path})
    meta = read_meta(in_path)
    pool_sha256 = verify_sha256(in_path, meta, Sample)
    counts: Counter[tuple[Task, Level]] = Counter()
    ids = array("Q")
    encoder = msgspec.json.Encoder()
    with atomic_files() as start:
        handle, meta_file = start(out_path), start(sidecar(out_path))
        for record in measured(in_path, workers):
            ids.append(id_hash(record.id))
            counts[record.task, record.level] += 1
            handle.write(encoder.encode(record) + b"\n")
        refuse_repeated_ids(in_path, Sample, np.frombuffer(ids, dtype=np.uint64))
        sha256, n = sha256_file(written(handle)), counts.total()
        meta_file.write(json_bytes(derived_meta(meta, "metrics", n, sha256, out_path, in_path, pool_sha256)))
    return level_counts(counts)


def measured(pool: Path, workers: Workers | None = None) -> Iterator[DifficultyRecord]:
    """Records of every sample of a pool, in order. The number of processes does not change them."""
    workers = workers or local_workers(pool.is_file() and pool.stat().st_size > LARGE_BYTES, most=4)
    lines = ((f"{pool}:{number}", line) for number, line in read_lines(pool))
    chunks = iter(lambda: list(islice(lines, CHUNK_LINES)), [])
    for records in workers.map(_measure_chunk, ((chunk,) for chunk in chunks)):
        yield from records


def _measure_chunk(lines: list[tuple[str, bytes]]) -> list[DifficultyRecord]:
    decoder = msgspec.json.Decoder(Sample)
    return measure_all([decode(decoder, line, where) for where, line in lines])


def level_counts(counts: Counter[tuple[Task, Level]]) -> LevelCounts:
    """Counts by task and level, without tasks that do not occur."""
    tasks = [task for task in ALL_TASKS if any(counts[task, level] for level in LEVELS)]
    return {task: {level: counts[task, level] for level in LEVELS} for task in tasks}


def measure_all(samples: Sequence[Sample]) -> list[DifficultyRecord]:
    """Records of many samples at once, because their tokens are counted in bulk."""
    lengths = count_tokens([prompt_and_context(sample) for sample in samples])
    return [_record(sample, int(length)) for sample, length in zip(samples, lengths, strict=True)]


def prompt_and_context(sample: Sample) -> str:
    pages = [part for article in sample.context for part in (article.title, *article.sentences)]
    return "\n".join([sample.prompt, *pages])


def _record(sample: Sample, len_tokens: int) -> DifficultyRecord:
    said = " ".join(part for part in (sample.premise, sample.clue, sample.question) if part)
    named = text.names(said, sample.lang, [article.title for article in sample.context])
    calls = [turn for turn in sample.dialogue if turn.act == "call"]
    expressions = [turn.text for turn in calls if turn.tool == "calc"]
    scored: dict[str, Any] = {
        "len_tokens": len_tokens,
        "turns": sum(turn.by == "assistant" for turn in sample.dialogue),
        "tool_hops": len(calls),
        "entities": len({name for _, name in named}) + len(text.numbers(said)),
        "ops_numeric": sum(map(text.operators, expressions)) + text.asked_arithmetic(sample.question),
        "connector_density": round(text.connector_density(said), 2),
        "clue_overlap": round(text.clue_overlap(f"{sample.clue} {sample.question}", " ".join(sample.support)), 4),
        "needs_clarification": sample.needs_clarification,
    }
    score = difficulty_score(scored)
    return DifficultyRecord(
        id=sample.id,
        task=sample.task,
        lang=sample.lang,
        coref_pronouns=text.pronouns(said),
        ambiguity_flags=text.ambiguity_flags(sample, said, named),
        level=level_of(score),
        score=score,
        **scored,
    )


def difficulty_score(dimensions: Mapping[str, Any]) -> int:
    """Sum of the points of all eight dimensions. Their keys are the field names of `DifficultyRecord`."""
    return (
        sum(rising_points(name, dimensions[name]) for name in RISING)
        + density_points(dimensions["connector_density"])
        + overlap_points(dimensions["clue_overlap"])
        + clarification_points(dimensions["needs_clarification"], dimensions["turns"])
    )


def level_of(score: int) -> Level:
    if score <= EASY_MAX_SCORE:
        return "easy"
    return "hard" if score >= HARD_MIN_SCORE else "medium"


def rising_points(dimension: str, value: int) -> int:
    """Points of a dimension in which higher is harder."""
    return bisect_left(RISING[dimension], value)


def density_points(density: float) -> int:
    low, high = CONNECTOR_DENSITY_MEDIUM
    return 0 if density < low else 1 if density <= high else 2


def overlap_points(overlap: float) -> int:
    """Points for clue overlap: the less of its clue a question restates, the harder it is."""
    low, high = CLUE_OVERLAP_MEDIUM
    return 0 if overlap > high else 1 if overlap >= low else 2


def clarification_points(needed: bool, turns: int) -> int:
    return 0 if not needed else 2 if turns >= TURNS_OF_HARD_CLARIFICATION else 1
