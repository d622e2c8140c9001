"""The file of scores: one line per sample, appended when its scoring ends, put in the pool's order at the end.

A crash leaves complete lines and at most one torn line, which is cut off; its votes are in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec

from askgate_env.types import Record

from ..config.judge_config import VotesSection
from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import decode, decode_or_none, write_records
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock
from .prompt import Dialogue, dialogue_text, vote_request
from .providers import Provider
from .types import ScoringEntry, VoteRequest
from .votes import training_weight

UNSTABLE = "unstable_samples.jsonl"
OWN_SCORES = ".scores.jsonl"
_FIRST, _SECOND = b'{"id":"', b'key":"'
"""The first two keys of a score line, as they are written."""


class Score(Record, frozen=True):
    """The score of one sample: a line of the file. Without a successful live scoring it has no scores and weight 0."""

    id: str
    key: str
    """Hash of everything that can change the scores: judge, prompt, dialogue, vote settings."""
    provider: str
    model: str
    live: bool
    overall: float | None = None
    scores: dict[str, float] = msgspec.field(default_factory=dict)
    variance: float | None = None
    votes: int = 0
    stable: bool = False
    weight: float = 0.0
    """Weight of the sample in training and calibration."""
    failure: str = ""
    scoring: str = ""
    at: str = ""


def first_request(sample: Dialogue, provider: Provider) -> VoteRequest:
    """The request for the first vote. A judge that never got it was never asked about this dialogue."""
    return vote_request(provider, sample.lang, dialogue_text(sample), vote=0)


def score_key(sample: Dialogue, provider: Provider, votes: VotesSection) -> str:
    """Hash of everything that can change the scores: judge, prompt, dialogue, vote settings."""
    return sha256(msgspec.json.encode([first_request(sample, provider).key, votes.model_dump()])).hexdigest()


def score_of(entry: ScoringEntry, votes: VotesSection) -> Score:
    """The score line of a ledger entry: the fields that both have, and the weight."""
    shared = {name: getattr(entry, name) for name in Score.__struct_fields__ if hasattr(entry, name)}
    weight = 0.0 if entry.variance is None else training_weight(entry.variance, votes.variance_max)
    return Score(id=entry.sample, weight=weight, **shared)


class ScoreFile:
    """A score file; `lines` are its scores by sample id. Several processes may add to one file."""

    def __init__(self, path: Path, pool: set[str]) -> None:
        self.path, self._pool = path, pool
        with explain_disk_errors(path, RUN_AGAIN):
            path.parent.mkdir(parents=True, exist_ok=True)
        with explain_disk_errors(path, RUN_AGAIN), write_lock(path):
            self.lines = self._read()
        self._ours: set[str] = set()

    def note(self, score: Score) -> None:
        """Keeps a score to be written by `finish`."""
        self.lines[score.id] = score
        self._ours.add(score.id)

    def add(self, score: Score) -> None:
        """Keeps a score and appends it to the file at once."""
        self.note(score)
        with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path):
            _append(self.path, msgspec.json.encode(score) + b"\n")

    def forget(self, names: set[str]) -> None:
        """Removes lines at once. Lines that another process has replaced since they were read stay."""
        old = {name: line for name in names if (line := self.lines.get(name))}
        if old:
            with explain_disk_errors(self.path, RUN_AGAIN), write_lock(self.path):
                self.lines = {name: line for name, line in self._read().items() if line != old.get(name)}
                _write(self.path, list(self.lines.values()))

    def finish(self, order: Iterable[str]) -> Path:
        """Writes the file in that order and the unstable samples beside it, and returns the second path.

        Lines that another process has added meanwhile stay.
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
        scores = [decode(decoder, line, f"{self.path}:{number}") for number, line in enumerate(raw, start=1) if line]
        if unknown := next((score.id for score in scores if score.id not in self._pool), None):
            raise BadInput(
                f"holds the sample {unknown!r}, which is not in this pool",
                where=str(self.path),
                remedy="choose another --out, or give the pool that it belongs to",
            )
        if torn:
            os.truncate(self.path, sum(len(line) + 1 for line in whole))
        elif end:
            _append(self.path, b"\n")
        return {score.id: score for score in scores}


def unstable_beside(out: Path) -> Path:
    """The list of unstable samples beside a score file. Each `NAME.scores.jsonl` has its own list.

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
    with open(path, "ab") as file:
        file.write(data)


def _is_torn(end: bytes) -> bool:
    """Whether these bytes are the start of a score line, left by a crash. Other content is the user's and is kept.

    >>> [_is_torn(end) for end in (b"", b'{"id', b'{"id":"a","ke', b'{"id":"a","task":"gs', b'{"id":"a","key":"b"}')]
    [False, True, True, False, False]
    """
    if not end:
        return False
    start, _, rest = end.partition(b'","')
    ours = start.startswith(_FIRST) or _FIRST.startswith(start)
    if not ours or rest[: len(_SECOND)] != _SECOND[: len(rest)]:
        return False
    return decode_or_none(msgspec.json.Decoder(dict), end) is None
