"""Two sets of episodes on the samples that both have: base and trained, two steps, two seeds, or two run folders.

Where a set has several episodes of a sample, their mean counts. Intervals are those of the mean of the differences per
sample, so they cover the random choice of the samples and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from markupsafe import Markup

from ..core.types import Episode
from ..eval.metrics import Z95
from .episodes import read_episode, set_choices
from .index import reading
from .query import PAGE_SIZE, whole_number
from .render import render
from .runs import Board, Run

MOST_EPISODES = 4
"""Episodes of one sample that are shown side by side."""
_SIDE = (
    "SELECT sample, task, level, needs, avg(success) AS ok, avg(success AND told) AS told_ok, avg(asks > 0) AS asked, "
    "avg(asks) AS asks, avg(turns) AS turns, avg(reward) AS reward FROM {schema}.episodes WHERE set_path=? "
    "GROUP BY sample"
)
_COLUMNS = ("ok", "told_ok", "asked", "asks", "turns", "reward")
_PAIRS = (
    f"WITH a AS ({_SIDE.format(schema='main')}), b AS ({_SIDE}) SELECT sample, a.task, a.level, a.needs, "
    f"{', '.join(f'{side}.{name} AS {side}_{name}' for side in 'ab' for name in _COLUMNS)} "
    "FROM a JOIN b USING(sample) ORDER BY sample"
)
Query = Mapping[str, str]
Pair = sqlite3.Row
"""The means of both sets' episodes of one sample."""


MEASURES = {
    "success": ("ok", (0, 1)),
    "need_ask_success": ("told_ok", (1,)),
    "overclar_rate": ("asked", (0,)),
    "turns": ("turns", (0, 1)),
}
"""Column of each figure, and the samples that it is measured on: those that need a question (1), or not (0)."""
SAMPLE_GROUPS: dict[str, Callable[[Pair], bool]] = {
    "": lambda pair: True,
    "gained": lambda pair: pair["a_ok"] < 0.5 <= pair["b_ok"],
    "lost": lambda pair: pair["b_ok"] < 0.5 <= pair["a_ok"],
    "asking": lambda pair: (pair["a_asks"] > 0) != (pair["b_asks"] > 0),
    "wrong": lambda pair: max(pair["a_ok"], pair["b_ok"]) < 0.5,
    "right": lambda pair: min(pair["a_ok"], pair["b_ok"]) >= 0.5,
}
"""Samples that the list can be narrowed to."""


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
        return render("compare.html", pairs=None, **context)
    kind, page = query.get("kind", ""), whole_number(query.get("page", ""))
    pairs = read_pairs(a.run.indexer.path, a.set, b.run.indexer.path, b.set)
    groups = {name: list(filter(holds, pairs)) for name, holds in SAMPLE_GROUPS.items()}
    shown = groups.get(kind, pairs)
    rows, last = shown[PAGE_SIZE * (page - 1) : PAGE_SIZE * page], max(1, -(-len(shown) // PAGE_SIZE))
    differences = {name: difference(pairs, name) for name in MEASURES}
    context |= {"differences": differences, "groups": groups, "kind": kind, "rows": rows, "here": page, "last": last}
    return render("compare.html", pairs=pairs, **context)


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


def read_pairs(a: Path, a_set: str, b: Path, b_set: str) -> list[Pair]:
    """The samples that both sets have. `a` and `b` are indexes; two sets of one run are in the same index."""
    with reading(a, b if b != a else None) as store:
        return store.execute(_PAIRS.format(schema="other" if b != a else "main"), (a_set, b_set)).fetchall()


def difference(pairs: Sequence[Pair], measure: str) -> Difference:
    column, needs = MEASURES[measure]
    found = [pair for pair in pairs if pair["needs"] in needs]
    if not found:
        return Difference(0)
    before, after = ([pair[f"{side}_{column}"] for pair in found] for side in "ab")
    deltas = [second - first for first, second in zip(before, after, strict=True)]
    margin = Z95 * stdev(deltas) / sqrt(len(deltas)) if len(deltas) > 1 else None
    return Difference(len(found), fmean(before), fmean(after), fmean(deltas), margin)


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
    return [(row, episode) for row in rows if (episode := read_episode(run, row))]
