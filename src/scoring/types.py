"""Records of live scoring: the request for a vote, the reply, and the ledger entries."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime
from typing import Literal

import msgspec

from askgate_env.types import Lang, Record


class Ask(Record, frozen=True):
    """One vote to ask a judge for: everything that can change the answer, and nothing else."""

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
    """Fingerprint of the whole request except dialogue and vote (`prompt.ask_for`)."""

    @property
    def key(self) -> str:
        """The key of this vote in the cache."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class Reply(Record, frozen=True):
    """A judge's reply as it came. Whether it is a vote is decided later, by `votes.parse_scores`."""

    text: str
    request_id: str
    model: str
    tokens_in: int
    tokens_out: int
    latency_ms: float
    """0 for a reply out of a batch: nobody measured how long that call took."""
    batch: str = ""
    """The provider's id of the batch that brought it; empty for a call of its own."""


LONGEST_TEXT = 500
"""Characters of a text from outside that are written down. A ledger line must not grow past what can be read back."""


def printable(text: str) -> str:
    """A text from outside, fit for a UTF-8 file and a screen: cut, and with control and half characters replaced.

    >>> printable("a\\x1b[2Jb\\ud800")
    'a?[2Jb?'
    """
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in text[:LONGEST_TEXT])


def timestamp(at: float | None = None) -> str:
    """A time in seconds, by default now, as ledger lines have it."""
    return datetime.fromtimestamp(time.time() if at is None else at, UTC).isoformat(timespec="milliseconds")


OWN = "askgate"
"""Stands for the address of the server that AskGate starts itself, on a different port each time."""

Trouble = Literal[
    "rate_limited", "server_error", "unreachable", "timeout", "refused", "not_a_reply", "circuit_open", "bad_reply"
]  # fmt: skip
"""Why there is no vote. `refused` is permanent (wrong key, unknown model); the others may pass."""


class CallFailed(Exception):
    """A call that brought no reply, or a reply that is no vote."""

    request_id = ""
    latency_ms = 0.0

    def __init__(self, trouble: Trouble, detail: str, retry_after: float | None = None) -> None:
        super().__init__(f"{trouble}: {detail}")
        self.trouble, self.detail, self.retry_after = trouble, detail, retry_after


class InCache(Exception):
    """Another process has stored the reply that a call was about to bring."""


class CallEntry(Record, frozen=True, tag_field="kind", tag="call"):
    """A ledger line for one call: paid for, or answered from the cache, or failed."""

    scoring: str
    """Id of the scoring it belongs to."""
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
    """The provider's id of the batch that it was part of; empty for a call of its own."""


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
    """From its creation until it was last seen unfinished, by our clock: it took at least this long. For a
    batch that ended between two runs: its time by the provider's clock, limited by ours."""
    at: str


class RepairEntry(Record, frozen=True, tag_field="kind", tag="repair"):
    """A ledger line that notes what a crash left behind and how it was repaired."""

    note: str
    at: str


Entry = CallEntry | ScoringEntry | BatchEntry | RepairEntry
