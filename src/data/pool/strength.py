"""What --tool_hops and --ops_numeric ask of a sample, and how far they may carry it past the level that was wanted.

A hard sample takes what the knobs say; so does a share of the medium ones, by half, and the share grows the further a
knob is turned. At the usual values every sample comes out at its level. A knob that is turned up lets samples come out
harder, one that is turned down lets them come out easier: else the builder would make up elsewhere for what the knob
asks, and turning it would change nothing that is measured.
"""

from __future__ import annotations

from random import Random

import msgspec

from ...core.types import Level
from ..difficulty.metrics import EASY_MAX_SCORE, HARD_MIN_SCORE
from .source import Want

USUAL = 4
"""Of both knobs."""
OPERATIONS_MORE = 2
"""A problem may have so many more operations than are asked for."""
SCORES: dict[Level, tuple[int, int]] = {
    "easy": (0, EASY_MAX_SCORE),
    "medium": (EASY_MAX_SCORE + 1, HARD_MIN_SCORE - 1),
    "hard": (HARD_MIN_SCORE, 16),
}
MEDIUM_PULLED_A_NOTCH = 1 / 8
"""Share of the medium samples that follow a knob, by how far it is from its usual value. All of them would leave no
medium bucket."""


def followed(want: Want, key: str) -> Want:
    """The want of the sample with that key: most medium ones keep to the usual values."""
    notches = max(abs(want.tool_hops - USUAL), abs(want.ops_numeric - USUAL))
    if want.level != "medium" or Random(f"knobs:{key}").random() < MEDIUM_PULLED_A_NOTCH * notches:
        return want
    return msgspec.structs.replace(want, tool_hops=USUAL, ops_numeric=USUAL)


def calls_wanted(want: Want) -> float:
    return {"easy": 1.0, "medium": want.tool_hops / 2, "hard": float(want.tool_hops)}[want.level]


def operations_missed(operations: int, want: Want) -> int:
    """By how many a problem has too few or too many of them; an easy one may have any number."""
    if want.level == "easy":
        return 0
    least = want.ops_numeric if want.level == "hard" else want.ops_numeric // 2
    return max(least - operations, operations - least - OPERATIONS_MORE, 0)


def points_missed(points: int, want: Want, *knobs: int) -> int:
    """How far a score is from the level's, the side that one of the task's knobs pulls to left out."""
    low, high = SCORES[want.level]
    easier = want.level != "easy" and min(knobs) < USUAL
    harder = want.level != "easy" and max(knobs) > USUAL
    return max(0 if easier else low - points, 0 if harder else points - high, 0)
