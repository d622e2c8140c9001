"""How many samples of each task and bucket make the largest balanced pool. Pure arithmetic, exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from msgspec import Struct

from ...core.defaults import SUM_TOLERANCE
from ...core.errors import BadInput
from ...core.types import LEVELS, Level, Task

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
