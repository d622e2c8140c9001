"""The figures of a shadow run equal those of scipy, with intervals, also for each task."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from src.reward.shadow_run import agreement, agreement_by_group

from .scored_episodes import BASELINE, FIRST, SECOND, as_columns, scored, two_scores

OLD, NEW = np.array(BASELINE.old), np.array(BASELINE.prior)


def test_the_figures_are_scipys() -> None:
    scores = as_columns(scored())
    old, new = scores.matrix_ND @ OLD, scores.matrix_ND @ NEW
    found = agreement(scores, OLD, NEW, seed=1)
    assert found.spearman == pytest.approx(stats.spearmanr(old, new).statistic)
    assert found.kendall_tau == pytest.approx(stats.kendalltau(old, new).statistic)
    before, after = (stats.spearmanr(one, scores.success_N).statistic for one in (old, new))
    assert found.corr_to_success_old == pytest.approx(before)
    assert found.corr_to_success_new == pytest.approx(after)
    assert found.corr_improve_pct == pytest.approx(100 * (after / before - 1), abs=1e-4)
    tops = [set(np.argsort(one)[-24:].tolist()) for one in (old, new)]
    assert found.top10_overlap == pytest.approx(len(tops[0] & tops[1]) / 24)


def test_every_figure_has_an_interval_around_it() -> None:
    found = agreement(as_columns(scored()), OLD, NEW, seed=1)
    for name in (
        "spearman kendall_tau top10_overlap top20_overlap corr_to_success_old corr_to_success_new corr_improve_pct"
    ).split():
        low, high = found.intervals[name]
        assert low <= getattr(found, name) <= high
        assert low < high


def test_each_task_and_each_difficulty_is_measured_by_itself() -> None:
    scores = as_columns(scored())
    found = agreement_by_group(scores, OLD, NEW, seed=1)
    assert {name: list(parts) for name, parts in found.items()} == {
        "task": ["hotpotqa", "strategyqa", "gsm8k"],
        "difficulty": ["easy", "medium", "hard"],
    }
    for parts in found.values():
        assert sum(part.episodes for part in parts.values()) == 240
    gsm8k = scores.task_N == "gsm8k"
    alone = stats.spearmanr((scores.matrix_ND @ OLD)[gsm8k], (scores.matrix_ND @ NEW)[gsm8k]).statistic
    assert found["task"]["gsm8k"].spearman == pytest.approx(alone)


def test_a_part_without_episodes_or_with_one_outcome_says_so() -> None:
    scores = as_columns([one for one in scored() if one.task != "gsm8k"])
    empty = agreement_by_group(scores, OLD, NEW, seed=1)["task"]["gsm8k"]
    assert (empty.episodes, empty.spearman, empty.intervals) == (0, None, {})
    values = np.random.default_rng(0).random(50)
    solved = agreement(two_scores(values, values, np.ones(50)), FIRST, SECOND, seed=1)
    assert solved.spearman == 1
    assert solved.corr_to_success_new is None
    assert "corr_to_success_new" not in solved.intervals


def test_the_same_seed_gives_the_same_intervals() -> None:
    scores = as_columns(scored())
    assert agreement(scores, OLD, NEW, seed=1) == agreement(scores, OLD, NEW, seed=1)
