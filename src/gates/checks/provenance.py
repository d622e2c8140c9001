"""Recorded episodes and judge scores, derived again from what they were made from.

A recorded episode must follow from its sample: the dialogue is replayed. A stored score counts only if it is in the
ledger, its medians follow from votes with ledger lines of their own, and the cache has the judge's reply to this very
dialogue for each vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from askgate_env.env import matches_replay
from askgate_env.types import Sample

from ...config.judge_config import VotesSection
from ...config.loader import load_train_config
from ...core.jsonl import read_records, read_unique
from ...core.model_files import base_sha256
from ...data.pool.meta import read_meta
from ...reward.recorded_episodes import RecordedEpisode
from ...reward.scored_episodes import ScoredEpisode, rate
from ...scoring.ledger import Scoring, scorings
from ...scoring.prompt import Dialogue, dialogue_text
from ...scoring.score_pool import choose
from ...scoring.scores import Score, score_of
from ...scoring.store import Stored, read_replies
from ..anti_simulation import follows_from_votes
from ..gate import RoundContext


def derive_episodes(
    context: RoundContext,
    episodes: Path,
    scores: Path,
    pool: Path,
    draw: Callable[[int], Sequence[Sample]],
    seed: int,
) -> tuple[list[ScoredEpisode], dict[str, int]]:
    """The episodes of a file, with their dimensions computed again; and by check, how many of them failed.

    `draw(n)`: the n samples that should have been rolled out. `seed`: seed that chooses the episodes to be judged.
    """
    recorded = list(read_unique(episodes, RecordedEpisode))
    wanted = {one.episode.sample_id for one in recorded}
    samples = {sample.id: sample for sample in read_records(pool, Sample) if sample.id in wanted}
    tools = read_meta(pool).tools
    stated = {line.id: line for line in read_records(scores, Score)}
    judged = [one for one in recorded if one.id in stated]
    known = [(one, samples[one.episode.sample_id]) for one in recorded if one.episode.sample_id in samples]
    played = sum(
        one.source_id == sample.provenance.source_id
        and one.split == sample.provenance.split
        and matches_replay(one.episode, sample, tools)
        for one, sample in known
    )
    drawn, drawn_for_judge = draw(len(recorded)), choose(recorded, min(len(stated), len(recorded)), seed)
    base = base_sha256(load_train_config(context.profile.paths.config).base_model)
    rated = rate(recorded, list(samples.values()), stated, {one.id for one in judged})
    failed = {
        "episodes_not_played": len(recorded) - played,
        "scores_not_proved": len(stated) - len(proved(context, judged, stated)),
        "episodes_not_drawn": _difference((one.episode.sample_id for one in recorded), (one.id for one in drawn)),
        "scores_not_drawn": _difference(stated, (one.id for one in drawn_for_judge)),
        "episodes_of_another_model": sum(one.model != base for one in recorded),
    }
    return rated, failed


def _difference(ids: Iterable[str], drawn: Iterable[str]) -> int:
    """Number of ids that are in one and not in the other, repetitions counted."""
    actual, wanted = Counter(iter(ids)), Counter(iter(drawn))
    return (actual - wanted).total() + (wanted - actual).total()


def proved(context: RoundContext, dialogues: Sequence[Dialogue], stated: dict[str, Score]) -> set[str]:
    """Ids of the dialogues whose stated score follows from the ledger and from stored replies to that dialogue."""
    known = in_ledger(context.ledger, context.scoring.votes, stated.values())
    scored = [(one, known[one.id]) for one in dialogues if one.id in known]
    replies = read_replies(context.scoring.cache, {call.key for _, scoring in scored for call in scoring.calls})
    return {one.id for one, scoring in scored if _has_replies(one, scoring, replies)}


def in_ledger(ledger: Path, votes: VotesSection, stated: Iterable[Score]) -> dict[str, Scoring]:
    """The scorings of the stated scores that agree with the ledger and follow from votes in it, by dialogue id."""
    scores = {score.id: score for score in stated}
    known = read_scorings(ledger, {score.scoring for score in scores.values()})
    live = {name: score for name, score in scores.items() if score.live and score.overall is not None}
    return {
        name: scoring
        for name, score in live.items()
        if (scoring := known.get(score.scoring))
        and score == score_of(scoring.entry, votes)
        and follows_from_votes(scoring)
    }


def read_scorings(ledger: Path, wanted: set[str]) -> dict[str, Scoring]:
    """These scorings of the ledger with all their calls. The whole chain is checked."""
    return {one.entry.scoring: one for one in scorings(ledger) if one.entry.scoring in wanted}


def _has_replies(one: Dialogue, scoring: Scoring, replies: dict[str, list[Stored]]) -> bool:
    """Whether every vote has a stored reply to this dialogue with the same scores."""
    text = dialogue_text(one)
    votes = [call for call in scoring.calls if call.scores and call.status.startswith("ok")]
    return bool(votes) and all(
        any(
            stored.request.key == call.key and stored.request.text == text and stored.scores == call.scores
            for stored in replies.get(call.key, ())
        )
        for call in votes
    )
