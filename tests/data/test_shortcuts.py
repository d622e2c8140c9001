"""A word that reveals missing information is detected; where there is none, nothing is flagged."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from src.data.quality.shortcuts import MAX_SAMPLES, MIN_EACH, ShortcutAuc, auc_with_error, shortcut_auc
from tests.data.worded_samples import V2, wordy


def measured(texts: list[str], needs: list[bool]) -> ShortcutAuc:
    return shortcut_auc(texts, np.array(needs), seed=1)


def questions(count: int) -> tuple[list[str], list[bool]]:
    samples = wordy(count, V2)
    return [sample.prompt for sample in samples], [sample.needs_clarification for sample in samples]


def test_without_a_shortcut_the_auc_is_a_half() -> None:
    found = measured(*questions(1_500))
    assert found.auc is not None
    assert found.lower is not None
    assert found.lower < found.auc < 0.60


def test_a_revealing_word_has_an_auc_of_1() -> None:
    texts, needs = questions(600)
    told = [f"{text} It is that one." if need else text for text, need in zip(texts, needs, strict=True)]
    found = measured(told, needs)
    assert found.lower is not None
    assert found.lower > 0.98


def test_a_word_in_half_the_samples_is_a_shortcut() -> None:
    texts, needs = questions(1_000)
    rng = Random(3)
    told = [f"some {text}" if need and rng.random() < 0.6 else text for text, need in zip(texts, needs, strict=True)]
    found = measured(told, needs)
    assert found.lower is not None
    assert 0.70 < found.lower < 0.95


@pytest.mark.parametrize("needing", [0, MIN_EACH - 1, 300 - MIN_EACH + 1, 300])
def test_too_few_samples_of_a_class_are_not_measured(needing: int) -> None:
    texts, _ = questions(300)
    found = measured(texts, [number < needing for number in range(300)])
    assert (found.samples, found.needing, found.auc, found.lower) == (300, needing, None, None)


def test_a_large_group_is_measured_on_a_part_of_it() -> None:
    texts, needs = questions(500)
    found = measured(texts * 10, needs * 10)
    assert found.samples == 5_000 > MAX_SAMPLES
    assert found.auc is not None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=6, max_size=60))
def test_the_area_is_that_of_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores = np.array([float(score) for score, _ in pairs] + [0.0, 3.0, 1.0, 2.0])
    positive = np.array([one for _, one in pairs] + [True, True, False, False])
    area, error = auc_with_error(scores, positive)
    assert area == pytest.approx(roc_auc_score(positive, scores))
    assert error >= 0


def test_the_standard_error_is_the_spread_over_many_draws() -> None:
    rng = np.random.default_rng(4)
    areas, errors = [], []
    for _ in range(400):
        positive = np.arange(200) < 60
        area, error = auc_with_error(rng.normal(size=200) + 0.8 * positive, positive)
        areas.append(area)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(areas), rel=0.15)
