"""Episodes that the judge was not asked about.

A judge costs time or money, so it may be asked about a share of the episodes, drawn by lot before anything was scored.
The others have no live dimensions and say `live: false`; that is no missing score, and no zero. In their place stands
the mean of what the judge said where it was asked: the same number for all of them, so that it lifts or lowers none of
them against the others, and not all of them against those that were judged. Weights carry these means (`stand_in`), so
that a shadow run and training use those of the calibration.

An episode that the judge was asked about and did not score is another thing: that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .dimensions import LIVE

F64 = NDArray[np.float64]


class Rated(Protocol):
    @property
    def dims(self) -> Mapping[str, float]: ...

    @property
    def live(self) -> bool: ...


def is_unasked(episode: Rated, judged_names: Sequence[str]) -> bool:
    """Not one of the judge's dimensions. Some of them and not the others is a score with a gap."""
    return bool(judged_names) and not episode.live and not any(name in episode.dims for name in judged_names)


def judged_among(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in LIVE)


def measurable(episodes: Iterable[Rated], names: Sequence[str], stand_in: Mapping[str, float]) -> tuple[str, ...]:
    """All of `names`; without those of the judge where it was asked about no episode at all and nothing stands in."""
    judged = judged_among(names)
    if all(name in stand_in for name in judged) or not all(is_unasked(one, judged) for one in episodes):
        return tuple(names)
    return tuple(name for name in names if name not in judged)


def means_where_asked(
    matrix_ND: F64, names: Sequence[str], asked_N: NDArray[np.bool_], given: Mapping[str, float]
) -> dict[str, float]:
    """What stands in for each dimension of the judge: what is given, else its mean over the episodes it was asked
    about."""
    found = {}
    for column, name in enumerate(names):
        if name in given:
            found[name] = given[name]
        elif name in LIVE and asked_N.any():
            found[name] = float(matrix_ND[asked_N, column].mean())
    return found
