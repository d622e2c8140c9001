"""What weights are worth on episodes that they never saw, against the old weights on the same folds.

Two figures: the rank correlation with success (its median over the folds) and the mean absolute error against success.
Here every episode counts once, an unstable one too: weights are fitted with care, but nothing is left out of the
verdict.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .ranking import Ranking, correlation, interval, resamples
from .scored import Scores
from .weights import Baseline

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


class Fold(Struct, frozen=True):
    episodes: int
    successes: int
    rank_corr_old: float
    rank_corr_prior: float
    rank_corr_new: float
    mae_old: float
    mae_prior: float
    mae_new: float
    weights: dict[str, float]
    """Fitted without this fold."""


class Compared(Struct, frozen=True):
    """A held-out figure: of the old weights, of the prior before any data, and of the calibrated weights."""

    old: float
    prior: float
    new: float
    change_low: float | None
    change_high: float | None
    """New less old, the middle 95% of the resamples of held-out episodes."""


class HeldOut:
    """Scores of every episode by weights that never saw its source, beside those of the old weights and the prior."""

    def __init__(self, scores: Scores, fold_N: I64, baseline: Baseline, w_KD: F64) -> None:
        self._source, self._success = scores.source_N, scores.success_N
        self._by = {
            "old": scores.matrix_ND @ baseline.old_D,
            "prior": scores.matrix_ND @ baseline.prior_D,
            "new": np.einsum("nd,nd->n", scores.matrix_ND, w_KD[fold_N]),
        }
        self._parts = [np.flatnonzero(fold_N == fold) for fold in range(len(w_KD))]
        self._rankings = {name: [Ranking(values[part]) for part in self._parts] for name, values in self._by.items()}
        self.folds = [
            self._fold(place, dict(zip(scores.names, w.tolist(), strict=True))) for place, w in enumerate(w_KD)
        ]

    def compared(self, boot: int, rng: np.random.Generator) -> tuple[Compared, Compared]:
        """Rank correlation and mean absolute error."""
        ones = np.ones((1, len(self._success)))
        corr, mae = self._figures(self._by, ones)
        drawn = resamples(self._source, boot, rng)
        changes = [self._figures(("old", "new"), counts) for counts in drawn]
        corr_changes, mae_changes = (
            np.concatenate([one[figure]["new"] - one[figure]["old"] for one in changes] or [np.empty(0)])
            for figure in (0, 1)
        )
        return _compared(corr, corr_changes), _compared(mae, mae_changes)

    def _figures(self, names: Iterable[str], counts_BN: F64) -> tuple[dict[str, F64], dict[str, F64]]:
        corr, mae = {}, {}
        drawn = counts_BN.sum(axis=1)
        for name in names:
            by_fold = [self._rank_corr(name, place, counts_BN[:, part]) for place, part in enumerate(self._parts)]
            with warnings.catch_warnings():
                # No fold of a resample may tell anything; that resample is then left out of the interval.
                warnings.simplefilter("ignore", RuntimeWarning)
                corr[name] = np.nanmedian(by_fold, axis=0)
            mae[name] = counts_BN @ np.abs(self._by[name] - self._success) / drawn
        return corr, mae

    def _rank_corr(self, name: str, fold: int, counts: F64) -> F64:
        """Success has two values, so its ranks are as good as itself.

        A score that is the same for all ranks nothing: 0. Where all drawn succeed or all fail, nobody can tell: NaN.
        """
        ranks = self._rankings[name][fold].ranks(counts)
        success = np.broadcast_to(self._success[self._parts[fold]], counts.shape)
        found = correlation(ranks, success, counts)
        right = (counts * success).sum(axis=1)
        found[np.isnan(found) & (right > 0) & (right < counts.sum(axis=1))] = 0.0
        return found

    def _fold(self, place: int, weights: dict[str, float]) -> Fold:
        part = self._parts[place]
        success = self._success[part]
        ones = np.ones((1, len(part)))
        corr = {name: float(self._rank_corr(name, place, ones)[0]) for name in self._by}
        mae = {name: float(np.abs(values[part] - success).mean()) for name, values in self._by.items()}
        return Fold(
            episodes=len(part),
            successes=int(success.sum()),
            rank_corr_old=corr["old"],
            rank_corr_prior=corr["prior"],
            rank_corr_new=corr["new"],
            mae_old=mae["old"],
            mae_prior=mae["prior"],
            mae_new=mae["new"],
            weights=weights,
        )


def _compared(figures: dict[str, F64], changes: F64) -> Compared:
    return Compared(float(figures["old"][0]), float(figures["prior"][0]), float(figures["new"][0]), *interval(changes))
