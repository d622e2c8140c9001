"""What live scoring will cost, before it is begun: calls, money and time, by what this judge's calls have come to.

The figures are those of the newest replies in the cache, so they are what was really billed and waited for. A judge
that was never asked is asked about one dialogue first (`one_vote_set`); its votes stay in the cache like any other.
"""

from __future__ import annotations

import json
from statistics import fmean, median

from ..core.errors import BadInput
from ..core.types import Record
from .judge import Judge
from .prompt import PROMPT_VERSION, Dialogue
from .providers import Provider
from .session import Session

NEWEST = 200


class Usual(Record, frozen=True):
    """One call of this judge, as the newest ones were."""

    calls: int
    """How many that is known from."""
    tokens_in: float
    tokens_out: float
    seconds: float


class Forecast(Record, frozen=True):
    """`most` is what it comes to where the votes on every dialogue disagree to the last."""

    dialogues: int
    calls: int
    calls_most: int
    usd: float | None
    """None where the prices are not known."""
    usd_most: float | None
    seconds: float
    seconds_most: float
    known_from: int

    def told(self) -> str:
        """
        >>> Forecast(100, 300, 1100, 0.5, 1.75, 90.0, 400.0, 3).told()
        '100 dialogues, 300 calls (1,100 at most), about $0.50 ($1.75 at most), about 2 min (7 min at most)'
        """
        money = "cost not known" if self.usd is None else f"about {_usd(self.usd)} ({_usd(self.usd_most or 0)} at most)"
        time = f"about {_duration(self.seconds)} ({_duration(self.seconds_most)} at most)"
        return f"{self.dialogues:,} dialogues, {self.calls:,} calls ({self.calls_most:,} at most), {money}, {time}"


def forecast(session: Session, dialogues: int, at_once: int) -> Forecast:
    """`at_once`: calls that can be under way together."""
    usual = usual_call(session)
    votes, provider = session.scoring.votes, session.provider
    calls, most = dialogues * votes.k, dialogues * votes.k_max
    return Forecast(
        dialogues=dialogues,
        calls=calls,
        calls_most=most,
        usd=_cost(provider, usual, calls),
        usd_most=_cost(provider, usual, most),
        seconds=calls * usual.seconds / at_once,
        seconds_most=most * usual.seconds / at_once,
        known_from=usual.calls,
    )


def usual_call(session: Session) -> Usual:
    provider = session.provider
    rows = session.store.read(
        "SELECT reply FROM replies WHERE provider = ? AND model = ? AND prompt_version = ? ORDER BY id DESC LIMIT ?",
        (provider.name, provider.model, PROMPT_VERSION, NEWEST),
    )
    replies = [json.loads(reply) for (reply,) in rows]
    if not replies:
        raise ValueError("a forecast needs at least one reply of this judge")
    return Usual(
        calls=len(replies),
        tokens_in=fmean(reply["tokens_in"] for reply in replies),
        tokens_out=fmean(reply["tokens_out"] for reply in replies),
        seconds=median(reply["latency_ms"] for reply in replies) / 1000,
    )


async def one_vote_set(judge: Judge, dialogue: Dialogue, provider: Provider) -> None:
    """The judge answers, or the run that needs it does not begin."""
    entry = await judge.score(dialogue)
    if entry.failure:
        raise BadInput(
            f"the judge gives no score: {entry.failure}",
            where=provider.name,
            remedy="see that `askgate probe_scorer --live` passes",
        )


def _cost(provider: Provider, usual: Usual, calls: int) -> float | None:
    return provider.cost(round(calls * usual.tokens_in), round(calls * usual.tokens_out))


def _usd(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"


def _duration(seconds: float) -> str:
    """
    >>> _duration(12), _duration(90), _duration(9000)
    ('12 s', '2 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
