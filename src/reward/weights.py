"""Weights of the reward's dimensions: reads their files, and derives the prior of the calibration.

`configs/weights_baseline.json` is fixed. It holds the old scorer's 7 weights and the names of the new dimensions:

    {"weights": {"logic_rigor": 0.20, ...}, "new": ["grounding", ...]}

Two sets of weights over all D dimensions follow from it:

- *old*: the weights in use before, and 0 for every new dimension. Gates compare with these.
- *prior*: the weights toward which the calibration is regularized. Each new dimension has 1/D. The old ones share the
  rest in their old proportions: each has its old weight times (D - new)/D. The prior sums to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from askgate_env.reward import NAMES, AdvancedReward
from askgate_env.types import Record

from ..core.defaults import BASELINE, SUM_TOLERANCE, WEIGHTS
from ..core.errors import BadInput
from ..core.files import read_record, shipped

CAP_TOLERANCE = 1e-9


class Baseline(Record, frozen=True):
    weights: dict[str, float]
    """The old scorer's."""
    new: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.weights, *self.new)

    @property
    def old(self) -> list[float]:
        """The old weights in the order of `names`."""
        return [*self.weights.values(), *(0.0 for _ in self.new)]

    @property
    def prior(self) -> list[float]:
        """The prior in the order of `names`.

        >>> Baseline({"a": 0.6, "b": 0.4}, ("c", "d")).prior
        [0.3, 0.2, 0.25, 0.25]
        """
        size = len(self.names)
        left = len(self.weights) / size
        return [*(left * weight for weight in self.weights.values()), *(1 / size for _ in self.new)]

    def only(self, names: Iterable[str]) -> Baseline:
        """The baseline without the new dimensions that are not among `names`."""
        known = set(names)
        return Baseline(self.weights, tuple(name for name in self.new if name in known))


class Calibrated(Record, frozen=True):
    """Origin of a set of weights."""

    episodes_sha256: str
    baseline_sha256: str
    cv: int
    boot: int
    l2: float
    seed: int
    passed: bool
    """Whether the gates of the calibration passed. The weights are the optimum either way."""
    version: str


class Weights(Record, frozen=True):
    """`configs/weights.json`."""

    weights: dict[str, float]
    calibrated: Calibrated | None = None
    """None: the weights were written by hand."""
    stand_in: dict[str, float] = msgspec.field(default_factory=dict)
    """Values of the live dimensions for episodes that the judge did not score."""


def read_weights(path: Path = WEIGHTS, weight_max: float = 1.0) -> Weights:
    """Weights that the reward may use: not negative, none above `weight_max`, summing to 1. Others are refused."""
    found = read_unchecked(path)
    _refuse_wrong(found.weights, path, "run weight-calib; weights are not edited by hand")
    for name, weight in found.weights.items():
        if weight > weight_max + CAP_TOLERANCE:
            raise BadInput(f"{name} has {weight}, more than {weight_max}", where=str(path), remedy="run weight_calib")
    for name, value in found.stand_in.items():
        if not 0 <= value <= 1:
            what = f"the stand-in value of {name} is {value}, not a number from 0 to 1"
            raise BadInput(what, where=str(path), remedy="run weight_calib")
    return found


def load_dimensions(path: Path, scale: float = 1.0, *, weight_max: float) -> AdvancedReward:
    """The reward with the weights of a file. Refuses what `read_weights` does, and weights of an unknown dimension."""
    stored = read_weights(path, weight_max)
    unknown = sorted(set(stored.weights) - set(NAMES))
    if unknown:
        raise BadInput(
            f"there is no dimension {', '.join(unknown)}",
            where=str(path),
            remedy=f"run weight-calib; the dimensions are {', '.join(NAMES)}",
        )
    weights = {name: weight for name, weight in stored.weights.items() if weight > 0}
    return AdvancedReward(weights, scale, stored.stand_in)


def read_unchecked(path: Path) -> Weights:
    """Weights of a file, also if the reward may not use them."""
    return read_record(shipped(path), Weights, "run weight-calib")


def read_baseline(path: Path = BASELINE) -> Baseline:
    found = read_record(shipped(path), Baseline, "give the old weights and the names of the new dimensions")
    _refuse_wrong(found.weights, path, "correct the file; the old weights sum to 1")
    twice = sorted({name for name in found.names if found.names.count(name) > 1})
    if twice:
        raise BadInput(f"{', '.join(twice)} occurs twice", where=str(path), remedy="name every dimension once")
    if len(found.names) < 2:
        raise BadInput("names fewer than two dimensions", where=str(path), remedy="name at least two")
    return found


def _refuse_wrong(weights: Mapping[str, float], path: Path, remedy: str) -> None:
    for name, weight in weights.items():
        if not weight >= 0:
            raise BadInput(f"{name} has {weight}, below 0", where=str(path), remedy=remedy)
    if not abs(sum(weights.values()) - 1) <= SUM_TOLERANCE:
        raise BadInput(f"the weights sum to {sum(weights.values()):.6g}, not to 1", where=str(path), remedy=remedy)
