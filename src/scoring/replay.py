"""Replies that are no votes, looked at once more: parsed by today's parser, and asked for again where that fails."""

from __future__ import annotations

import asyncio
from collections import Counter

from ..core.types import Record
from .session import Session
from .types import Ask
from .upkeep import bad
from .wire import ask_for


class Replay(Record, frozen=True):
    """Of the stored replies that today's parser refuses, counted by ask."""

    bad: int
    mended: int
    """A vote has been had since; nothing to do."""
    other_judge: int
    """Asked of another provider, model or server than today's, or in another way. Nobody is asked in their stead."""
    asked: int
    votes: int
    failures: dict[str, int]


def replay_bad(session: Session) -> Replay:
    """A reply that today's parser does read is a vote again without any call: the cache parses whenever it is read."""
    mended = {one.stored.ask.key: one.mended for one in bad(session.store)}
    waiting = {one.stored.ask.key: one.stored.ask for one in bad(session.store) if not one.mended}
    ours = [ask for ask in waiting.values() if _is_todays(ask, session)]
    outcomes = asyncio.run(_ask_again(session, ours))
    failures = [outcome.partition(":")[0] for outcome in outcomes if outcome]
    return Replay(
        bad=len(mended),
        mended=sum(mended.values()),
        other_judge=len(waiting) - len(ours),
        asked=len(ours),
        votes=len(ours) - len(failures),
        failures=dict(Counter(failures)),
    )


async def _ask_again(session: Session, asks: list[Ask]) -> list[str]:
    async with session.client() as client:
        judge = session.judge(client, session.scoring.votes)
        return await asyncio.gather(*(judge.vote_again(ask) for ask in asks))


def _is_todays(ask: Ask, session: Session) -> bool:
    return ask == ask_for(session.provider, ask.lang, ask.text, ask.vote)
