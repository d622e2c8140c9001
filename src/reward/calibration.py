"""Calibrates the weights of the reward: least squares fit to success over the simplex, regularized toward a prior.

    minimize  sum_i s_i (a + x_i'w - y_i)^2 / sum_i s_i  +  l2 |w - prior|^2
    over a and w   with   sum(w) = 1,   0 <= w <= cap

x_i are the dimensions of episode i, y_i is 1 for success, s_i is its weight. The squared error is averaged, not
summed, so `l2` means the same for 245 episodes and for 100,000. The solution is exact (`simplex_qp`).

The intercept a is not part of the score. Without it the weights would go to dimensions whose mean is near the success
rate, not to those that tell right from wrong.

The fits (all episodes, the training part of each fold, each bootstrap resample) differ only in how often an episode
counts, so one pass over the episodes gives the normal equations of all of them. The weights are compared with the old
ones on held-out folds, by rank correlation with success (median over the folds) and mean absolute error; there every
episode counts once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from askgate_env.dimensions import LIVE

from .. import __version__
from ..config.profile import Thresholds
from ..core.check import Check, Report, check, evidence, now, remedies, report
from ..core.errors import BadInput
from ..core.files import atomic_files, json_bytes, refuse_overlap, sha256_file, shipped
from ..core.paths import REPORTS
from . import rank_statistics as stats
from .rank_statistics import F64, I64
from .scored_episodes import Scores, live_check, read_columns
from .simplex_qp import Solution, solve
from .weights import Baseline, Calibrated, Weights, read_baseline

TAG = "calibration"
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
    rank_corr: OldAndNew
    """Median over the folds."""
    mae: OldAndNew
    """Over all held-out episodes."""
    folds: list[Fold]
    residual: float
    """Gap of the weights to the optimum (`simplex_qp.optimality_gap`)."""
    episodes: int
    samples: int
    success_rate: float


def calibrate_weights(
    scores: Scores, baseline: Baseline, *, l2: float, cv: int, boot: int, seed: int, cap: float
) -> Calibration:
    """Fits the weights and measures them on held-out folds. The columns of `scores` must be those of `baseline`."""
    if len(baseline.names) * cap < 1:
        raise BadInput(
            f"{len(baseline.names)} weights of at most {cap} cannot sum to 1",
            where="thresholds.weight_max",
            remedy="raise it in the gate profile, or name more dimensions",
        )
    rng = np.random.default_rng(seed)
    fold_S = assign_folds(scores.source_N, scores.success_N, cv, rng)
    samples = len(fold_S)
    counts_RS = np.ones((1 + cv + boot, samples), dtype=np.uint16)
    counts_RS[1 : 1 + cv] = np.arange(cv)[:, None] != fold_S
    for row in counts_RS[1 + cv :]:
        row[:] = np.bincount(rng.integers(samples, size=samples), minlength=samples)
    fitted = fit(scores, counts_RS, np.array(baseline.prior), l2, cap)
    w_RD = np.array([one.w_D for one in fitted])
    held_out = HeldOut(scores, fold_S[scores.source_N], baseline, w_RD[1 : cv + 1])
    rank_corr, mae = held_out.compare(boot, rng)
    return Calibration(
        weights=_weights(scores.names, w_RD[0], w_RD[cv + 1 :], baseline),
        rank_corr=rank_corr,
        mae=mae,
        folds=held_out.folds,
        residual=max(one.residual for one in fitted),
        episodes=len(scores),
        samples=samples,
        success_rate=float(scores.success_N.mean()),
    )


def fit(scores: Scores, counts_RS: NDArray[np.uint16], prior_D: F64, l2: float, cap: float) -> list[Solution]:
    """A solution for each row of `counts_RS`, which has the number of times that each source counts."""
    size = len(prior_D)
    rows, columns = np.triu_indices(size)
    squares = len(rows)
    sums = np.zeros((len(counts_RS), squares + 2 * size + 2))
    for part in stats.blocks(len(scores), EPISODES_AT_ONCE):
        x, y, weight = scores.matrix_ND[part], scores.success_N[part, None], scores.weight_N[part, None]
        products = np.hstack([x[:, rows] * x[:, columns], x * y, x, y, np.ones_like(y)])
        sums += counts_RS[:, scores.source_N[part]].astype(np.float64) @ (weight * products)
    found = []
    for means in sums[:, :-1] / sums[:, -1:]:
        xx, xy, x_mean, y_mean = np.split(means, [squares, squares + size, squares + 2 * size])
        h = np.empty((size, size))
        h[rows, columns] = h[columns, rows] = xx
        # For given weights the best intercept is the mean residual. It turns these moments into covariances.
        h -= np.outer(x_mean, x_mean)
        found.append(solve(h + l2 * np.eye(size), xy - x_mean * y_mean + l2 * prior_D, cap))
    return found


def _weights(names: tuple[str, ...], w_D: F64, boot_BD: F64, baseline: Baseline) -> dict[str, Weight]:
    """The weights by dimension, with their bootstrap intervals."""
    found = {}
    for place, name in enumerate(names):
        low, high = stats.interval(boot_BD[:, place])
        value = round(float(w_D[place]), WEIGHT_DIGITS)
        found[name] = Weight(value, low, high, baseline.prior[place], baseline.old[place])
    return found


def assign_folds(source_N: I64, success_N: F64, cv: int, rng: np.random.Generator) -> I64:
    """The fold of every source. Sources are sorted by success rate, equal ones at random, and dealt out in turn.

    Every fold must have successes and failures, because no correlation can be measured on one outcome alone.
    """
    episodes = np.bincount(source_N)
    rate = np.bincount(source_N, weights=success_N) / episodes
    dealt = np.lexsort((rng.permutation(len(rate)), episodes, rate))
    fold_S = np.empty(len(rate), dtype=np.int64)
    fold_S[dealt] = np.arange(len(rate)) % cv
    held = np.bincount(fold_S[source_N], minlength=cv)
    right = np.bincount(fold_S[source_N], weights=success_N, minlength=cv)
    if ((right == 0) | (right == held)).any():
        total = int(success_N.sum())
        raise BadInput(
            f"{total} successes and {len(success_N) - total} failures do not give each of {cv} folds both",
            where="--cv",
            remedy="record more episodes, or use fewer folds",
        )
    return fold_S


class Fold(Struct, frozen=True):
    episodes: int
    successes: int
    rank_corr_old: float
    rank_corr_new: float
    mae_old: float
    mae_new: float
    weights: dict[str, float]
    """Fitted without this fold."""


class OldAndNew(Struct, frozen=True):
    """A held-out figure of the old and of the calibrated weights."""

    old: float
    new: float
    change_low: float | None
    change_high: float | None
    """New less old: the middle 95% of the resamples of held-out episodes."""


class HeldOut:
    """Scores of every episode by weights that never saw its source, beside those of the old weights."""

    def __init__(self, scores: Scores, fold_N: I64, baseline: Baseline, w_KD: F64) -> None:
        self._source, self._success = scores.source_N, scores.success_N
        self._scores = {
            "old": scores.matrix_ND @ np.array(baseline.old),
            "new": np.einsum("nd,nd->n", scores.matrix_ND, w_KD[fold_N]),
        }
        self._parts = [np.flatnonzero(fold_N == fold) for fold in range(len(w_KD))]
        self._rankings = {
            name: [stats.Ranking(values[part]) for part in self._parts] for name, values in self._scores.items()
        }
        self.folds = [
            self._fold(place, dict(zip(scores.names, w.tolist(), strict=True))) for place, w in enumerate(w_KD)
        ]

    def compare(self, boot: int, rng: np.random.Generator) -> tuple[OldAndNew, OldAndNew]:
        """Rank correlation and mean absolute error of old and new weights, with intervals from `boot` resamples."""
        ones = np.ones((1, len(self._success)))
        corr, mae = self._figures(ones)
        corr_changes, mae_changes = [np.empty(0)], [np.empty(0)]  # there may be no resamples
        for counts in stats.resamples(self._source, boot, rng):
            drawn_corr, drawn_mae = self._figures(counts)
            corr_changes.append(drawn_corr["new"] - drawn_corr["old"])
            mae_changes.append(drawn_mae["new"] - drawn_mae["old"])
        return _old_and_new(corr, np.concatenate(corr_changes)), _old_and_new(mae, np.concatenate(mae_changes))

    def _figures(self, counts_BN: F64) -> tuple[dict[str, F64], dict[str, F64]]:
        """Rank correlation and mean absolute error of both scores in each resample."""
        corr, mae = {}, {}
        drawn = counts_BN.sum(axis=1)
        for name in self._scores:
            by_fold = [self._rank_corr(name, place, counts_BN[:, part]) for place, part in enumerate(self._parts)]
            with warnings.catch_warnings():
                # If all folds of a resample are NaN, so is the median, and the interval leaves that resample out.
                warnings.simplefilter("ignore", RuntimeWarning)
                corr[name] = np.nanmedian(by_fold, axis=0)
            mae[name] = counts_BN @ np.abs(self._scores[name] - self._success) / drawn
        return corr, mae

    def _rank_corr(self, name: str, fold: int, counts: F64) -> F64:
        """Rank correlation of a score with success in one fold, for each resample.

        Success has only two values, so it need not be ranked. If all scores are equal, the correlation is 0. If all
        drawn episodes succeed, or all fail, it is NaN.
        """
        ranks = self._rankings[name][fold].ranks(counts)
        success = np.broadcast_to(self._success[self._parts[fold]], counts.shape)
        found = stats.correlation(ranks, success, counts)
        right = (counts * success).sum(axis=1)
        found[np.isnan(found) & (right > 0) & (right < counts.sum(axis=1))] = 0.0
        return found

    def _fold(self, place: int, weights: dict[str, float]) -> Fold:
        part = self._parts[place]
        success = self._success[part]
        ones = np.ones((1, len(part)))
        corr = {f"rank_corr_{name}": float(self._rank_corr(name, place, ones)[0]) for name in self._scores}
        mae = {f"mae_{name}": float(np.abs(values[part] - success).mean()) for name, values in self._scores.items()}
        return Fold(episodes=len(part), successes=int(success.sum()), weights=weights, **corr, **mae)


def _old_and_new(figures: dict[str, F64], changes: F64) -> OldAndNew:
    return OldAndNew(float(figures["old"][0]), float(figures["new"][0]), *stats.interval(changes))


def weight_calib(
    episodes: Path,
    baseline: Path,
    *,
    cv: int,
    boot: int,
    l2: float,
    seed: int,
    limits: Thresholds,
    out: Path,
    tag: str = TAG,
    live_n: int | None = None,
    made_from: Sequence[Path] = (),
) -> tuple[Report, Path]:
    """Writes the calibrated weights to `out` and the report of the calibration; returns the report and its path.

    If there is no live-scored episode, the weights are over the dimensions by rule alone, and the gate on live scores
    fails.
    Weights are written even if their gates failed, because they are the optimum; file and report say that they failed.

    `live_n`: number of episodes that must be live-scored; None: all. `made_from`: files that the scored episodes were
    derived from; their SHA-256 go into the evidence.
    """
    started = now()
    if not 0 <= l2 < inf:
        raise BadInput(f"{l2} is no strength", where="--l2", remedy="give a number of at least 0, such as 0.1")
    fixed = shipped(baseline)
    path = REPORTS / f"calibration_report_{tag}.json"
    read = {"--episodes": episodes, "--baseline": fixed, **{str(one): one for one in made_from}}
    refuse_overlap({"--out": out, "the report": path}, read)
    known = read_baseline(baseline)
    scores = read_columns(episodes, known.names, "train")
    settings: dict[str, Any] = {"cv": cv, "boot": boot, "l2": l2, "seed": seed}
    result = calibrate_weights(scores, known.only(scores.names), **settings, cap=limits.weight_max)
    checks = [*calibration_checks(result, limits), live_check(scores, live_n)]
    passed = all(one.passed for one in checks)
    origin = Calibrated(sha256_file(episodes), sha256_file(fixed), **settings, passed=passed, version=__version__)
    values = {name: weight.value for name, weight in result.weights.items()}
    weights = json_bytes(Weights(values, origin, scores.stand_in))
    arguments = {**settings, "cap": limits.weight_max, "live_n": live_n}
    arguments |= limits.model_dump(include={"rank_corr_gain_pct_min", "mae_change_pct_max"})
    proof = evidence([episodes, fixed, *made_from], [], arguments, started)
    proof = replace(proof, outputs={str(out): sha256(weights).hexdigest()})
    live = {name: scores.matrix_ND[scores.live_N, place] for place, name in enumerate(scores.names) if name in LIVE}
    auc = judge_auc(live, scores.success_N[scores.live_N])
    measured = {**figures(result), "live_episodes": scores.live, "judge_auc": auc}
    whole = report("weight_calib", checks, measured, proof)
    with atomic_files() as start:
        start(out).write(weights)
        start(path).write(json_bytes(whole))
    return whole, path


def judge_auc(live: dict[str, F64], success_N: F64) -> dict[str, list[float]]:
    """AUC of each live dimension against success, with its 95% interval, on the episodes that the judge scored."""
    found = {name: stats.auc_interval(column, success_N) for name, column in live.items()}
    return {name: list(ends) for name, ends in found.items() if ends}


def calibration_checks(found: Calibration, limits: Thresholds) -> list[Check]:
    """Checks of the new weights against the old ones, on held-out folds."""
    old, new, remedy = found.rank_corr.old, found.rank_corr.new, remedies("reward")
    return [
        stats.gain_check("rank_corr_gain", old, new, limits.rank_corr_gain_pct_min, remedy["rank_corr"]),
        check("mae_change_pct", _mae_change_pct(found), "<=", limits.mae_change_pct_max, *remedy["mae"]),
    ]


def figures(found: Calibration) -> dict[str, Any]:
    return {
        **msgspec.to_builtins(found),
        "rank_corr_gain_pct": stats.gain_pct(found.rank_corr.old, found.rank_corr.new),
        "mae_change_pct": _mae_change_pct(found),
    }


def _mae_change_pct(found: Calibration) -> float | None:
    """Change of the mean absolute error in percent of that of the old weights; None if that is 0."""
    return round(100 * (found.mae.new - found.mae.old) / found.mae.old, stats.DIGITS) if found.mae.old else None
