"""Weights are valid or refused; the baseline is the old weights with an equal share for each new dimension."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from askgate_env.dimensions import LIVE, RULES
from askgate_env.old_reward import OLD
from src.core.errors import BadInput
from src.reward.weights import Baseline, read_baseline, read_weights

from .scored_episodes import shipped_baseline

LAWFUL = {"a": 0.5, "b": 0.3, "c": 0.2}


def file(folder: Path, value: Any) -> Path:
    path = folder / "w.json"
    path.write_text(json.dumps(value))
    return path


def test_the_shipped_baseline_has_old_weights_and_new_names() -> None:
    shipped = shipped_baseline()
    assert list(shipped.weights) == list(OLD)
    assert list(shipped.weights.values()) == [0.20, 0.20, 0.15, 0.15, 0.10, 0.10, 0.10]
    assert set(shipped.new) == {*RULES, *LIVE}


def test_new_dimensions_get_equal_shares_in_the_prior() -> None:
    baseline = shipped_baseline()
    size = len(baseline.names)
    prior = dict(zip(baseline.names, baseline.prior, strict=True))
    assert sum(prior.values()) == pytest.approx(1)
    assert [prior[name] for name in baseline.new] == pytest.approx([1 / size] * (size - 7))
    assert prior["logic_rigor"] / prior["naturalness"] == pytest.approx(2)


def test_the_old_weights_of_new_dimensions_are_0() -> None:
    assert Baseline({"a": 0.6, "b": 0.4}, ("c",)).old == [0.6, 0.4, 0.0]


def test_valid_weights_are_read(tmp_path: Path) -> None:
    assert read_weights(file(tmp_path, {"weights": LAWFUL})).weights == LAWFUL


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"a": 0.5, "b": 0.4}, "sum to 0.9, not to 1"),
        ({"a": 0.5, "b": 0.6, "c": -0.1}, "c has -0.1, below 0"),
        ({"a": 0.6, "b": 0.4}, "a has 0.6, more than 0.5"),
        ({"a": "much"}, "Expected `float`"),
        ({"a": None}, "Expected `float`"),
        ({}, "sum to 0, not to 1"),
    ],
)
def test_invalid_weights_are_refused(weights: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=told):
        read_weights(file(tmp_path, {"weights": weights}), weight_max=0.5)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"weights": {"a": 0.6, "b": 0.3}}, "sum to 0.9, not to 1"),
        ({"weights": {"a": 0.6, "b": 0.4}, "new": ["b"]}, "b occurs twice"),
        ({"weights": {"a": 1.0}}, "fewer than two"),
        ({"weigths": {"a": 1.0}}, "weigths"),
        ([], "Expected `object`"),
    ],
)
def test_a_wrong_baseline_is_refused(value: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=told):
        read_baseline(file(tmp_path, value))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_weights(tmp_path / "none.json")
