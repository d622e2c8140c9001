"""Two sets of episodes on the samples that both have: what changed in figures, and on which samples.

Where a set has several episodes of a sample, their mean counts. Intervals are those of the mean of the differences
sample by sample; they take nothing into account but the draw of the samples.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from math import sqrt

from ..eval.metrics import Z95

PAGE = 50
MEASURES = {
    "success": ("Success", "成功率", "success", "1", True),
    "need_ask_success": ("Need-ask success", "需问类成功率", "success AND told", "needs = 1", True),
    "overclar_rate": ("Over-clarification", "过度澄清率", "asks > 0", "needs = 0", True),
    "turns": ("Mean turns", "平均轮次", "turns", "1", False),
}
"""Titles; what is averaged; over which samples; whether it is a share."""
KINDS = {
    "": ("every sample", "全部样本", "1"),
    "gained": ("wrong, then right", "由错变对", "a.ok < 0.5 AND b.ok >= 0.5"),
    "lost": ("right, then wrong", "由对变错", "a.ok >= 0.5 AND b.ok < 0.5"),
    "asking": ("asks otherwise", "提问行为不同", "(a.asks > 0) <> (b.asks > 0)"),
    "wrong": ("wrong in both", "两边都错", "a.ok < 0.5 AND b.ok < 0.5"),
    "right": ("right in both", "两边都对", "a.ok >= 0.5 AND b.ok >= 0.5"),
}


@dataclass(frozen=True)
class Moved:
    """A figure of both, and the difference with its 95% interval."""

    n: int
    before: float | None
    after: float | None
    delta: float | None
    reach: float | None


def compared(store: sqlite3.Connection, schema: str, before: str, after: str) -> dict[str, Moved]:
    """`schema`: where the second set lies: `main`, or `other` for another run's index."""
    return {name: _moved(store, schema, before, after, what, of) for name, (_, _, what, of, _) in MEASURES.items()}


def _moved(store: sqlite3.Connection, schema: str, before: str, after: str, what: str, of: str) -> Moved:
    row = store.execute(
        f"WITH a AS (SELECT sample, avg({what}) AS v FROM main.episodes WHERE set_path=? AND {of} GROUP BY sample), "
        f"b AS (SELECT sample, avg({what}) AS v FROM {schema}.episodes WHERE set_path=? AND {of} GROUP BY sample) "
        "SELECT count(*), avg(a.v), avg(b.v), avg((b.v - a.v) * (b.v - a.v)) FROM a JOIN b USING(sample)",
        (before, after),
    ).fetchone()
    n, first, second, square = row
    if not n:
        return Moved(0, None, None, None, None)
    delta = second - first
    spread = max(0.0, square - delta * delta) * n / (n - 1) if n > 1 else None
    return Moved(n, first, second, delta, None if spread is None else Z95 * sqrt(spread / n))


def counts(store: sqlite3.Connection, schema: str, before: str, after: str) -> dict[str, int]:
    """Samples of each kind."""
    tests = ", ".join(f"total({test}) AS n_{name or 'every'}" for name, (_, _, test) in KINDS.items())
    row = store.execute(f"{_PAIRS.format(schema=schema)} SELECT {tests} FROM a JOIN b USING(sample)", (before, after))
    found = row.fetchone()
    return {name: int(found[f"n_{name or 'every'}"]) for name in KINDS}


def pairs(store: sqlite3.Connection, schema: str, before: str, after: str, kind: str, page: int) -> list[sqlite3.Row]:
    test = KINDS.get(kind, KINDS[""])[2]
    return store.execute(
        f"{_PAIRS.format(schema=schema)} SELECT sample, a.task, a.level, a.needs, a.ok AS a_ok, b.ok AS b_ok, "
        "a.asks AS a_asks, b.asks AS b_asks, a.turns AS a_turns, b.turns AS b_turns, a.reward AS a_reward, "
        f"b.reward AS b_reward FROM a JOIN b USING(sample) WHERE {test} ORDER BY sample "
        f"LIMIT {PAGE} OFFSET {PAGE * (page - 1)}",
        (before, after),
    ).fetchall()


_SIDE = (
    "SELECT sample, task, level, needs, avg(success) AS ok, avg(asks) AS asks, avg(turns) AS turns, "
    "avg(reward) AS reward FROM {schema}.episodes WHERE set_path=? GROUP BY sample"
)
_PAIRS = f"WITH a AS ({_SIDE.format(schema='main')}), b AS ({_SIDE})"
