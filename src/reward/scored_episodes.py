"""Scored episodes: rates recorded episodes, and gives their scores as columns to calibration and shadow run.

A line of a file of scored episodes has every dimension of one episode by name, the old 7 and the new ones. Reading it
needs neither model nor judge.

The judge may score only a random sample of the episodes, drawn before anything was scored. The others have no live
dimensions and `live: false`. In their place stands the judge's mean over the episodes that it scored: one number for
all, so that it does not change their order. The weights file has these means (`stand_in`), so that shadow run and
training use those of the calibration. An episode of the random sample without judge scores is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askgate_env.dimensions import LIVE, RULES
from askgate_env.episode_view import view_episode
from askgate_env.old_reward import OLD
from askgate_env.types import Level, Record, Sample, Task

from ..core.check import Check, check, remedies
from ..core.defaults import MIN_SAMPLES
from ..core.errors import BadInput
from ..core.jsonl import read_unique
from ..scoring.scores import Score
from .rank_statistics import F64, I64
from .recorded_episodes import RecordedEpisode, refuse_one_outcome

AGAIN = "score these episodes again"
SOME = 3
"""Number of faulty episodes that a message names."""


class ScoredEpisode(Record, frozen=True):
    """One episode with its scores. Nothing in `dims` was computed from the gold answer or the hidden span."""

    id: str
    """Id of the episode: a sample may have several."""
    sample_id: str
    source_id: str
    """Id of the source of the question. Episodes of one source are never on both sides of a fold."""
    split: Literal["train", "shadow"]
    """Side of the hold-out that the sample is on: weights are calibrated on `train` and checked on `shadow`."""
    task: Task
    level: Level | None
    success: bool
    """Whether the answer is right."""
    dims: dict[str, float]
    """Every dimension by name, each in 0..1; the live ones only if the judge scored the episode."""
    live: bool
    """Whether the judge's dimensions come from live calls. No gate passes if that is so for no episode."""
    weight: float = 1.0
    """Weight of the episode, above 0 and up to 1: lower if the judge's votes disagree."""


@dataclass(frozen=True)
class Scores:
    """Scored episodes as columns. `matrix_ND` has a row per episode and a column per name."""

    names: tuple[str, ...]
    matrix_ND: F64
    success_N: F64
    """1 for success, 0 for failure."""
    weight_N: F64
    source_N: I64
    """Episodes of one source share a number."""
    task_N: NDArray[np.str_]
    level_N: NDArray[np.str_]
    """Empty if it was not measured."""
    live_N: NDArray[np.bool_]
    """Whether each episode was scored live."""
    stand_in: dict[str, float] = field(default_factory=dict)
    """Values of the live dimensions for episodes that the judge did not score."""

    @property
    def live(self) -> int:
        """Number of episodes that were scored live."""
        return int(self.live_N.sum())

    def __len__(self) -> int:
        return len(self.success_N)


def read_columns(
    path: Path, names: Sequence[str], split: Literal["train", "shadow"], stand_in: Mapping[str, float] | None = None
) -> Scores:
    """The columns of a file of scored episodes: those of `names` that can be measured. All must be of that split."""
    episodes = list(read_unique(path, ScoredEpisode))
    if wrong := sum(one.split != split for one in episodes):
        what, remedy = _OTHER_SPLIT[split]
        raise BadInput(f"{wrong} episodes {what}", where=str(path), remedy=remedy)
    scores = columns(episodes, measurable(episodes, names, stand_in or {}), str(path), stand_in)
    refuse_too_little(scores, str(path))
    return scores


_OTHER_SPLIT = {
    "train": (
        "are of the shadow set, which must stay unseen by the weights",
        "record episodes on samples of the training split",
    ),
    "shadow": (
        "are not of a shadow set, and the weights may have been calibrated on them",
        "record episodes on the set that shadow-run --materialize writes",
    ),
}


def columns(
    episodes: Sequence[ScoredEpisode], names: Sequence[str], where: str, stand_in: Mapping[str, float] | None = None
) -> Scores:
    """The columns of `names`. Refuses episodes with other dimensions, or without one of these.

    `stand_in`: values of the live dimensions for episodes that are not live-scored; by default the means of the judge
    scores over the others.
    """
    unjudged_N = np.array([is_unjudged(episode, names) for episode in episodes], dtype=np.bool_)
    _refuse_other_names(episodes, names, unjudged_N, where)
    matrix = np.array([[episode.dims.get(name, 0.0) for name in names] for episode in episodes], dtype=np.float64)
    matrix = matrix.reshape(len(episodes), len(names))
    weight = np.array([episode.weight for episode in episodes], dtype=np.float64)
    _refuse_out_of_range(episodes, names, matrix, weight, where)
    means = {name: value for name, value in (stand_in or {}).items() if name in names}
    live = {name: column for column, name in enumerate(names) if name in LIVE}
    if not unjudged_N.all():
        means = {name: float(matrix[~unjudged_N, column].mean()) for name, column in live.items()} | means
    if unjudged_N.any():
        if lacking := [name for name in live if name not in means]:
            raise BadInput(
                f"no episode is live-scored, and there are no stand-in values for {', '.join(lacking)}",
                where=where,
                remedy="set REWARD_LIVE_MODE=1 and score the episodes again",
            )
        for name, column in live.items():
            matrix[unjudged_N, column] = means[name]
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
        stand_in={name: means[name] for name in names if name in means},
    )


def is_unjudged(episode: ScoredEpisode, names: Iterable[str]) -> bool:
    """Whether an episode has none of the judge's dimensions among `names`. If it has only some, it is not unjudged."""
    judged = [name for name in names if name in LIVE]
    return bool(judged) and not episode.live and not any(name in episode.dims for name in judged)


def measurable(
    episodes: Iterable[ScoredEpisode], names: Sequence[str], stand_in: Mapping[str, float]
) -> tuple[str, ...]:
    """All of `names`; without the live ones if the judge scored no episode and there are no stand-in values."""
    rules = tuple(name for name in names if name not in LIVE)
    if {*rules, *stand_in}.issuperset(names) or not all(is_unjudged(one, names) for one in episodes):
        return tuple(names)
    return rules


def _refuse_other_names(
    episodes: Sequence[ScoredEpisode], names: Sequence[str], unjudged_N: NDArray[np.bool_], where: str
) -> None:
    """Refuses other dimensions than `names`. The live ones may be missing from episodes without judge scores."""
    known = set(names)
    unknown = sorted({name for episode in episodes for name in episode.dims} - known)
    if unknown:
        raise BadInput(
            f"the weights file does not know {', '.join(unknown)}",
            where=where,
            remedy="add the dimension to the weights file, or score the episodes with the dimensions that it has",
        )
    wanted = {False: known, True: known - LIVE.keys()}
    gaps = [
        (episode.id, sorted(wanted[bool(unjudged)] - episode.dims.keys()))
        for episode, unjudged in zip(episodes, unjudged_N, strict=True)
    ]
    lacking = [f"{name!r} lacks {', '.join(dims)}" for name, dims in gaps if dims]
    if lacking:
        what = f"scores are missing for {len(lacking)} of {len(episodes)} episodes: {'; '.join(lacking[:SOME])}"
        raise BadInput(what, where=where, remedy=AGAIN)


def _refuse_out_of_range(
    episodes: Sequence[ScoredEpisode], names: Sequence[str], matrix: F64, weight: F64, where: str
) -> None:
    """Refuses dimensions outside 0..1 and weights outside (0, 1]; the conditions are negated, so NaN is refused too."""
    wrong = np.argwhere(~((matrix >= 0) & (matrix <= 1)))
    if len(wrong):
        row, column = wrong[0]
        what = f"{names[column]} of episode {episodes[row].id!r} is {matrix[row, column]}, not a number from 0 to 1"
        raise BadInput(f"{what} ({len(wrong)} such scores in all)", where=where, remedy=AGAIN)
    for episode, value in zip(episodes, weight, strict=True):
        if not 0 < value <= 1:
            what = f"the weight of episode {episode.id!r} is {value}, not a number above 0 and up to 1"
            raise BadInput(what, where=where, remedy=AGAIN)


def refuse_too_little(scores: Scores, where: str) -> None:
    """Refuses too few samples, or only one outcome: no correlation with success can be measured on them."""
    samples = len(np.unique(scores.source_N))
    if samples < MIN_SAMPLES:
        raise BadInput(
            f"{samples} different samples, and fewer than {MIN_SAMPLES} tell nothing",
            where=where,
            remedy="record episodes on more samples",
        )
    refuse_one_outcome(scores.success_N.tolist(), where)


def live_check(scores: Scores, wanted: int | None = None) -> Check:
    """The check that enough episodes were scored live: scores without a judge pass no gate.

    `wanted`: number of episodes that must be live-scored; None: all.
    """
    missing = max(0, (len(scores) if wanted is None else wanted) - scores.live)
    return check("not_live", missing, "==", 0, *remedies("reward")["not_live"])


def rate(
    recorded: Sequence[RecordedEpisode],
    samples: Sequence[Sample],
    scores: Mapping[str, Score] | None,
    to_score: Collection[str] | None = None,
) -> list[ScoredEpisode]:
    """Rates episodes by every dimension, the old 7 and the new ones.

    `scores`: judge scores; None: no episode is live-scored, so there are no live dimensions and `live` is false.
    `to_score`: ids of the episodes that the judge had to score; None: all. The others are rated as without a judge. An
    episode in `to_score` without judge scores is refused by name: a missing score is never a zero.
    """
    known = {sample.id: sample for sample in samples}
    unknown = [one.id for one in recorded if one.episode.sample_id not in known]
    if unknown:
        raise BadInput(
            f"{len(unknown)} episodes are of samples that the pool does not have: {', '.join(unknown[:SOME])}",
            where="recorded episodes",
            remedy="give the pool that they were recorded on",
        )
    judged = {one.id for one in recorded if to_score is None or one.id in to_score} if scores is not None else set()
    usable = {name: score for name, score in (scores or {}).items() if name in judged and score.overall is not None}
    lacking = [one.id for one in recorded if one.id in judged and one.id not in usable]
    if lacking:
        raise BadInput(
            f"the judge's scores are missing for {len(lacking)} of {len(judged)} episodes: {', '.join(lacking[:SOME])}",
            where="recorded episodes",
            remedy="score them again; what was paid for is in the cache. REWARD_LIVE_MODE=0 does without a judge",
        )
    return [_rated(one, known[one.episode.sample_id], usable.get(one.id)) for one in recorded]


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
