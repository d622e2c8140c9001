"""Recorded episodes rated: every dimension of each, those of a judge included, as lines that calibration reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.errors import BadInput
from ..core.types import Sample
from .dimensions import LIVE, RULES, see
from .old_reward import OLD
from .record import RecordedEpisode
from .scored import ScoredEpisode

if TYPE_CHECKING:
    from ..config.judge_config import ScoringSection
    from ..scoring.batch import BatchJob, Summary
    from ..scoring.monitor import Progress
    from ..scoring.providers import ScorerSettings
    from ..scoring.scores import Score

SOME = 3


def ask_judge(
    recorded: Sequence[RecordedEpisode],
    order: BatchJob,
    settings: ScorerSettings,
    scoring: ScoringSection,
    environment: Mapping[str, str],
    tell: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> tuple[dict[str, Score], Summary]:
    """The judge's scores by episode: K votes each, from the cache where they are there, all of it in the ledger.

    `order.pool` is the file of the episodes and `order.out` that of the scores; an earlier run is gone on with.
    """
    # Rating what was scored before needs nobody to speak to judges, and that is slow to import.
    from ..scoring.batch import score_dialogues

    return score_dialogues(list(recorded), order, settings, scoring, environment, tell, progress)


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
    seen = see(one.episode, sample)
    dims = {name: dimension(seen) for name, dimension in {**OLD, **RULES}.items()}
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
