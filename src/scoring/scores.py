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
from ..core.jsonl import decode, write_records
from ..core.types import Record
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock
from .prompt import Dialogue, dialogue_text
from .providers import Provider
from .types import Ask, ScoringEntry
from .votes import training_weight
from .wire import ask_for

UNSTABLE = "unstable_samples.jsonl"
OWN_SCORES = ".scores.jsonl"
_FIRST, _SECOND = b'{"id":"', b'key":"'
"""How a line starts."""


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


def first_ask(sample: Dialogue, provider: Provider) -> Ask:
    """For the first vote; a judge that was not asked for it was not asked about this dialogue at all."""
    return ask_for(provider, sample.lang, dialogue_text(sample), vote=0)


def score_key(sample: Dialogue, provider: Provider, votes: VotesSection) -> str:
    return sha256(msgspec.json.encode([first_ask(sample, provider).key, votes.model_dump()])).hexdigest()


def score_of(entry: ScoringEntry, votes: VotesSection) -> Score:
    return Score(
        id=entry.sample,
        key=entry.key,
        provider=entry.provider,
        model=entry.model,
        live=entry.live,
        overall=entry.overall,
        scores=entry.scores,
        variance=entry.variance,
        votes=entry.votes,
        stable=entry.stable,
        weight=0.0 if entry.variance is None else training_weight(entry.variance, votes.variance_max),
        failure=entry.failure,
        scoring=entry.scoring,
        at=entry.at,
    )


class ScoreFile:
    """`lines` is what the file holds, by sample. Several processes may add to one file."""

    def __init__(self, path: Path, pool: set[str]) -> None:
        self.path, self._pool = path, pool
        with explain_disk_errors(path, RUN_AGAIN):
            path.parent.mkdir(parents=True, exist_ok=True)
        with explain_disk_errors(path, RUN_AGAIN), write_lock(path):
            self.lines = self._read()
        self._ours: set[str] = set()

    def note(self, score: Score) -> None:
        """To be written when all are done."""
        self.lines[score.id] = score
        self._ours.add(score.id)

    def add(self, score: Score) -> None:
        """Written at once."""
        self.note(score)
        with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path):
            _append(self.path, msgspec.json.encode(score) + b"\n")

    def forget(self, names: set[str]) -> None:
        """Takes lines out at once. What another process has put in their place since they were read stays."""
        old = {name: line for name in names if (line := self.lines.get(name))}
        if old:
            with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path):
                self.lines = {name: line for name, line in self._read().items() if line != old.get(name)}
                _write(self.path, list(self.lines.values()))

    def finish(self, order: Iterable[str]) -> Path:
        """Writes the file in that order, and the unstable samples beside it. The second path is returned.

        What another process has added meanwhile stays.
        """
        with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path):
            self.lines = self._read() | {name: self.lines[name] for name in self._ours}
            lines = [self.lines[name] for name in order if name in self.lines]
            _write(self.path, lines)
            unstable = unstable_beside(self.path)
            _write(unstable, [line for line in lines if line.overall is not None and not line.stable])
        return unstable

    def _read(self) -> dict[str, Score]:
        *whole, end = self.path.read_bytes().split(b"\n") if self.path.exists() else [b""]
        torn = _is_torn(end)
        decoder = msgspec.json.Decoder(Score)
        raw = whole if torn else [*whole, end]
        found = [decode(decoder, line, f"{self.path}:{number}") for number, line in enumerate(raw, start=1) if line]
        if strange := next((score.id for score in found if score.id not in self._pool), None):
            raise BadInput(
                f"holds the sample {strange!r}, which is not in this pool",
                where=str(self.path),
                remedy="choose another --out, or give the pool that it belongs to",
            )
        if torn:
            os.truncate(self.path, sum(len(line) + 1 for line in whole))
        elif end:
            _append(self.path, b"\n")
        return {score.id: score for score in found}


def unstable_beside(out: Path) -> Path:
    """Two files `NAME.scores.jsonl` in one folder have a list each.

    >>> unstable_beside(Path("a/scores.jsonl")).name, unstable_beside(Path("a/shadow.scores.jsonl")).name
    ('unstable_samples.jsonl', 'shadow.unstable_samples.jsonl')
    """
    if out.name.endswith(OWN_SCORES) and out.name != OWN_SCORES:
        return out.with_name(f"{out.name.removesuffix(OWN_SCORES)}.{UNSTABLE}")
    return out.with_name(UNSTABLE)


def _write(path: Path, lines: list[Score]) -> None:
    with atomic_write(path) as handle:
        write_records(handle, lines)


def _append(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        while data:  # a disk that is nearly full takes a part
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def _is_torn(end: bytes) -> bool:
    """What a crash leaves of a line of ours. Anything else at that path belongs to somebody and is not cut off.

    >>> [_is_torn(end) for end in (b"", b'{"id', b'{"id":"a","ke', b'{"id":"a","task":"gs', b'{"id":"a","key":"b"}')]
    [False, True, True, False, False]
    """
    if not end:
        return False
    start, _, rest = end.partition(b'","')
    ours = start.startswith(_FIRST) or _FIRST.startswith(start)
    if not ours or rest[: len(_SECOND)] != _SECOND[: len(rest)]:
        return False
    try:
        msgspec.json.decode(end)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True
    return False
