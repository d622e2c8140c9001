"""The actions of `scorecache-cli`: counts, invalidation, and asking again for votes that had bad replies."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..core.errors import BadInput
from ..core.types import Record
from .judge import Session
from .prompt import ask_for
from .store import Store, Stored, from_row
from .types import Ask

_COLUMN = {"provider": "provider = ?", "model": "model = ?", "prompt_version": "prompt_version = ?"}
_AGE = re.compile(r"(\d{1,6})([mhd])")
_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86400.0}
_EXAMPLE = "write it like provider=deepseek_r1,prompt_version=judge-1,older_than=7d (m, h or d)"
_PAGE = 500


class Group(Record, frozen=True):
    provider: str
    model: str
    prompt_version: str
    rows: int


class Stat(Record, frozen=True):
    """Counts of the cache. `bad`: unexpired replies that are no votes; `owed`: replies without a ledger line yet."""

    rows: int
    groups: tuple[Group, ...]
    expired: int
    bad: int
    owed: int
    bytes: int


class Bad(Record, frozen=True):
    """A reply that is no vote. `mended`: a later reply to the same ask is one, so nothing needs to be asked again."""

    stored: Stored
    mended: bool


def stat(store: Store) -> Stat:
    rows, expired, owed = store.read(
        "SELECT count(*), coalesce(sum(at <= ?), 0), coalesce(sum(NOT ledgered), 0) FROM replies WHERE NOT dropped",
        (store.now() - store.ttl,),
    )[0]
    groups = store.read(
        "SELECT provider, model, prompt_version, count(*) FROM replies WHERE NOT dropped"
        " GROUP BY provider, model, prompt_version ORDER BY provider, model, prompt_version"
    )
    files = (store.path, store.path.with_name(store.path.name + "-wal"))
    return Stat(
        rows=rows,
        groups=tuple(Group(*group) for group in groups),
        expired=expired,
        bad=sum(1 for _ in bad(store)),
        owed=owed,
        bytes=sum(file.stat().st_size for file in files if file.exists()),
    )


def bad(store: Store) -> Iterator[Bad]:
    """Unexpired bad replies, oldest first. They stay stored: a better parser may yet read them."""
    for stored in _unexpired(store):
        if stored.why_bad:
            yield Bad(stored, mended=store.get(stored.ask) is not None)


def invalidate(store: Store, spec: str) -> int:
    """Removes the replies that the spec names and returns their number.

    A reply without a ledger line is hidden at once and removed when it has its line.
    """
    where, values = _condition(spec, store.now())
    with store.writing("FULL") as connection:
        gone = connection.execute(f"DELETE FROM replies WHERE {where} AND ledgered AND NOT dropped", values).rowcount
        hidden = connection.execute(f"UPDATE replies SET dropped = 1 WHERE {where} AND NOT dropped", values).rowcount
    return gone + hidden


class Replay(Record, frozen=True):
    """Result of `replay_bad`, counted by ask."""

    bad: int
    mended: int
    """Asks that have a vote since; nothing to do."""
    other_judge: int
    """Asks for another provider, model, server or prompt than today's. Nobody else is asked instead."""
    asked: int
    votes: int
    failures: dict[str, int]


def replay_bad(session: Session) -> Replay:
    """Asks again for every vote that has only bad replies.

    A reply that today's parser can read needs no call: the cache parses on every read.
    """
    mended = {one.stored.ask.key: one.mended for one in bad(session.store)}
    waiting = {one.stored.ask.key: one.stored.ask for one in bad(session.store) if not one.mended}
    ours = [ask for ask in waiting.values() if _is_current(ask, session)]
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


def _is_current(ask: Ask, session: Session) -> bool:
    return ask == ask_for(session.provider, ask.lang, ask.text, ask.vote)


def _unexpired(store: Store) -> Iterator[Stored]:
    """Page by page, so that a large cache does not have to fit into memory."""
    last, oldest = 0, store.now() - store.ttl
    while rows := store.read(
        "SELECT id, ask, reply, scoring, at FROM replies WHERE id > ? AND at > ? AND NOT dropped ORDER BY id LIMIT ?",
        (last, oldest, _PAGE),
    ):
        yield from map(from_row, rows)
        last = rows[-1][0]


def _condition(spec: str, now: float) -> tuple[str, tuple[Any, ...]]:
    """The spec as SQL: every part must hold."""
    parts: dict[str, tuple[str, str | float]] = {}
    for part in spec.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in parts:
            raise _bad_spec(f"{name} is named twice", spec)
        if not value:
            raise _bad_spec(f"{name or 'the spec'} has no value", spec)
        if name in _COLUMN:
            parts[name] = (_COLUMN[name], value)
        elif name == "older_than":
            if not (age := _AGE.fullmatch(value)):
                raise _bad_spec(f"older_than={value} is no age", spec)
            parts[name] = ("at <= ?", now - int(age[1]) * _SECONDS[age[2]])
        else:
            raise _bad_spec(f"no field is called {name}", spec)
    return " AND ".join(sql for sql, _ in parts.values()), tuple(value for _, value in parts.values())


def _bad_spec(what: str, spec: str) -> BadInput:
    return BadInput(what, where=f"--spec {spec}", remedy=_EXAMPLE)
