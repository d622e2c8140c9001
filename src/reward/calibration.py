"""Weights that tell success from failure: least squares over the simplex, pulled toward a prior.

    minimize  sum_i s_i (a + x_i'w - y_i)^2 / sum_i s_i  +  l2 |w - prior|^2
    over a and w   with   sum(w) = 1,   0 <= w <= cap

x_i are the dimensions of episode i, y_i is 1 for success, s_i its weight. The mean, not the sum: `l2` means the same
for 245 episodes and for 100,000. The solution is exact (`simplex_qp`).

The intercept a takes up the level: how often a policy succeeds is no merit of a dimension. Without it the weights go to
whatever dimension is low on average, for its mean is near the success rate, and a dimension that tells right from wrong
but is high on average gets nothing. It is no part of the score.

Everything that is fitted (all episodes, each fold's training part, each bootstrap resample) differs only in how often
an episode counts. So one pass over the episodes gives the normal equations of all of them.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .folds import folds
from .held_out import Compared, Fold, HeldOut
from .ranking import blocks, interval
from .scored import Scores
from .simplex_qp import Solution, solve
from .weights import CAP, Baseline

F64 = NDArray[np.float64]

EPISODES_AT_ONCE = 4096
WEIGHT_DIGITS = 12


class Weight(Struct, frozen=True):
    value: float
    low: float | None
    high: float | None
    """The middle 95% of the bootstrap resamples."""
    prior: float
    old: float


class Calibration(Struct, frozen=True):
    weights: dict[str, Weight]
    rank_corr: Compared
    """Median over the folds."""
    mae: Compared
    """Over all held-out episodes."""
    folds: list[Fold]
    residual: float
    """How far from optimal the weights are; see `simplex_qp.optimality_gap`."""
    episodes: int
    samples: int
    success_rate: float
    effective: float
    """As how many equally weighted episodes they count."""


def calibrate_weights(
    scores: Scores,
    baseline: Baseline,
    *,
    l2: float,
    cv: int,
    boot: int,
    seed: int,
    cap: float = CAP,
) -> Calibration:
    """The columns of `scores` are the dimensions of `baseline`, in its order."""
    rng = np.random.default_rng(seed)
    fold_G = folds(scores.source_N, scores.success_N, cv, rng)
    samples = len(fold_G)
    counts_RG = np.ones((1 + cv + boot, samples), dtype=np.uint16)
    counts_RG[1 : 1 + cv] = np.arange(cv)[:, None] != fold_G
    for row in counts_RG[1 + cv :]:
        row[:] = np.bincount(rng.integers(samples, size=samples), minlength=samples)
    fitted = fit(scores, counts_RG, baseline.prior_D, l2, cap)
    w_RD = np.array([one.w_D for one in fitted])
    held_out = HeldOut(scores, fold_G[scores.source_N], baseline, w_RD[1 : cv + 1])
    rank_corr, mae = held_out.compared(boot, rng)
    return Calibration(
        weights=_weights(scores.names, w_RD[0], w_RD[cv + 1 :], baseline),
        rank_corr=rank_corr,
        mae=mae,
        folds=held_out.folds,
        residual=max(one.residual for one in fitted),
        episodes=len(scores),
        samples=samples,
        success_rate=float(scores.success_N.mean()),
        effective=float(scores.weight_N.sum() ** 2 / (scores.weight_N**2).sum()),
    )


def fit(scores: Scores, counts_RG: NDArray[np.uint16], prior_D: F64, l2: float, cap: float) -> list[Solution]:
    """A solution for each row of counts: how often every source counts in it."""
    size = len(prior_D)
    rows, columns = np.triu_indices(size)
    squares = len(rows)
    sums = np.zeros((len(counts_RG), squares + 2 * size + 2))
    for part in blocks(len(scores), EPISODES_AT_ONCE):
        x, y, weight = scores.matrix_ND[part], scores.success_N[part, None], scores.weight_N[part, None]
        products = np.hstack([x[:, rows] * x[:, columns], x * y, x, y, np.ones_like(y)])
        sums += counts_RG[:, scores.source_N[part]].astype(np.float64) @ (weight * products)
    found = []
    for means in sums[:, :-1] / sums[:, -1:]:
        xx, xy, x_mean, y_mean = np.split(means, [squares, squares + size, squares + 2 * size])
        h = np.empty((size, size))
        h[rows, columns] = h[columns, rows] = xx
        # The best intercept for any weights is the mean of what they leave: with it in, these are covariances.
        h -= np.outer(x_mean, x_mean)
        found.append(solve(h + l2 * np.eye(size), xy - x_mean * y_mean + l2 * prior_D, cap))
    return found


def _weights(names: tuple[str, ...], w_D: F64, boot_BD: F64, baseline: Baseline) -> dict[str, Weight]:
    found = {}
    for place, name in enumerate(names):
        low, high = interval(boot_BD[:, place])
        value = round(float(w_D[place]), WEIGHT_DIGITS)
        found[name] = Weight(value, low, high, float(baseline.prior_D[place]), float(baseline.old_D[place]))
    return found
