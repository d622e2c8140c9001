"""Stage `difficulty_bucketize`: from a measured pool the largest one that keeps task mix and difficulty shares.

Two passes. The first reads the metrics and keeps two small numbers a sample; the second walks metrics and pool side
by side and copies the chosen lines as they are. No sample is taken twice.
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
from msgspec import Struct

from ...core.defaults import SUM_TOLERANCE
from ...core.errors import BadInput
from ...core.files import atomic_files, json_bytes, refuse_overlap, require_jsonl, sha256_file, sidecar, written
from ...core.jsonl import decode, read_lines, read_records, read_unique
from ...core.types import LEVELS, TASKS, Level, Task
from ..pool.meta import described, parent_of, read_meta
from .knobs import more_of
from .metrics import DifficultyRecord, Parent, derived_meta, table, where_from


class Balanced(Struct, frozen=True):
    n: int
    supply: dict[Task, dict[Level, int]]
    counts: dict[Task, dict[Level, int]]
    scarcest: tuple[Task, Level]
    """The bucket that ran out first: more of it would give a larger pool."""


class _Id(Struct):
    id: str


def difficulty_bucketize(metrics: Path, target: dict[Level, float], by_task: Sequence[Task], out: Path) -> Balanced:
    """Finds the pool through the metrics' sidecar and writes the balanced pool with its own."""
    check_target(target)
    require_jsonl(out, "--out")
    metrics_meta = read_meta(metrics)
    pool = parent_of(metrics, metrics_meta)
    refuse_overlap({"--out": out}, {"--metrics": metrics, "the measured pool": pool})
    described(metrics, metrics_meta, DifficultyRecord)
    pool_meta = read_meta(pool)

    cells = _cells(metrics)
    supply = Counter(cells)
    _same_tasks(supply, by_task, metrics)
    mix = {task: pool_meta.mix.get(task, 0.0) for task in by_task}
    plan = largest_plan(table(_named(supply)), mix, target)
    if plan is None:
        raise _too_few(table(_named(supply)), mix, target, metrics)

    chosen = _choose(cells, plan, pool_meta.seed)
    with atomic_files() as start:
        handle, facts = start(out), start(sidecar(out))
        _copy(pool, metrics, chosen, handle)
        parent = Parent(where_from(out, pool), metrics_meta.parent_sha256)
        facts.write(json_bytes(derived_meta(pool_meta, "balanced", sha256_file(written(handle)), plan.n, parent)))
    return Balanced(plan.n, table(_named(supply)), plan.counts, plan.scarcest)


def _cells(metrics: Path) -> array[int]:
    """Task and bucket of every sample in one byte; an id that comes twice would be a copy in the balanced pool."""
    return array("B", (_cell(record.task, record.level) for record in read_unique(metrics, DifficultyRecord)))


def _cell(task: Task, level: Level) -> int:
    return TASKS.index(task) * len(LEVELS) + LEVELS.index(level)


def _named(supply: Counter[int]) -> Counter[tuple[Task, Level]]:
    return Counter({(task, level): supply[_cell(task, level)] for task in TASKS for level in LEVELS})


def _same_tasks(supply: Counter[int], by_task: Sequence[Task], metrics: Path) -> None:
    """Shares are held per task, so every task of the pool is named, and no other."""
    present = set(table(_named(supply)))
    if present != set(by_task) or len(set(by_task)) != len(by_task):
        raise BadInput(
            f"the pool has {' '.join(sorted(present)) or 'no samples'}, by_task names {' '.join(by_task) or 'none'}",
            where=str(metrics),
            remedy="name each task of the pool once in --by_task, or build a pool with those tasks (--mix)",
        )


def _too_few(
    supply: dict[Task, dict[Level, int]], mix: dict[Task, float], target: dict[Level, float], metrics: Path
) -> BadInput:
    """The bucket with the least for its share is the one to name."""
    wanted = [(task, level) for task in mix for level in LEVELS if mix[task] > 0 and target[level] > 0]
    task, level = min(wanted, key=lambda cell: supply[cell[0]][cell[1]] / (mix[cell[0]] * target[cell[1]]))
    remedy, remedy_zh = more_of(level, task)
    return BadInput(
        f"{task} has {supply[task][level]} {level} samples, too few for a share of {target[level]:g} "
        f"({task} 的 {level} 样本只有 {supply[task][level]} 条)",
        where=str(metrics),
        remedy=f"{remedy} ({remedy_zh}), or ask for another --target",
    )


def _choose(cells: array[int], plan: Plan, seed: int) -> bytearray:
    """One flag a sample. Each bucket draws with its own random stream, so that they do not disturb each other."""
    chosen = bytearray(len(cells))
    for task, levels in plan.counts.items():
        for level, count in levels.items():
            cell = _cell(task, level)
            places = array("L", (place for place, one in enumerate(cells) if one == cell))
            for pick in Random(f"{seed}:{task}:{level}").sample(range(len(places)), count):
                chosen[places[pick]] = 1
    return chosen


def _copy(pool: Path, metrics: Path, chosen: bytearray, handle: IO[bytes]) -> None:
    """Lines go over as they are. Metrics and pool walk in step, which a look at the ids proves."""
    only_id = msgspec.json.Decoder(_Id)
    records = read_records(metrics, DifficultyRecord)
    for (number, line), record, wanted in zip(read_lines(pool), records, chosen, strict=True):
        if wanted:
            where = f"{pool}:{number}"
            if decode(only_id, line, where).id != record.id:
                raise BadInput("the metrics are in another order", where=where, remedy="run difficulty_metrics again")
            handle.write(line if line.endswith(b"\n") else line + b"\n")


# How many samples of each task and bucket make the largest balanced pool. Pure arithmetic, exact fractions.


Supply = dict[Task, dict[Level, int]]


class Plan(Struct, frozen=True):
    n: int
    counts: Supply
    scarcest: tuple[Task, Level]


def check_target(target: dict[Level, float]) -> None:
    if set(target) != set(LEVELS) or min(target.values()) < 0 or abs(sum(target.values()) - 1) > SUM_TOLERANCE:
        raise BadInput(
            f"shares must be given for {', '.join(LEVELS)}, none negative, and add up to 1",
            where="--target",
            remedy='write for example "easy:0.25,medium:0.45,hard:0.30"',
        )


def largest_plan(supply: Supply, mix: dict[Task, float], target: dict[Level, float]) -> Plan | None:
    """The largest pool in which every bucket has its share and no sample is needed twice; None when there is none.

    A bound comes from the scarcest bucket; from there it goes down to the first size that holds after rounding.
    """
    shares = _shares(mix)
    wanted = {level: exact(target[level]) for level in LEVELS}
    cells = [(task, level) for task, share in shares.items() for level in LEVELS if share * wanted[level] > 0]
    if not cells:
        return None
    room = {cell: supply[cell[0]][cell[1]] / (shares[cell[0]] * wanted[cell[1]]) for cell in cells}
    scarcest = min(cells, key=lambda cell: room[cell])
    total = sum(sum(levels.values()) for levels in supply.values())
    # Rounding moves a bucket by at most one sample in its task, and a task by at most one in the pool.
    slack = max(2 / (shares[task] * wanted[level]) for task, level in cells)
    for n in range(min(total, floor(room[scarcest] + slack)), 0, -1):
        counts = {task: split(size, wanted) for task, size in apportion(n, shares).items()}
        if _holds(counts, supply, cells):
            return Plan(n, counts, scarcest)
    return None


def split(n: int, target: dict[Level, Fraction]) -> dict[Level, int]:
    """Hard is rounded up and easy down, so that `hard >= its share` and `easy <= its share` hold exactly."""
    hard, easy = ceil(n * target["hard"]), floor(n * target["easy"])
    return {"easy": easy, "medium": n - hard - easy, "hard": hard}


def apportion(n: int, shares: dict[Task, Fraction]) -> dict[Task, int]:
    """Whole numbers that add up to n, by largest remainder."""
    sizes = {task: floor(n * share) for task, share in shares.items()}
    by_remainder = sorted(shares, key=lambda task: (sizes[task] - n * shares[task], task))
    for task in by_remainder[: n - sum(sizes.values())]:
        sizes[task] += 1
    return sizes


def exact(share: float) -> Fraction:
    """0.3 as 3/10, not as the binary number next to it."""
    return Fraction(repr(share))


def _shares(mix: dict[Task, float]) -> dict[Task, Fraction]:
    parts = {task: exact(part) for task, part in mix.items() if part > 0}
    whole = sum(parts.values())
    return {task: part / whole for task, part in parts.items()}


def _holds(counts: Supply, supply: Supply, cells: list[tuple[Task, Level]]) -> bool:
    """Enough of everything, and no wanted bucket left empty by rounding."""
    enough = all(0 <= count <= supply[task][level] for task in counts for level, count in counts[task].items())
    return enough and all(counts[task][level] > 0 for task, level in cells)
