"""Exact solution of a quadratic problem over weights that sum to 1, none negative and none above a cap.

    minimize  w'Hw/2 - g'w   subject to   sum(w) = 1,   0 <= w_i <= cap

A primal active-set method: hold some weights at a limit, solve for the others in one linear system, and release a held
weight as long as that lowers the objective. The result is checked: moving weight from one dimension to another must
not lower the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .rank_statistics import F64, I64

TOLERANCE = 1e-9
"""Maximum gap to the optimum, relative to the largest number in H and g."""
FREE, LOW, HIGH = 0, -1, 1
"""State of a weight: free, held at 0, or held at the cap."""


@dataclass(frozen=True)
class Solution:
    w_D: F64
    residual: float
    """Largest gain per unit of weight moved between two dimensions; 0 at the exact optimum."""


def solve(h_DD: F64, g_D: F64, cap: float) -> Solution:
    """Solves the problem. H must be symmetric without negative eigenvalues, and the cap must allow a sum of 1."""
    size = len(g_D)
    if size * cap < 1:
        raise ValueError(f"{size} weights of at most {cap} cannot sum to 1")
    scale = max(1.0, float(np.abs(h_DD).max()), float(np.abs(g_D).max()))
    w, held = np.full(size, 1 / size), np.full(size, FREE)
    limit = 50 * size * size
    for step in range(1, limit + 1):
        free = np.flatnonzero(held == FREE)
        target = _optimum_of_free(h_DD, g_D, w, free)
        blocked, share = _first_limit(w[free], target, cap)
        if blocked is not None:
            w[free] += share * (target - w[free])
            at = free[blocked]
            held[at] = LOW if target[blocked] < 0 else HIGH
            w[at] = 0.0 if held[at] == LOW else cap
            continue
        w[free] = target
        released = _worth_releasing(h_DD @ w - g_D, held, scale, by_order=step > limit // 2)
        if not len(released):
            break
        held[released] = FREE
    residual = optimality_gap(h_DD, g_D, w, cap)
    if not residual <= TOLERANCE * scale:
        raise ArithmeticError(f"the weights are not optimal: {residual:.3g} could be gained")
    return Solution(w, residual)


def optimality_gap(h_DD: F64, g_D: F64, w_D: F64, cap: float) -> float:
    """Largest gain per unit of weight moved from a dimension that has some to one below the cap; 0 if there is none.

    For a feasible `w` of a convex problem this is 0 exactly where the optimality conditions (KKT) hold.
    """
    slope = h_DD @ w_D - g_D
    giving, taking = slope[w_D > 0], slope[w_D < cap]
    if not len(giving) or not len(taking):
        return 0.0
    return max(0.0, float(giving.max() - taking.min()))


def _optimum_of_free(h: F64, g: F64, w: F64, free: NDArray[np.intp]) -> F64:
    """Optimum of the free weights without limits; held weights stay, and the sum is 1."""
    count = len(free)
    if not count:
        return np.empty(0)
    rest = w.copy()
    rest[free] = 0.0
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = h[np.ix_(free, free)]
    system[:count, count] = system[count, :count] = 1.0
    right = np.append(g[free] - h[free] @ rest, 1.0 - rest.sum())
    # Least squares, because H may be singular: two dimensions that always agree share their weight.
    found: F64 = np.linalg.lstsq(system, right, rcond=None)[0]
    return found[:count]


def _first_limit(w: F64, target: F64, cap: float) -> tuple[int | None, float]:
    """The weight that reaches its limit first on the way to the target, and the share of the way until then."""
    out = (target < 0) | (target > cap)
    if not out.any():
        return None, 1.0
    limits = np.where(target < 0, 0.0, cap)
    shares = np.full(len(w), np.inf)
    shares[out] = (limits[out] - w[out]) / (target[out] - w[out])
    first = int(np.argmin(shares))
    return first, max(0.0, float(shares[first]))


def _worth_releasing(slope: F64, held: I64, scale: float, by_order: bool) -> NDArray[np.intp]:
    """Held weights whose release lowers the objective; none at the optimum.

    It is the one with the largest gain, or with `by_order` the first one: by gain the method may cycle, by order it
    cannot (Bland's rule).
    """
    low, high = np.flatnonzero(held == LOW), np.flatnonzero(held == HIGH)
    free = held == FREE
    if not free.any():
        # Without a free weight to balance the sum, two weights must be released together.
        if not len(low) or not len(high):
            return low[:0]
        pair = np.array([low[np.argmin(slope[low])], high[np.argmax(slope[high])]])
        return pair if slope[pair[1]] - slope[pair[0]] > TOLERANCE * scale / 10 else pair[:0]
    level = float(slope[free].mean())
    gain = np.zeros(len(slope))
    gain[low], gain[high] = level - slope[low], slope[high] - level
    worth = np.flatnonzero(gain > TOLERANCE * scale / 10)
    if not len(worth):
        return worth
    return worth[:1] if by_order else np.array([int(np.argmax(gain))])
