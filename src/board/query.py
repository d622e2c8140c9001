"""Filters of the episode browser. All of them stand in the address, so a link shows to others what it shows to you."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlencode

from ..core.types import LEVELS, TASKS
from .search import match

PAGE = 50
ORDERS = {
    "": ("as logged", "原顺序", "e.id"),
    "newest": ("newest first", "最新在前", "e.id DESC"),
    "reward": ("lowest reward", "奖励最低", "e.reward, e.id"),
    "variance": ("highest variance", "方差最高", "e.variance IS NULL, e.variance DESC, e.id"),
    "turns": ("most turns", "轮次最多", "e.turns DESC, e.id"),
    "asks": ("most questions", "提问最多", "e.asks DESC, e.id"),
}
WHOLE = {"task": TASKS, "level": LEVELS, "lang": ("en", "zh")}
YES_NO = {"asked": "e.asks > 0", "success": "e.success = 1", "needs": "e.needs = 1"}
DIGITS = 12
SEARCHED = "words w CROSS JOIN episodes e ON e.id = w.rowid"


@dataclass(frozen=True)
class Filter:
    """Empty: whatever it is. `yes` or `no` for questions; numbers as they were typed."""

    q: str = ""
    set: str = ""
    task: str = ""
    level: str = ""
    lang: str = ""
    asked: str = ""
    needs: str = ""
    success: str = ""
    variance: str = ""
    """At least so much."""
    step: str = ""
    sample: str = ""
    order: str = ""
    page: str = ""

    @property
    def start(self) -> int:
        return PAGE * (self.number - 1)

    @property
    def number(self) -> int:
        """Of the page, from 1."""
        return max(1, int(self.page)) if _whole(self.page) else 1

    @property
    def whole_files(self) -> bool:
        """Whether it takes all episodes of a file or none: then the sums of the files are enough."""
        return self == Filter(set=self.set, step=self.step, order=self.order, page=self.page)

    def address(self, run: str, **other: str) -> str:
        """The query of a link; what is empty is left out."""
        named = {"run": run, **asdict(self), **other}
        return urlencode({name: value for name, value in named.items() if value})


def asked_for(query: Mapping[str, str]) -> Filter:
    return Filter(**{field.name: query.get(field.name, "").strip()[:500] for field in fields(Filter)})


def listed(store: sqlite3.Connection, wanted: Filter) -> list[sqlite3.Row]:
    source, where, values = _condition(store, wanted)
    order = ORDERS.get(wanted.order, ORDERS[""])[2]
    if source == SEARCHED:
        # Matches come in this order by themselves, and the first page needs no more than itself.
        order = order.replace("e.id", "w.rowid")
    found = store.execute(
        f"SELECT e.*, f.path FROM {source} JOIN files f ON f.id = e.file WHERE {where} ORDER BY {order} "
        f"LIMIT {PAGE} OFFSET {wanted.start}",
        values,
    )
    return found.fetchall()


def counted(store: sqlite3.Connection, wanted: Filter) -> sqlite3.Row:
    """How many there are, how many succeeded and how many asked, and their mean reward."""
    source, where, values = _condition(store, wanted)
    sums = "count(*) AS n, total(e.success) AS success, total(e.asks > 0) AS asked, avg(e.reward) AS reward"
    if wanted.whole_files:
        source = "files e"
        sums = (
            "total(e.episodes) AS n, total(e.successes) AS success, total(e.asked) AS asked, "
            "sum(e.reward) / sum(e.episodes) AS reward"
        )
    row: sqlite3.Row = store.execute(f"SELECT {sums} FROM {source} WHERE {where}", values).fetchone()
    return row


def _condition(store: sqlite3.Connection, wanted: Filter) -> tuple[str, str, list[Any]]:
    """Tables, condition and its values. Only what is known here becomes SQL; what was typed is a value."""
    source, tests, values = "episodes e", ["1"], list[Any]()
    given = asdict(wanted)
    for name, known in WHOLE.items():
        if given[name] in known:
            tests.append(f"e.{name} = ?")
            values.append(given[name])
    for name, test in YES_NO.items():
        if given[name] in ("yes", "no"):
            tests.append(test if given[name] == "yes" else f"NOT ({test})")
    for name, column in (("set", "set_path"), ("sample", "sample")):
        if given[name]:
            tests.append(f"e.{column} = ?")
            values.append(given[name])
    if _whole(wanted.step):
        tests.append("e.step = ?")
        values.append(int(wanted.step))
    least = number(wanted.variance)
    if least is not None:
        tests.append("e.variance >= ?")
        values.append(least)
    said = match(store, wanted.q)
    if said is not None:
        source = SEARCHED
        tests.append("words MATCH ?")
        values.append(said)
    return source, " AND ".join(tests), values


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS
