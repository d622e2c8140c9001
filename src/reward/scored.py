"""Scored episodes: how recorded episodes are rated, and their scores as columns for calibration and shadow run.

A line of such a file holds every dimension of one episode by name, the old 7 and the new ones. Reading it needs neither
model nor judge.

A judge costs time or money, so it may score only a random sample of the episodes, drawn before anything was scored. The
others have no live dimensions and say `live: false`; that is neither a missing score nor a zero. The judge's mean over
the episodes that it scored stands in for them: one number for all, so that it changes no order among them and does not
set them apart from those that were judged. Weights carry these means (`stand_in`), so that shadow run and training use
those of the calibration. An episode that the judge was asked to score and did not score is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..core.check import Check, check
from ..core.defaults import MIN_SAMPLES
from ..core.errors import BadInput
from ..core.jsonl import read_unique
from ..core.types import Level, Record, Sample, Task
from ..scoring.scores import Score
from .dimensions import LIVE, RULES
from .episode_view import view_episode
from .old_reward import OLD
from .record import RecordedEpisode

F64 = NDArray[np.float64]

AGAIN = "score these episodes again"
SOME = 3
"""How many of the episodes at fault a message names."""


class ScoredEpisode(Record, frozen=True):
    """One episode with its scores. Nothing in `dims` was computed from the gold answer or the hidden span."""

    id: str
    """Id of the episode: a sample may have several."""
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
    """Values of the live dimensions for episodes that the judge did not score."""

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
    judged = live_names(names)
    wanted = {False: tuple(names), True: tuple(name for name in names if name not in judged)}
    unjudged = [is_unjudged(episode, judged) for episode in episodes]
    for episode, alone in zip(episodes, unjudged, strict=True):
        if len(episode.dims) != len(wanted[alone]) or not all(name in episode.dims for name in wanted[alone]):
            raise _misfit(episodes, wanted, unjudged, where)
    matrix = np.array([[episode.dims.get(name, 0.0) for name in names] for episode in episodes], dtype=np.float64)
    matrix = matrix.reshape(len(episodes), len(names))
    weight = np.array([episode.weight for episode in episodes], dtype=np.float64)
    _refuse_out_of_range(episodes, names, matrix, weight, where)
    unjudged_N = np.array(unjudged, dtype=np.bool_)
    means = judge_means(matrix, names, ~unjudged_N, stand_in or {})
    if unjudged_N.any():
        _refuse_without(judged, means, where)
        for name in judged:
            matrix[unjudged_N, names.index(name)] = means[name]
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
    episodes: Sequence[ScoredEpisode], wanted: Mapping[bool, Sequence[str]], unjudged: Sequence[bool], where: str
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
        for episode, alone in zip(episodes, unjudged, strict=True)
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


def rate(
    recorded: Sequence[RecordedEpisode],
    samples: Sequence[Sample],
    scores: Mapping[str, Score] | None,
    asked: Collection[str] | None = None,
) -> list[ScoredEpisode]:
    """Every dimension by name, the old 7 and the new ones.

    Without scores of a judge (None) the lines have no live dimensions and say `live: false`. With them, an episode that
    the judge could not score is refused by name: a missing score is never a zero. `asked` are the episodes that the
    judge was asked about; None: all of them. The others are rated as without a judge.
    """
    known = {sample.id: sample for sample in samples}
    _refuse_strangers(recorded, known)
    judged = {one.id for one in recorded if asked is None or one.id in asked} if scores is not None else set()
    _refuse_unscored([one for one in recorded if one.id in judged], scores or {})
    return [
        _rated(one, known[one.episode.sample_id], scores[one.id] if scores and one.id in judged else None)
        for one in recorded
    ]


def _rated(one: RecordedEpisode, sample: Sample, score: Score | None) -> ScoredEpisode:
    view = view_episode(one.episode, sample)
    dims = {name: dimension(view) for name, dimension in {**OLD, **RULES}.items()}
    if score is not None:
        dims |= {name: score.scores[judged] for name, judged in LIVE.items()}
    return ScoredEpisode(
        id=one.id,
        sample_id=one.episode.sample_id,
        source_id=one.source_id,
        split=one.split,
        task=one.episode.task,
        level=one.episode.level,
        success=one.episode.success,
        dims=dims,
        live=score is not None and score.live,
        weight=1.0 if score is None else score.weight,
    )


def _refuse_strangers(recorded: Sequence[RecordedEpisode], known: Mapping[str, Sample]) -> None:
    strange = [one.id for one in recorded if one.episode.sample_id not in known]
    if strange:
        raise BadInput(
            f"{len(strange)} episodes are of samples that the pool does not have: {', '.join(strange[:SOME])}",
            where="recorded episodes",
            remedy="give the pool that they were recorded on",
        )


def _refuse_unscored(recorded: Sequence[RecordedEpisode], scores: Mapping[str, Score]) -> None:
    lacking = [one.id for one in recorded if one.id not in scores or scores[one.id].overall is None]
    if lacking:
        raise BadInput(
            f"the judge's scores are missing for {len(lacking)} of {len(recorded)} episodes: "
            f"{', '.join(lacking[:SOME])}",
            where="recorded episodes",
            remedy="score them again; what was paid for is in the cache. REWARD_LIVE_MODE=0 does without a judge",
        )


def is_unjudged(episode: ScoredEpisode, judged_names: Sequence[str]) -> bool:
    """Not one of the judge's dimensions. Some of them and not the others is a score with a gap."""
    return bool(judged_names) and not episode.live and not any(name in episode.dims for name in judged_names)


def live_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in LIVE)


def measurable(
    episodes: Iterable[ScoredEpisode], names: Sequence[str], stand_in: Mapping[str, float]
) -> tuple[str, ...]:
    """All of `names`, less the live ones where the judge scored no episode and no stand-in values are given."""
    judged = live_names(names)
    if all(name in stand_in for name in judged) or not all(is_unjudged(one, judged) for one in episodes):
        return tuple(names)
    return tuple(name for name in names if name not in judged)


def judge_means(
    matrix_ND: F64, names: Sequence[str], judged_N: NDArray[np.bool_], given: Mapping[str, float]
) -> dict[str, float]:
    """What stands in for each dimension of the judge: what is given, else its mean over the episodes it was asked
    about."""
    found = {}
    for column, name in enumerate(names):
        if name in given:
            found[name] = given[name]
        elif name in LIVE and judged_N.any():
            found[name] = float(matrix_ND[judged_N, column].mean())
    return found
