"""Two sets of episodes on the samples that both have: base and trained, two steps, two seeds, or two run folders.

Where a set has several episodes of a sample, their mean counts. Intervals are those of the mean of the differences per
sample, so they cover the random choice of the samples and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import sqrt
from typing import NamedTuple

from markupsafe import Markup

from ..core.types import Episode
from ..eval.metrics import Z95
from .episodes import raw_line, set_choices
from .index import parse_line, reading
from .query import PAGE_SIZE, whole_number
from .render import render
from .runs import Board, Run

MOST_EPISODES = 4
"""Episodes of one sample that are shown side by side."""
MEASURES = {
    "success": ("Success", "成功率", "success", "1", True),
    "need_ask_success": ("Need-ask success", "需问类成功率", "success AND told", "needs = 1", True),
    "overclar_rate": ("Over-clarification", "过度澄清率", "asks > 0", "needs = 0", True),
    "turns": ("Mean turns", "平均轮次", "turns", "1", False),
}
"""Labels; what is averaged; over which samples; whether it is a share."""
SAMPLE_GROUPS = {
    "": ("every sample", "全部样本", "1"),
    "gained": ("wrong, then right", "由错变对", "a.ok < 0.5 AND b.ok >= 0.5"),
    "lost": ("right, then wrong", "由对变错", "a.ok >= 0.5 AND b.ok < 0.5"),
    "asking": ("asks otherwise", "提问行为不同", "(a.asks > 0) <> (b.asks > 0)"),
    "wrong": ("wrong in both", "两边都错", "a.ok < 0.5 AND b.ok < 0.5"),
    "right": ("right in both", "两边都对", "a.ok >= 0.5 AND b.ok >= 0.5"),
}
"""Labels and condition of the samples that a list can be narrowed to."""
_SIDE = (
    "SELECT sample, task, level, needs, avg(success) AS ok, avg(asks) AS asks, avg(turns) AS turns, "
    "avg(reward) AS reward FROM {schema}.episodes WHERE set_path=? GROUP BY sample"
)
_PAIRS = f"WITH a AS ({_SIDE.format(schema='main')}), b AS ({_SIDE})"
Query = Mapping[str, str]


class Difference(NamedTuple):
    """A figure of both sets, and the difference with half the width of its 95% interval."""

    n: int
    before: float | None = None
    after: float | None = None
    delta: float | None = None
    margin: float | None = None


class _Side:
    """`RUN:PATH`, as written in an address."""

    def __init__(self, board: Board, text: str) -> None:
        name, _, self.set = text.partition(":")
        self.text = text
        self.run: Run | None = board.runs.get(name)


def compare_page(board: Board, query: Query) -> Markup:
    choices = _choices(board)
    first, second = _default(choices)
    a, b = _Side(board, query.get("a") or first), _Side(board, query.get("b") or second)
    context = {"choices": choices, "labels_of": dict(choices), "a": a, "b": b}
    if a.run is None or b.run is None:
        return render("compare.html", differences=None, **context)
    kind, page = query.get("kind", ""), whole_number(query.get("page", ""))
    with _both(a.run, b.run) as (store, schema):
        differences = compare_sets(store, schema, a.set, b.set)
        counts = count_groups(store, schema, a.set, b.set)
        rows = _pairs(store, schema, a.set, b.set, kind, page)
    last = max(1, -(-counts.get(kind, 0) // PAGE_SIZE))
    context |= {"kinds": SAMPLE_GROUPS, "kind": kind, "counts": counts, "rows": rows, "here": page, "last": last}
    return render("compare.html", differences=differences, measures=MEASURES, **context)


def _choices(board: Board) -> list[tuple[str, str]]:
    choices = []
    for name, run in board.runs.items():
        run.index.get()
        prefix = f"{name}: " if len(board.runs) > 1 else ""
        with reading(run.indexer.path) as store:
            choices += [(f"{name}:{path}", prefix + label) for path, label in set_choices(store)]
    return choices


def _default(choices: list[tuple[str, str]]) -> tuple[str, str]:
    """The base and the last step of the first evaluation; with two runs the last steps of both."""
    held = [value for value, _ in choices if "/eval/" in value and "/before_" not in value and "control" not in value]
    values = held or [value for value, _ in choices] or [""]
    first_run = [value for value in values if value.split(":")[0] == values[0].split(":")[0]]
    others = [value for value in values if value not in first_run]
    return (first_run[-1], others[-1]) if others else (first_run[0], first_run[-1])


@contextmanager
def _both(a: Run, b: Run) -> Iterator[tuple[sqlite3.Connection, str]]:
    """A connection to both indexes, and the schema of the second: `main`, or `other` for another run's index."""
    other = b.indexer.path if b is not a else None
    with reading(a.indexer.path, other) as store:
        yield store, "other" if other else "main"


def compare_sets(store: sqlite3.Connection, schema: str, before: str, after: str) -> dict[str, Difference]:
    return {
        name: _difference(store, schema, before, after, what, where)
        for name, (_, _, what, where, _) in MEASURES.items()
    }


def _difference(store: sqlite3.Connection, schema: str, before: str, after: str, what: str, where: str) -> Difference:
    n, first, second, square = store.execute(
        f"WITH a AS (SELECT sample, avg({what}) AS v FROM main.episodes WHERE set_path=? AND {where} GROUP BY sample), "
        f"b AS (SELECT sample, avg({what}) AS v FROM {schema}.episodes WHERE set_path=? AND {where} GROUP BY sample) "
        "SELECT count(*), avg(a.v), avg(b.v), avg((b.v - a.v) * (b.v - a.v)) FROM a JOIN b USING(sample)",
        (before, after),
    ).fetchone()
    if not n:
        return Difference(0)
    delta = second - first
    variance = max(0.0, square - delta * delta) * n / (n - 1) if n > 1 else None
    return Difference(n, first, second, delta, None if variance is None else Z95 * sqrt(variance / n))


def count_groups(store: sqlite3.Connection, schema: str, before: str, after: str) -> dict[str, int]:
    """Samples in each group."""
    sums = ", ".join(f"total({condition})" for _, _, condition in SAMPLE_GROUPS.values())
    row = store.execute(f"{_PAIRS.format(schema=schema)} SELECT {sums} FROM a JOIN b USING(sample)", (before, after))
    return {name: int(count) for name, count in zip(SAMPLE_GROUPS, row.fetchone(), strict=True)}


def _pairs(store: sqlite3.Connection, schema: str, before: str, after: str, kind: str, page: int) -> list[sqlite3.Row]:
    condition = SAMPLE_GROUPS.get(kind, SAMPLE_GROUPS[""])[2]
    return store.execute(
        f"{_PAIRS.format(schema=schema)} SELECT sample, a.task, a.level, a.needs, a.ok AS a_ok, b.ok AS b_ok, "
        "a.asks AS a_asks, b.asks AS b_asks, a.turns AS a_turns, b.turns AS b_turns, a.reward AS a_reward, "
        f"b.reward AS b_reward FROM a JOIN b USING(sample) WHERE {condition} ORDER BY sample "
        f"LIMIT {PAGE_SIZE} OFFSET {PAGE_SIZE * (page - 1)}",
        (before, after),
    ).fetchall()


def pair_page(board: Board, query: Query) -> Markup | None:
    """Both sides' episodes of one sample."""
    sample = query.get("sample", "")
    sides = {letter: _Side(board, query.get(letter, "")) for letter in ("a", "b")}
    episodes = {}
    for letter, side in sides.items():
        if side.run is None:
            return None
        episodes[letter] = _episodes(side.run, side.set, sample)
    return render("pair.html", sample=sample, sides=sides, episodes=episodes)


def _episodes(run: Run, set_path: str, sample: str) -> list[tuple[sqlite3.Row, Episode]]:
    with reading(run.indexer.path) as store:
        rows = store.execute(
            "SELECT e.*, f.path FROM episodes e JOIN files f ON f.id = e.file WHERE e.set_path = ? AND e.sample = ? "
            "ORDER BY e.id DESC LIMIT ?",
            (set_path, sample, MOST_EPISODES),
        ).fetchall()
    return [(row, found[1]) for row in rows if (found := parse_line(raw_line(run.root, row)))]
