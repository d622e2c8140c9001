"""Poisons for the weights: weights that no calibration produced must not reward a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from src.core.files import write_json
from src.reward.weights import Weights, read_weights

from .forged_run import caught
from .table import poison

WEIGHTS = Path("configs/weights.json")


def reweigh(**changes: float) -> None:
    found = read_weights()
    write_json(WEIGHTS, replace(found, weights={**found.weights, **changes}))


def spread(name: str, value: float) -> None:
    """One given weight, and the others scaled so that the sum is 1."""
    old = read_weights().weights
    rest = 1 - old[name]
    reweigh(**{other: (value if other == name else weight * (1 - value) / rest) for other, weight in old.items()})


@poison("weights/weights_off_one", "calibration/measured")
def test_weights_that_sum_to_nine_tenths(run: Path) -> None:
    reweigh(**{name: 0.9 * weight for name, weight in read_weights().weights.items()})
    assert caught("weights") == {"weights_off_one"}
    assert caught("calibration") == {"measured"}


@poison("weights/weight_smallest")
def test_a_negative_weight(run: Path) -> None:
    spread("support", -0.01)
    assert caught("weights") == {"weight_smallest"}


@poison("weights/weight_largest")
def test_a_weight_above_a_half(run: Path) -> None:
    spread("support", 0.51)
    assert caught("weights") == {"weight_largest"}


@poison("calibration/weights_not_fitted")
def test_valid_weights_that_no_calibration_produced(run: Path) -> None:
    spread("support", 0.30)
    assert caught("weights") == set()
    assert "weights_not_fitted" in caught("calibration")


@poison("calibration/weights_not_fitted")
def test_a_raised_substitute_for_judge_scores(run: Path) -> None:
    found = read_weights()
    raised = {name: min(1.0, value + 0.2) for name, value in found.stand_in.items()}
    write_json(WEIGHTS, replace(found, stand_in=raised))
    assert caught("calibration") == {"weights_not_fitted"}


@pytest.mark.parametrize("change", [{"seed": 43}, {"cv": 2}, {"boot": 1}, {"l2": 0.01}], ids=str)
@poison("calibration/settings_of_their_own")
def test_a_calibration_that_was_tried_until_it_passed(run: Path, change: dict[str, Any]) -> None:
    """Folds, seed or L2 penalty differ from those that the profile fixes."""
    found = read_weights()
    assert found.calibrated is not None
    write_json(WEIGHTS, replace(found, calibrated=replace(found.calibrated, **change)))
    assert "settings_of_their_own" in caught("calibration")


@poison("calibration/measured")
def test_weights_written_by_hand(run: Path) -> None:
    write_json(WEIGHTS, Weights(read_weights().weights))
    assert caught("calibration") == {"measured"}
