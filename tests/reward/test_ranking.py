"""Rank statistics of many resamples at once equal those of each resample alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from src.reward.rank_statistics import Ranking, kendall, overlap, resamples, spearman, top_places

F64 = NDArray[np.float64]
ONES = np.ones((1, 4))


def drawn(values: F64, counts: F64) -> F64:
    return np.repeat(values, counts.astype(int))


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 60), levels=st.sampled_from([2, 4, 1000]))
def test_resampled_correlations_are_scipys_of_the_drawn_values(seed: int, size: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(levels, size=(2, size)) / levels
    counts = next(resamples(np.arange(size), 5, rng))
    assert counts.sum(axis=1).tolist() == [size] * 5
    for row, rho, tau in zip(counts, spearman(Ranking(x), Ranking(y), counts), kendall(x, y, counts), strict=True):
        one, other = drawn(x, row), drawn(y, row)
        if np.ptp(one) == 0 or np.ptp(other) == 0:
            assert np.isnan([rho, tau]).all()
        else:
            assert rho == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-9)
            assert tau == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([3, 8, 1000]))
def test_overlap_is_the_mean_over_random_tie_breaks(seed: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(levels, size=(2, 30)) / levels
    places, hits = 6, []
    for _ in range(3000):
        tops = [set(np.lexsort((rng.random(30), -values))[:places].tolist()) for values in (x, y)]
        hits.append(len(tops[0] & tops[1]) / places)
    assert overlap(Ranking(x), Ranking(y), np.ones((1, 30)), 0.2)[0] == pytest.approx(np.mean(hits), abs=0.02)


def test_a_score_without_ties_overlaps_itself_completely() -> None:
    order = Ranking(np.random.default_rng(1).random(245))
    assert overlap(order, order, np.ones((1, 245)), 0.10)[0] == pytest.approx(1)


def test_constant_scores_overlap_by_chance_only() -> None:
    flat = Ranking(np.full(200, 0.7))
    assert overlap(flat, flat, np.ones((1, 200)), 0.10)[0] == pytest.approx(0.10)


def test_the_order_of_the_lines_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(4, size=(2, 50)).astype(float)
    shuffled = rng.permutation(50)
    ones = np.ones((1, 50))
    straight = overlap(Ranking(x), Ranking(y), ones, 0.1)
    assert overlap(Ranking(x[shuffled]), Ranking(y[shuffled]), ones, 0.1) == pytest.approx(straight)


def test_rounding_errors_do_not_break_ties() -> None:
    assert Ranking(np.array([0.1 + 0.2, 0.3, 0.5, 0.1])).ranks(ONES)[0].tolist() == [2.0, 2.0, 3.5, 0.5]


def test_episodes_of_one_source_are_drawn_together() -> None:
    counts = np.concatenate(list(resamples(np.array([0, 0, 1, 2, 2]), 50, np.random.default_rng(3))))
    assert len(counts) == 50
    assert (counts[:, 0] == counts[:, 1]).all()
    assert (counts[:, 3] == counts[:, 4]).all()
    assert (counts[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_a_fractional_top_is_rounded_up() -> None:
    assert top_places(np.array([245.0, 30.0, 100.0]), 0.10).tolist() == [25.0, 3.0, 10.0]
