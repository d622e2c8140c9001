"""The file of scores: a line for every sample, added when its scoring ends, put in the pool's order when all have.

A crash leaves whole lines and at most one torn one, which is cut off; its votes are in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from ..config.schema import VotesSection
from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import read_records, write_records
from ..core.types import Record, Sample
from .disk import told
from .prompt import DIMENSIONS, PROMPT_VERSION, dialogue_text
from .providers import Provider
from .types import Ask, ScoringEntry
from .votes import training_weight

UNSTABLE = "unstable_samples.jsonl"


class Score(Record, frozen=True):
    """What is known about one sample. Without a live scoring that succeeded there are no scores, and it weighs 0."""

    id: str
    key: str
    """Of everything that can change the scores: judge, prompt, dialogue, how votes are taken."""
    provider: str
    model: str
    live: bool
    overall: float | None = None
    scores: dict[str, float] = msgspec.field(default_factory=dict)
    variance: float | None = None
    votes: int = 0
    stable: bool = False
    weight: float = 0.0
    """How much the sample counts in training and calibration."""
    failure: str = ""
    scoring: str = ""
    at: str = ""


def score_key(sample: Sample, provider: Provider, votes: VotesSection) -> str:
    text = dialogue_text(sample)
    ask = Ask(provider.name, provider.model, PROMPT_VERSION, DIMENSIONS, sample.lang, text, vote=0)
    return sha256(msgspec.json.encode([ask.key, votes.model_dump()])).hexdigest()


def score_of(entry: ScoringEntry, key: str) -> Score:
    return Score(
        id=entry.sample,
        key=key,
        provider=entry.provider,
        model=entry.model,
        live=entry.live,
        overall=entry.overall,
        scores=entry.scores,
        variance=entry.variance,
        votes=entry.votes,
        stable=entry.stable,
        weight=0.0 if entry.variance is None else training_weight(entry.variance),
        failure=entry.failure,
        scoring=entry.scoring,
        at=entry.at,
    )


class ScoreFile:
    """`lines` is what the file holds, by sample."""

    def __init__(self, path: Path, pool: set[str]) -> None:
        self.path = path
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_end(path)
        self.lines = {score.id: score for score in read_records(path, Score)}
        if strange := next((name for name in self.lines if name not in pool), None):
            raise BadInput(
                f"holds the sample {strange!r}, which is not in this pool",
                where=str(path),
                remedy="choose another --out, or give the pool that it belongs to",
            )

    def add(self, score: Score) -> None:
        self.lines[score.id] = score
        with told(self.path):
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(handle, msgspec.json.encode(score) + b"\n")
            finally:
                os.close(handle)

    def finish(self, order: Iterable[str]) -> Path:
        """Writes the file in that order, and the unstable samples beside it. The second path is returned."""
        lines = [self.lines[name] for name in order if name in self.lines]
        _write(self.path, lines)
        unstable = self.path.with_name(UNSTABLE)
        _write(unstable, [line for line in lines if line.overall is not None and not line.stable])
        return unstable


def _write(path: Path, lines: list[Score]) -> None:
    with atomic_write(path) as handle:
        write_records(handle, lines)


def _cut_torn_end(path: Path) -> None:
    with open(path, "a+b") as handle:
        handle.seek(0)
        whole = handle.read().rfind(b"\n") + 1
        handle.truncate(whole)
