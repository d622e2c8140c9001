"""Scored episodes: what a policy did, whether it succeeded, and what every dimension says about it.

A line of such a file holds all dimensions of one episode, the old 7 and the new ones, by name. Whoever records episodes
writes these lines; the shadow run and the calibration read them and need neither model nor judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..core.check import Check, check
from ..core.defaults import MIN_SAMPLES
from ..core.errors import BadInput
from ..core.jsonl import read_unique
from ..core.types import Level, Record, Task
from .unasked import is_unasked, judged_among, means_where_asked

F64 = NDArray[np.float64]

AGAIN = "score these episodes again"
SOME = 3
"""How many of the episodes at fault a message names."""


class ScoredEpisode(Record, frozen=True):
    """One episode with its scores. Nothing in `dims` was computed from the gold answer or the hidden span."""

    id: str
    """Of the episode: a sample may have several."""
    sample_id: str
    source_id: str
    """What the question was made from. Episodes of one source are never on both sides of a fold."""
    split: Literal["train", "shadow"]
    """Which side of the hold-out the sample is on: weights are calibrated on one and looked at on the other."""
    task: Task
    level: Level | None
    success: bool
    """The answer fits the gold answer."""
    dims: dict[str, float]
    """Every dimension by name, each in 0..1; those of the judge only where it was asked."""
    live: bool
    """Whether the dimensions that a judge scores come from live calls. Where none does, no gate can pass."""
    weight: float = 1.0
    """How much it counts, above 0 and up to 1: less where the judge's votes disagree."""


@dataclass(frozen=True)
class Scores:
    """Scored episodes as columns. `matrix_ND` has a row for each episode and a column for each of `names`."""

    names: tuple[str, ...]
    matrix_ND: F64
    success_N: F64
    """1 for success, 0 for failure."""
    weight_N: F64
    source_N: NDArray[np.int64]
    """Episodes of one source share a number."""
    task_N: NDArray[np.str_]
    level_N: NDArray[np.str_]
    """Empty where nobody measured it."""
    live_N: NDArray[np.bool_]
    """Which come from live scoring."""
    stand_in: dict[str, float] = field(default_factory=dict)
    """What stands in for the judge where it was not asked; see `unasked`."""

    @property
    def live(self) -> int:
        """How many come from live scoring."""
        return int(self.live_N.sum())

    def __len__(self) -> int:
        return len(self.success_N)


def read_scored(path: Path) -> list[ScoredEpisode]:
    return list(read_unique(path, ScoredEpisode))


def columns(
    episodes: Sequence[ScoredEpisode], names: Sequence[str], where: str, stand_in: Mapping[str, float] | None = None
) -> Scores:
    """The columns of `names`, which are all dimensions that a weights file knows. Anything else is refused.

    `stand_in`: for episodes that the judge was not asked about; without it, the means of those that it was asked about.
    """
    judged = judged_among(names)
    wanted = {False: tuple(names), True: tuple(name for name in names if name not in judged)}
    unasked = [is_unasked(episode, judged) for episode in episodes]
    for episode, alone in zip(episodes, unasked, strict=True):
        if len(episode.dims) != len(wanted[alone]) or not all(name in episode.dims for name in wanted[alone]):
            raise _misfit(episodes, wanted, unasked, where)
    matrix = np.array([[episode.dims.get(name, 0.0) for name in names] for episode in episodes], dtype=np.float64)
    matrix = matrix.reshape(len(episodes), len(names))
    weight = np.array([episode.weight for episode in episodes], dtype=np.float64)
    _refuse_out_of_range(episodes, names, matrix, weight, where)
    unasked_N = np.array(unasked, dtype=np.bool_)
    means = means_where_asked(matrix, names, ~unasked_N, stand_in or {})
    if unasked_N.any():
        _refuse_without(judged, means, where)
        for name in judged:
            matrix[unasked_N, names.index(name)] = means[name]
    sources = [episode.source_id for episode in episodes]
    return Scores(
        names=tuple(names),
        matrix_ND=matrix,
        success_N=np.array([episode.success for episode in episodes], dtype=np.float64),
        weight_N=weight,
        source_N=np.unique(sources, return_inverse=True)[1].astype(np.int64),
        task_N=np.array([episode.task for episode in episodes], dtype=np.str_),
        level_N=np.array([episode.level or "" for episode in episodes], dtype=np.str_),
        live_N=np.array([episode.live for episode in episodes], dtype=np.bool_),
        stand_in=means,
    )


def _misfit(
    episodes: Sequence[ScoredEpisode], wanted: Mapping[bool, Sequence[str]], unasked: Sequence[bool], where: str
) -> BadInput:
    strange = sorted({name for episode in episodes for name in episode.dims} - set(wanted[False]))
    if strange:
        return BadInput(
            f"the weights file does not know {', '.join(strange)}",
            where=where,
            remedy="add the dimension to the weights file, or score the episodes with the dimensions that it has",
        )
    gaps = [
        (episode.id, sorted(set(wanted[alone]) - set(episode.dims)))
        for episode, alone in zip(episodes, unasked, strict=True)
    ]
    lacking = [(name, dims) for name, dims in gaps if dims]
    told = "; ".join(f"{name!r} lacks {', '.join(dims)}" for name, dims in lacking[:SOME])
    return BadInput(
        f"scores are missing for {len(lacking)} of {len(episodes)} episodes: {told}", where=where, remedy=AGAIN
    )


def _refuse_without(judged: Sequence[str], means: Mapping[str, float], where: str) -> None:
    lacking = [name for name in judged if name not in means]
    if lacking:
        raise BadInput(
            f"no judge was asked about any episode, and nothing is known to stand in for {', '.join(lacking)}",
            where=where,
            remedy="set REWARD_LIVE_MODE=1 and score the episodes again",
        )


def _refuse_out_of_range(
    episodes: Sequence[ScoredEpisode], names: Sequence[str], matrix: F64, weight: F64, where: str
) -> None:
    """Written so that NaN is out of range too."""
    wrong = ~((matrix >= 0) & (matrix <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = matrix[row, column]
        raise BadInput(
            f"{names[column]} of episode {episodes[row].id!r} is {value}, not a number from 0 to 1 "
            f"({int(wrong.sum())} such scores in all)",
            where=where,
            remedy=AGAIN,
        )
    wrong = ~((weight > 0) & (weight <= 1))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise BadInput(
            f"the weight of episode {episodes[first].id!r} is {weight[first]}, not a number above 0 and up to 1",
            where=where,
            remedy=AGAIN,
        )


def refuse_too_little(scores: Scores, where: str) -> None:
    """Too few samples, or only one outcome: no correlation with success can be measured on that."""
    samples = len(np.unique(scores.source_N))
    if samples < MIN_SAMPLES:
        raise BadInput(
            f"{samples} different samples, and fewer than {MIN_SAMPLES} tell nothing",
            where=where,
            remedy="record episodes on more samples",
        )
    rate = scores.success_N.mean()
    if rate in (0, 1):
        raise BadInput(
            f"all {len(scores)} episodes {'succeed' if rate else 'fail'}, so nothing can be told apart",
            where=where,
            remedy="record episodes of a policy that succeeds at some and fails at some, at a temperature above 0",
        )


def live_check(scores: Scores, wanted: int | None = None) -> Check:
    """What was scored without a judge may be looked at, but it passes no gate.

    `wanted`: about how many episodes the judge was to be asked; None: about all.
    """
    return check(
        "not_live",
        max(0, (len(scores) if wanted is None else wanted) - scores.live),
        "==",
        0,
        "set REWARD_LIVE_MODE=1 and score the episodes again",
        "设置 REWARD_LIVE_MODE=1，然后对这些对话重新评分",
    )
