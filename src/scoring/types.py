"""Records of live scoring: the request for a vote, the reply, and the ledger entries."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime
from typing import Literal

import msgspec

from askgate_env.types import Lang, Record


class VoteRequest(Record, frozen=True):
    """A request for one vote: everything that can change the reply, and nothing else. The cache key is its hash."""

    provider: str
    model: str
    prompt_version: str
    dimensions: tuple[str, ...]
    lang: Lang
    text: str
    """The dialogue as the judge sees it. It is data; nothing in it is an instruction."""
    vote: int
    server: str = ""
    """The judge's address, or `OWN`. Two servers whose models share a name are two judges."""
    way: str = ""
    """Fingerprint of the HTTP body except dialogue and vote (`prompt.vote_request`)."""

    @property
    def key(self) -> str:
        """The key of this vote in the cache."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class Reply(Record, frozen=True):
    """A judge's unparsed reply. `votes.parse_scores` decides later whether it is a vote."""

    text: str
    request_id: str
    model: str
    tokens_in: int
    tokens_out: int
    latency_ms: float
    """0 for a reply from a batch, whose calls have no latency of their own."""
    batch: str = ""
    """The provider's id of the batch that brought it; empty for a single call."""


MAX_TEXT = 500
"""Characters that are recorded of a text from outside, so that a ledger line stays short enough to be read back."""


def printable(text: str) -> str:
    """A text from outside, safe for a UTF-8 file and a terminal: cut, control characters and surrogates replaced.

    >>> printable("a\\x1b[2Jb\\ud800")
    'a?[2Jb?'
    """
    return "".join(char if char.isprintable() else " " if char.isspace() else "?" for char in text[:MAX_TEXT])


def timestamp(at: float | None = None) -> str:
    """The ISO 8601 timestamp of a Unix time (default: now), as ledger lines have it."""
    return datetime.fromtimestamp(time.time() if at is None else at, UTC).isoformat(timespec="milliseconds")


OWN = "askgate"
"""Replaces the address of the server that AskGate starts itself, whose port is a different one each time."""

Trouble = Literal[
    "rate_limited", "server_error", "unreachable", "timeout", "refused", "not_a_reply", "circuit_open", "bad_reply"
]  # fmt: skip
"""Reason why there is no vote. `refused` is permanent (wrong key, unknown model); the others may be transient."""


class CallFailed(Exception):
    """Raised for a call that brought no reply, or a reply that is no vote."""

    request_id = ""
    latency_ms = 0.0

    def __init__(self, trouble: Trouble, detail: str, retry_after: float | None = None) -> None:
        super().__init__(f"{trouble}: {detail}")
        self.trouble, self.detail, self.retry_after = trouble, detail, retry_after


class InCache(Exception):
    """Raised instead of a call: another process has stored its reply in the meantime."""


class CallEntry(Record, frozen=True, tag_field="kind", tag="call"):
    """A ledger line for one call: paid for, or answered from the cache, or failed."""

    scoring: str
    """Id of the scoring that the call belongs to."""
    key: str
    request_id: str
    provider: str
    model: str
    prompt_version: str
    billable_tokens: int
    latency_ms: float
    cache_hit: bool
    status: str
    """`ok`, `bad_reply: why`, or `failed: why`."""
    scores: dict[str, float]
    """Empty unless the status is ok."""
    live: bool
    at: str
    server: str = ""
    """Host and port that were called, or `OWN`. The provider's name alone proves nothing."""
    batch: str = ""
    """The provider's id of the batch that it was part of; empty for a single call."""


class ScoringEntry(Record, frozen=True, tag_field="kind", tag="scoring"):
    """A ledger line for one scoring: the set of votes on one sample."""

    scoring: str
    sample: str
    provider: str
    model: str
    votes: int
    overall: float | None
    """None if a vote is missing: a failed scoring has no score."""
    scores: dict[str, float]
    variance: float | None
    stable: bool
    cache_hits: int
    billable_tokens: int
    live: bool
    failure: str
    at: str
    key: str = ""
    """Hash of everything that can change the scores (`scores.score_key`)."""


class BatchEntry(Record, frozen=True, tag_field="kind", tag="batch"):
    """A ledger line for a batch of calls that has ended."""

    batch: str
    provider: str
    server: str
    requests: int
    replies: int
    status: str
    seconds: float
    """Time from its creation until it was last seen unfinished, by our clock: it took at least this long. For a batch
    that ended between two runs: its time by the provider's clock, limited by ours."""
    at: str


class RepairEntry(Record, frozen=True, tag_field="kind", tag="repair"):
    """A ledger line that notes what a crash left behind and how it was repaired."""

    note: str
    at: str


Entry = CallEntry | ScoringEntry | BatchEntry | RepairEntry
