"""Calibrated weights are the optimum for their data, and are evaluated on held-out episodes."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.optimize import minimize
from scipy.stats import spearmanr

from src.core.errors import BadInput
from src.reward.calibration import assign_folds, calibrate_weights, fit
from src.reward.scored_episodes import Scores
from tests.rc1 import CALIBRATION, THRESHOLDS

from .scored_episodes import BASELINE, as_columns, scored

SETTINGS = CALIBRATION | {"cap": THRESHOLDS.weight_max}
QUICK = SETTINGS | {"boot": 20}
OLD, PRIOR = np.array(BASELINE.old), np.array(BASELINE.prior)
VERY_QUICK = SETTINGS | {"boot": 10}


def values(scores: Scores, **changes: float) -> np.ndarray:  # type: ignore[type-arg]
    found = calibrate_weights(scores, BASELINE, **{**QUICK, **changes})  # type: ignore[arg-type]
    return np.array([weight.value for weight in found.weights.values()])


def test_the_weights_minimize_weighted_error_plus_l2_penalty() -> None:
    rng = np.random.default_rng(3)
    scores = as_columns(
        [replace(one, weight=float(weight)) for one, weight in zip(scored(), rng.random(240), strict=True)]
    )

    def objective(w: np.ndarray) -> float:  # type: ignore[type-arg]
        left = scores.success_N - scores.matrix_ND @ w
        errors = (left - np.average(left, weights=scores.weight_N)) ** 2
        return float((scores.weight_N * errors).sum() / scores.weight_N.sum() + 0.1 * ((w - PRIOR) ** 2).sum())

    other = minimize(
        objective,
        PRIOR,
        bounds=[(0, 0.5)] * 8,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert values(scores) == pytest.approx(other.x, abs=1e-4)
    assert objective(values(scores)) <= other.fun + 1e-12


def test_the_true_weights_are_recovered() -> None:
    scores = as_columns(scored())
    true = np.array([0.0, 0.1, 0.0, 0.15, 0.0, 0.5, 0.25, 0.0])
    planted = Scores(**{**vars(scores), "success_N": scores.matrix_ND @ true - 0.3})
    (found,) = fit(planted, np.ones((1, 240), dtype=np.uint16), PRIOR, l2=0.0, cap=0.5)
    assert found.w_D == pytest.approx(true, abs=1e-9)


def test_a_constant_offset_does_not_change_the_weights() -> None:
    """A dimension that separates right from wrong keeps its weight if all its scores rise by the same amount."""
    episodes = scored(1000)
    low = [replace(one, dims={name: value / 2 for name, value in one.dims.items()}) for one in episodes]
    high = [replace(one, dims={**one.dims, "new_a": one.dims["new_a"] + 0.5}) for one in low]
    assert values(as_columns(high)) == pytest.approx(values(as_columns(low)), abs=1e-9)


def test_a_strong_l2_penalty_returns_the_prior() -> None:
    assert values(as_columns(scored()), l2=1e6) == pytest.approx(PRIOR, abs=1e-5)


def test_calibrated_weights_are_valid() -> None:
    weights = values(as_columns(scored(old_knows=0.0, new_knows=0.95)), l2=0.0)
    assert weights.min() >= 0
    assert weights.max() <= 0.5
    assert weights.sum() == pytest.approx(1, abs=1e-9)


def test_an_episode_of_half_weight_counts_half() -> None:
    episodes = scored()
    twice = [replace(one, weight=0.5) for one in episodes] + [
        replace(one, id=f"{one.id}-again", weight=0.5) for one in episodes
    ]
    assert values(as_columns(twice)) == pytest.approx(values(as_columns(episodes)), abs=1e-9)


def test_unstable_episodes_count_less() -> None:
    """Half of the episodes have an inverted outcome; with a lower weight they do less harm."""
    honest = scored(400)
    spoilt = [replace(one, success=not one.success) if place % 2 else one for place, one in enumerate(honest)]
    told = [replace(one, weight=0.1) if place % 2 else one for place, one in enumerate(spoilt)]
    true = values(as_columns(honest))
    off = [np.abs(values(as_columns(some)) - true).sum() for some in (told, spoilt)]
    assert off[0] < off[1] / 2


def test_the_order_of_the_lines_does_not_matter() -> None:
    episodes = scored(per_sample=2)
    shuffled = [episodes[place] for place in np.random.default_rng(0).permutation(len(episodes))]
    one, other = (calibrate_weights(as_columns(some), BASELINE, **VERY_QUICK) for some in (episodes, shuffled))
    for name, weight in one.weights.items():
        assert other.weights[name].value == pytest.approx(weight.value, abs=1e-9)
        assert other.weights[name].low == pytest.approx(weight.low, abs=1e-9)
    assert other.rank_corr.new == pytest.approx(one.rank_corr.new, abs=1e-9)
    assert other.mae.new == pytest.approx(one.mae.new, abs=1e-9)


def test_the_seed_decides_folds_and_figures() -> None:
    scores = as_columns(scored())
    first, same, other = (calibrate_weights(scores, BASELINE, **(VERY_QUICK | {"seed": seed})) for seed in (42, 42, 43))
    assert first == same
    assert [fold.mae_new for fold in first.folds] != [fold.mae_new for fold in other.folds]
    assert first.weights["new_a"].value == other.weights["new_a"].value


def test_held_out_figures_come_from_the_other_folds() -> None:
    """Computed again, without shortcuts, from the folds in the report."""
    scores = as_columns(scored(per_sample=2))
    rng = np.random.default_rng(42)
    fold_N = assign_folds(scores.source_N, scores.success_N, 5, rng)[scores.source_N]
    found = calibrate_weights(scores, BASELINE, **VERY_QUICK)
    held_out = np.empty(len(scores))
    for place, fold in enumerate(found.folds):
        seen = fold_N != place
        part = Scores(
            **{
                **vars(scores),
                **{name: vars(scores)[name][seen] for name in ("matrix_ND", "success_N", "weight_N", "source_N")},
            }
        )
        (fitted,) = fit(part, np.ones((1, 120), dtype=np.uint16), PRIOR, 0.1, 0.5)
        assert list(fold.weights.values()) == pytest.approx(fitted.w_D, abs=1e-9)
        held_out[~seen] = scores.matrix_ND[~seen] @ fitted.w_D
        old = scores.matrix_ND[~seen] @ OLD
        assert fold.rank_corr_new == pytest.approx(spearmanr(held_out[~seen], scores.success_N[~seen]).statistic)
        assert fold.rank_corr_old == pytest.approx(spearmanr(old, scores.success_N[~seen]).statistic)
    assert found.rank_corr.new == pytest.approx(np.median([fold.rank_corr_new for fold in found.folds]))
    assert found.mae.new == pytest.approx(np.abs(held_out - scores.success_N).mean())
    assert found.mae.old == pytest.approx(np.abs(scores.matrix_ND @ OLD - scores.success_N).mean())


def test_intervals_contain_the_weight_and_narrow_with_more_episodes() -> None:
    few, many = (calibrate_weights(as_columns(scored(n)), BASELINE, **SETTINGS) for n in (120, 2400))
    widths = [0.0, 0.0]
    for place, found in enumerate((few, many)):
        for weight in found.weights.values():
            assert weight.low is not None
            assert weight.high is not None
            assert weight.low - 0.02 <= weight.value <= weight.high + 0.02
            widths[place] += weight.high - weight.low
    assert widths[1] < widths[0] / 2


class TestFolds:
    def test_folds_keep_sources_together_and_spread_successes(self) -> None:
        rng = np.random.default_rng(5)
        source = np.repeat(np.arange(100), 3)
        success = (rng.random(300) < np.repeat(rng.random(100), 3)).astype(float)
        fold_S = assign_folds(source, success, 5, rng)
        assert np.bincount(fold_S).tolist() == [20] * 5
        rates = [success[fold_S[source] == fold].mean() for fold in range(5)]
        assert max(rates) - min(rates) < 0.1

    def test_a_fold_without_both_outcomes_is_refused(self) -> None:
        success = np.zeros(60)
        success[:3] = 1
        with pytest.raises(BadInput, match="3 successes and 57 failures do not give each of 5 folds both"):
            assign_folds(np.arange(60), success, 5, np.random.default_rng(0))


def test_a_score_that_is_the_same_for_all_ranks_nothing() -> None:
    flat = [
        replace(one, dims={name: 0.5 if name in BASELINE.weights else one.dims[name] for name in one.dims})
        for one in scored()
    ]
    found = calibrate_weights(as_columns(flat), BASELINE, **QUICK)
    assert found.rank_corr.old == 0.0
    assert found.rank_corr.new > 0.3


def test_a_limit_no_weights_can_keep_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"weight_max.*8 weights of at most 0.1 cannot sum to 1"):
        values(as_columns(scored()), cap=0.1)
