"""What `scorecache-cli` shows and does: counts, invalidation, and the replies that are no votes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..core.errors import BadInput
from ..core.types import Record
from .store import Store, Stored, from_row

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
    """`bad` counts replies that have not expired and are no votes; `owed` those without a ledger line yet."""

    rows: int
    groups: tuple[Group, ...]
    expired: int
    bad: int
    owed: int
    bytes: int


class Bad(Record, frozen=True):
    """`mended` where a later reply to the same ask is a vote: nothing needs to be asked again."""

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
    """Oldest first. The replies stay stored: a better parser may yet read them."""
    for stored in _unexpired(store):
        if stored.why_bad:
            yield Bad(stored, mended=store.get(stored.ask) is not None)


def invalidate(store: Store, spec: str) -> int:
    """Removes what the spec names and says how many replies that were.

    A reply that is still owed a ledger line is hidden at once and removed when it has its line.
    """
    where, values = _condition(spec, store.now())
    with store.writing("FULL") as connection:
        gone = connection.execute(f"DELETE FROM replies WHERE {where} AND ledgered AND NOT dropped", values).rowcount
        hidden = connection.execute(f"UPDATE replies SET dropped = 1 WHERE {where} AND NOT dropped", values).rowcount
    return gone + hidden


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
