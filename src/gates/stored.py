"""Stored episodes rated again: dimensions from the dialogues, judge's scores from votes on record and stored replies.

Of a line of scores nothing is believed. It must stand in the ledger; its medians must follow from votes that have
lines of their own; and for each vote the cache must hold the reply, given to this very dialogue, that says so.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..agents.replay import follows
from ..config.judge_config import VotesSection
from ..core.check import Check, check
from ..core.errors import BadInput
from ..core.jsonl import read_records
from ..core.types import Sample
from ..data.pool.meta import read_meta
from ..reward.rate import rate
from ..reward.record import RecordedEpisode, read_recorded
from ..reward.scored import ScoredEpisode
from ..scoring.batch import choose
from ..scoring.ledger import Scoring, lines
from ..scoring.prompt import Dialogue, dialogue_text
from ..scoring.scores import Score, score_of
from ..scoring.store import Stored, from_row
from ..scoring.types import CallEntry, ScoringEntry
from .anti_simulation import follows_from_votes
from .look import Look

_PLAYED = (
    "these records do not follow from their samples, so nobody played them; record the episodes again",
    "这些记录与样本不符，不是真实对话；请重新录制",
)
_SCORED = (
    "these scores do not follow from the ledger and the stored replies; score the episodes again live",
    "这些分数与账本及存储的回复不符；请重新真实打分",
)


_DRAWN = (
    "these are not the samples that the lot falls on: some were left out, added or repeated; record the episodes again",
    "所用样本并非抽签所得（有遗漏、增添或重复）；请重新录制",
)
_ASKED = (
    "the judge's scores are not of the episodes that the lot falls on: some were left out or added; score again live",
    "评委所评并非抽签所得的对话（有遗漏或增添）；请重新真实打分",
)


@dataclass(frozen=True)
class Rated:
    """Episodes of one file, and how much of it could not be derived."""

    recorded: list[RecordedEpisode]
    scored: list[ScoredEpisode]
    not_played: int
    not_proved: int
    not_drawn: int
    """Samples that the lot gives and that were left out, and episodes that are none of the lot's."""
    not_asked_by_lot: int
    """The same of the episodes that the judge was asked about."""

    def checks(self) -> list[Check]:
        return [
            check("episodes_not_played", self.not_played, "==", 0, *_PLAYED),
            check("scores_not_proved", self.not_proved, "==", 0, *_SCORED),
            check("episodes_not_drawn", self.not_drawn, "==", 0, *_DRAWN),
            check("scores_not_drawn", self.not_asked_by_lot, "==", 0, *_ASKED),
        ]


def rated_again(
    look: Look, episodes: Path, scores: Path, pool: Path, drawn: Callable[[int], Sequence[Sample]], seed: int
) -> Rated:
    """`drawn` gives the samples that the lot falls on where so many are played; `seed` is the lot's."""
    recorded = read_recorded(episodes)
    wanted = {one.episode.sample_id for one in recorded}
    samples = {sample.id: sample for sample in read_records(pool, Sample) if sample.id in wanted}
    tools = read_meta(pool).tools
    stated = {line.id: line for line in read_records(scores, Score)}
    asked = [one for one in recorded if one.id in stated]
    kept = [one for one in recorded if one.episode.sample_id in samples]
    return Rated(
        recorded=recorded,
        scored=rate(recorded, list(samples.values()), stated, {one.id for one in asked}),
        not_played=len(recorded)
        - sum(
            one.source_id == (sample := samples[one.episode.sample_id]).provenance.source_id
            and one.split == sample.provenance.split
            and follows(one.episode, sample, tools)
            for one in kept
        ),
        not_proved=len(stated) - len(proved(look, asked, stated)),
        not_drawn=_apart((one.episode.sample_id for one in recorded), (one.id for one in drawn(len(recorded)))),
        not_asked_by_lot=_apart(stated, (one.id for one in choose(recorded, min(len(stated), len(recorded)), seed))),
    )


def _apart(here: Iterable[str], by_lot: Iterable[str]) -> int:
    ours, theirs = Counter(iter(here)), Counter(iter(by_lot))
    return (ours - theirs).total() + (theirs - ours).total()


def proved(look: Look, dialogues: Sequence[Dialogue], stated: dict[str, Score]) -> set[str]:
    """Ids of the dialogues whose score follows from the ledger and from stored replies to that dialogue."""
    known = on_record(look.ledger, look.scoring.votes, stated.values())
    held = [(one, known[one.id]) for one in dialogues if one.id in known]
    replies = _replies(look.scoring.cache, {call.key for _, scoring in held for call in scoring.calls})
    return {one.id for one, scoring in held if _said(one, scoring, replies)}


def on_record(ledger: Path, votes: VotesSection, stated: Iterable[Score]) -> dict[str, Scoring]:
    """By id, the lines of which the ledger says the same, and whose scores follow from votes that stand there too."""
    lines_of = {line.id: line for line in stated}
    known = scorings(ledger, {line.scoring for line in lines_of.values()})
    return {
        name: known[line.scoring]
        for name, line in lines_of.items()
        if line.scoring in known and _is_of(line, known[line.scoring], votes)
    }


def scorings(ledger: Path, wanted: set[str]) -> dict[str, Scoring]:
    """Those of the ledger, which must be whole, with all their calls."""
    entries: dict[str, ScoringEntry] = {}
    calls: dict[str, list[CallEntry]] = {}
    for line in lines(ledger):
        if isinstance(line.entry, ScoringEntry) and line.entry.scoring in wanted:
            entries[line.entry.scoring] = line.entry
        elif isinstance(line.entry, CallEntry) and line.entry.scoring in wanted:
            calls.setdefault(line.entry.scoring, []).append(line.entry)
    return {name: Scoring(entry, tuple(calls.get(name, ()))) for name, entry in entries.items()}


def _is_of(line: Score, scoring: Scoring, votes: VotesSection) -> bool:
    return (
        line.live
        and line.overall is not None
        and line == score_of(scoring.entry, votes)
        and follows_from_votes(scoring)
    )


def _said(one: Dialogue, scoring: Scoring, replies: dict[str, list[Stored]]) -> bool:
    text = dialogue_text(one)
    votes = [call for call in scoring.calls if call.scores and call.status.startswith("ok")]
    return bool(votes) and all(
        any(
            stored.ask.key == call.key and stored.ask.text == text and stored.scores == call.scores
            for stored in replies.get(call.key, ())
        )
        for call in votes
    )


def _replies(cache: Path, keys: Iterable[str]) -> dict[str, list[Stored]]:
    """Read only: a look at the evidence must not change it."""
    if not cache.is_file():
        raise BadInput(
            "the judge's replies are not here", where=str(cache), remedy="put the file back, or score again live"
        )
    found: dict[str, list[Stored]] = {}
    try:
        with closing(sqlite3.connect(f"file:{cache}?mode=ro", uri=True)) as connection:
            for key in keys:
                rows = connection.execute("SELECT id, ask, reply, scoring, at FROM replies WHERE key = ?", (key,))
                found[key] = [from_row(row) for row in rows]
    except sqlite3.Error as error:
        raise BadInput(f"cannot be read ({error})", where=str(cache), remedy="put the file back as it was") from None
    return found
