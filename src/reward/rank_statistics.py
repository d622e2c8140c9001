"""Rank statistics of many bootstrap resamples at once, and the gain of one correlation over another.

A bootstrap resample of N episodes is a row of counts: how often each episode was drawn. All resamples have the same
order of scores, so it is computed once, and ranks, shares of a top and correlations of all resamples are sums over it.
A row of ones gives the statistic of the episodes themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.check import Check, Remedy, check

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

TIE_DIGITS = 12
"""Digits to which scores are compared: sums in another order differ in the last bits, and that must be a tie."""

NUMBERS_AT_ONCE = 2**21
"""Numbers per block (16 MB): few enough for any machine, and enough for the time to be spent on arithmetic."""


class Ranking:
    """The order of N values. Equal values have the same rank, and share the last places of a top."""

    def __init__(self, values_N: F64) -> None:
        values = np.round(values_N, TIE_DIGITS)
        self.order = np.argsort(values, kind="stable")
        self._starts = np.unique(values[self.order], return_index=True)[1]
        self._group = np.unique(values, return_inverse=True)[1]

    def ranks(self, counts_BN: F64) -> F64:
        """The middle rank of every episode among those drawn, from 0 to the number of those drawn."""
        held = self._held(counts_BN)
        return (np.cumsum(held, axis=1) - held / 2)[:, self._group]

    def top(self, counts_BN: F64, share: float) -> F64:
        """Probability that each drawn episode is in the top share, with ties in random order.

        1 above the edge, and a fraction where tied episodes share the last places.
        """
        held = self._held(counts_BN)
        above = held[:, ::-1].cumsum(axis=1)[:, ::-1] - held
        places = top_places(counts_BN.sum(axis=1, keepdims=True), share)
        parts = np.divide(places - above, held, out=np.zeros_like(held), where=held > 0)
        return np.clip(parts, 0.0, 1.0)[:, self._group]

    def _held(self, counts: F64) -> F64:
        """Number of drawn episodes in each group of ties, lowest first."""
        return np.add.reduceat(counts[:, self.order], self._starts, axis=1)


def top_places(drawn: F64, share: float) -> F64:
    """Number of places in the top share, rounded up.

    >>> float(top_places(np.array(245.0), 0.10))
    25.0
    """
    return np.ceil(np.round(share * drawn, 9))


def spearman(one: Ranking, other: Ranking, counts_BN: F64) -> F64:
    """Rank correlation of every resample; NaN where all values drawn are equal."""
    return correlation(one.ranks(counts_BN), other.ranks(counts_BN), counts_BN)


def correlation(x_BN: F64, y_BN: F64, counts_BN: F64) -> F64:
    """Pearson correlation, each value counted as often as it was drawn."""
    drawn = np.maximum(1.0, counts_BN.sum(axis=1, keepdims=True))
    x = x_BN - (counts_BN * x_BN).sum(axis=1, keepdims=True) / drawn
    y = y_BN - (counts_BN * y_BN).sum(axis=1, keepdims=True) / drawn
    common = (counts_BN * x * y).sum(axis=1)
    spread = np.sqrt((counts_BN * x * x).sum(axis=1) * (counts_BN * y * y).sum(axis=1))
    # The floor excludes rounding errors: ranks go up to N, so a spread of a single step of one rank is far above it.
    return ratio(common, spread, 1e-9)


def overlap(one: Ranking, other: Ranking, counts_BN: F64, share: float) -> F64:
    """The expected share of one top that is also in the other. In each score equal values are ordered independently.

    So two constant scores overlap by chance only.
    """
    both: F64 = counts_BN * one.top(counts_BN, share) * other.top(counts_BN, share)
    return ratio(both.sum(axis=1), top_places(counts_BN.sum(axis=1), share))


def kendall(x_N: F64, y_N: F64, counts_BN: F64) -> F64:
    """Kendall's tau-b of every resample, over all pairs: the cost grows with the square of N."""
    x, y = np.round(x_N, TIE_DIGITS), np.round(y_N, TIE_DIGITS)
    sums = np.zeros((3, len(counts_BN)))
    for rows in blocks(len(x), max(1, NUMBERS_AT_ONCE // len(x))):
        dx, dy = np.sign(x[rows, None] - x), np.sign(y[rows, None] - y)
        for place, signs in enumerate((dx * dy, dx * dx, dy * dy)):
            sums[place] += ((counts_BN[:, rows] @ signs) * counts_BN).sum(axis=1)
    return ratio(sums[0], np.sqrt(sums[1] * sums[2]))


def resamples(source_N: I64, times: int, rng: np.random.Generator) -> Iterator[F64]:
    """Counts of bootstrap resamples, in blocks of rows. Sources are drawn, each with all its episodes."""
    sources = int(source_N.max()) + 1
    for rows in blocks(times, max(1, NUMBERS_AT_ONCE // len(source_N))):
        drawn = rng.integers(sources, size=(rows.stop - rows.start, sources))
        yield np.stack([np.bincount(row, minlength=sources) for row in drawn])[:, source_N].astype(np.float64)


def interval(values: F64) -> tuple[float | None, float | None]:
    """The middle 95% of the resamples, without those that are NaN."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


CHANCE = 0.5
"""AUC of scores that are independent of success."""


def auc_interval(values_N: F64, success_N: F64) -> tuple[float, float, float] | None:
    """AUC against success with its 95% interval, by the standard error of Hanley and McNeil (1982).

    None if all succeed or all fail.

    >>> [round(one, 2) for one in auc_interval(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0, 1.0]))]
    [0.88, 0.47, 1.0]
    """
    good, bad = (np.round(values_N[success_N == one], TIE_DIGITS) for one in (1.0, 0.0))
    n, m = len(good), len(bad)
    if not n or not m:
        return None
    auc = float(np.mean((np.sign(good[:, None] - bad) + 1) / 2))
    variance = auc * (1 - auc) + (n - 1) * (auc / (2 - auc) - auc**2) + (m - 1) * (2 * auc**2 / (1 + auc) - auc**2)
    reach = 1.96 * float(np.sqrt(max(0.0, variance) / n / m))
    return auc, max(0.0, auc - reach), min(1.0, auc + reach)


def ratio(part: F64, whole: F64, floor: float = 0.0) -> F64:
    """`part / whole`; NaN where the whole is not above the floor."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > floor)


def blocks(total: int, size: int) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


SMALL = 0.05
"""Up to this value an old correlation counts as none, and a relative gain over it means nothing. The new correlation
must then be larger by this much."""
DIGITS = 9
"""Digits to which gains are rounded: a gain of exactly the threshold, such as 0.55 - 0.50, must not fail by its last
bit."""


def gain_pct(old: float | None, new: float | None) -> float | None:
    """The gain in percent of the old correlation; None if that is missing or too small.

    >>> gain_pct(0.4, 0.5), gain_pct(0.05, 0.5), gain_pct(None, 0.5)
    (25.0, None, None)
    """
    if old is None or new is None or old <= SMALL:
        return None
    return round(100 * (new - old) / old, DIGITS)


def gain_check(name: str, old: float | None, new: float | None, least_pct: float, remedy: Remedy) -> Check:
    """The check `NAME_pct` of the relative gain, or `NAME` of the difference if the old correlation is too small."""
    if old is not None and new is not None and old <= SMALL:
        return check(name, round(new - old, DIGITS), ">=", SMALL, *remedy)
    return check(f"{name}_pct", gain_pct(old, new), ">=", least_pct, *remedy)
