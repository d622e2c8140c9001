"""Stage `difficulty_bucketize`: the largest pool with the target difficulty in every task and the task mix kept.

Two passes. The first reads the metrics and keeps nine bytes per sample; the second reads metrics and pool side by side
and copies the chosen lines unchanged. No sample is taken twice.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from random import Random
from typing import IO

import msgspec
import numpy as np
from msgspec import Struct

from askgate_env.types import ALL_TASKS, LEVELS, Level, Task

from ...core.check import remedies
from ...core.defaults import SUM_TOLERANCE
from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sha256_file, sidecar, written
from ...core.jsonl import decode, read_lines, read_records
from ...runtime.language import in_language
from ..pool.meta import derived_meta, id_hash, parent_of, read_meta, refuse_repeated_ids, verify_sha256
from ..pool.plan import shares_to_counts
from ..pool.source import NATURAL_SOURCES
from .metrics import DifficultyRecord, LevelCounts, level_counts

_CELLS: list[tuple[Task, Level]] = [(task, level) for task in ALL_TASKS for level in LEVELS]


class _Id(Struct):
    id: str


def difficulty_bucketize(metrics: Path, target: dict[Level, float], by_task: Sequence[Task], out: Path) -> LevelCounts:
    """Writes the balanced pool with its sidecar and returns its counts.

    The measured pool is found through the sidecar of the metrics.
    """
    _check_target(target)
    require_jsonl(out, "--out")
    metrics_meta = read_meta(metrics)
    pool = parent_of(metrics, metrics_meta)
    refuse_overlap({"--out": out}, {"--metrics": metrics, "the measured pool": pool})
    verify_sha256(metrics, metrics_meta, DifficultyRecord)
    pool_meta = read_meta(pool)

    cells, ids = array("B"), array("Q")
    for record in read_records(metrics, DifficultyRecord):
        cells.append(_CELLS.index((record.task, record.level)))
        ids.append(id_hash(record.id))
    refuse_repeated_ids(metrics, DifficultyRecord, np.frombuffer(ids, dtype=np.uint64))
    del ids
    supply = level_counts(Counter({_CELLS[cell]: count for cell, count in Counter(cells).items()}))
    _check_tasks(supply, by_task, metrics)
    mix = {task: pool_meta.mix.get(task, 0.0) for task in by_task}
    balanced = largest_balanced(supply, mix, target)
    if balanced is None:
        raise _too_few(supply, mix, target, metrics, pool_meta.source)

    chosen = _choose(cells, balanced, pool_meta.seed)
    with atomic_files() as start:
        handle, meta_file = start(out), start(sidecar(out))
        _copy(pool, metrics, chosen, handle)
        sha256, n = sha256_file(written(handle)), sum(sum(levels.values()) for levels in balanced.values())
        meta = derived_meta(pool_meta, "balanced", n, sha256, out, pool, metrics_meta.parent_sha256)
        meta_file.write(json_bytes(meta))
    return balanced


def _check_target(target: dict[Level, float]) -> None:
    if set(target) != set(LEVELS) or min(target.values()) < 0 or abs(sum(target.values()) - 1) > SUM_TOLERANCE:
        what = f"shares must be given for {', '.join(LEVELS)}, none negative, and add up to 1"
        raise BadInput(what, where="--target", remedy='write for example "easy:0.25,medium:0.45,hard:0.30"')


def _check_tasks(supply: LevelCounts, by_task: Sequence[Task], metrics: Path) -> None:
    """Shares hold per task, so `by_task` must name every task of the pool once, and no other."""
    if set(supply) != set(by_task) or len(set(by_task)) != len(by_task):
        what = f"the pool has {' '.join(sorted(supply)) or 'no samples'}, by_task names {' '.join(by_task) or 'none'}"
        remedy = "name each task of the pool once in --by-task, or build a pool with those tasks (--mix)"
        raise BadInput(what, where=str(metrics), remedy=remedy)


def _too_few(
    supply: LevelCounts, mix: dict[Task, float], target: dict[Level, float], metrics: Path, source: str
) -> BadInput:
    """The error that names the bucket with the fewest samples for its share."""
    wanted = [(task, level) for task in mix for level in LEVELS if mix[task] > 0 and target[level] > 0]
    task, level = min(wanted, key=lambda cell: supply[cell[0]][cell[1]] / (mix[cell[0]] * target[cell[1]]))
    table = remedies("difficulty")
    remedy, remedy_zh = table[f"more_{level}_{task}" if level == "hard" else f"more_{level}"]
    if source in NATURAL_SOURCES:
        remedy, remedy_zh = table["natural_share"]
    else:
        remedy, remedy_zh = f"{remedy}, or ask for another --target", f"{remedy_zh}，或换一个 --target"
    return BadInput(
        in_language(
            f"{task} has {supply[task][level]} {level} samples, too few for a share of {target[level]:g}",
            f"{task} 的 {level} 样本只有 {supply[task][level]} 条，达不到 {target[level]:g} 的占比",
        ),
        where=str(metrics),
        remedy=in_language(remedy, remedy_zh),
    )


def _choose(cells: array[int], balanced: LevelCounts, seed: int) -> bytearray:
    """One flag per sample, 1 if it is chosen. Each bucket draws from its own random stream, so that buckets do not
    affect each other."""
    chosen = bytearray(len(cells))
    for task, levels in balanced.items():
        for level, count in levels.items():
            cell = _CELLS.index((task, level))
            indices = array("L", (index for index, value in enumerate(cells) if value == cell))
            for pick in Random(f"{seed}:{task}:{level}").sample(range(len(indices)), count):
                chosen[indices[pick]] = 1
    return chosen


def _copy(pool: Path, metrics: Path, chosen: bytearray, handle: IO[bytes]) -> None:
    """Copies the chosen lines unchanged. The ids prove that metrics and pool are in the same order."""
    only_id = msgspec.json.Decoder(_Id)
    records = read_records(metrics, DifficultyRecord)
    for (number, line), record, wanted in zip(read_lines(pool), records, chosen, strict=True):
        if wanted:
            where = f"{pool}:{number}"
            if decode(only_id, line, where).id != record.id:
                raise BadInput("the metrics are in another order", where=where, remedy="run difficulty_metrics again")
            handle.write(line if line.endswith(b"\n") else line + b"\n")


def largest_balanced(supply: LevelCounts, mix: dict[Task, float], target: dict[Level, float]) -> LevelCounts | None:
    """Counts of the largest pool in which every bucket has its share and no sample comes twice; None if there is none.

    The scarcest bucket gives an upper bound. From there smaller sizes are tried until the rounded counts fit. Shares
    are exact fractions.
    """
    parts = {task: exact(part) for task, part in mix.items() if part > 0}
    shares = {task: part / sum(parts.values()) for task, part in parts.items()}
    wanted = {level: exact(target[level]) for level in LEVELS}
    cells = [(task, level) for task, share in shares.items() for level in LEVELS if share * wanted[level] > 0]
    if not cells:
        return None
    largest_by_cell = {cell: supply[cell[0]][cell[1]] / (shares[cell[0]] * wanted[cell[1]]) for cell in cells}
    total = sum(sum(levels.values()) for levels in supply.values())
    # Rounding moves a bucket by at most one sample in its task, and a task by at most one in the pool.
    slack = max(2 / (shares[task] * wanted[level]) for task, level in cells)
    for n in range(min(total, floor(min(largest_by_cell.values()) + slack)), 0, -1):
        counts = {task: split(size, wanted) for task, size in apportion(n, shares).items()}
        enough = all(0 <= counts[task][level] <= supply[task][level] for task in counts for level in LEVELS)
        if enough and all(counts[task][level] > 0 for task, level in cells):
            return counts
    return None


def split(n: int, target: dict[Level, Fraction]) -> dict[Level, int]:
    """Sizes of the buckets. Hard is rounded up and easy down, so that neither limit is missed by rounding."""
    hard, easy = ceil(n * target["hard"]), floor(n * target["easy"])
    return {"easy": easy, "medium": n - hard - easy, "hard": hard}


def apportion(n: int, shares: dict[Task, Fraction]) -> dict[Task, int]:
    """Whole numbers that add up to n, by largest remainder; among equal ones the task that comes first by name."""
    tasks = sorted(shares)
    sizes = dict(zip(tasks, shares_to_counts([shares[task] for task in tasks], n), strict=True))
    return {task: sizes[task] for task in shares}


def exact(share: float) -> Fraction:
    """The decimal fraction that a float shows: 3/10 for 0.3, not the binary number next to it."""
    return Fraction(repr(share))
