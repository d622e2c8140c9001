"""What a set of difficulty records looks like: counts, shares, quantiles, histograms.

Columns of plain numbers, so that a million records stay under a hundred megabytes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...core.types import LEVELS, TASKS, Level, Task
from .measure import table
from .metrics import DifficultyRecord

Metric = Literal[
    "len_tokens",
    "turns",
    "tool_hops",
    "entities",
    "ops_numeric",
    "connector_density",
    "coref_pronouns",
    "clue_overlap",
    "score",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
QUANTILES = {"p10": 0.10, "p50": 0.50, "p90": 0.90}
MAX_BINS = 20
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000)
CLUE_OVERLAP_STEP = 0.05


class Columns:
    """The numbers of many records, by task and bucket."""

    def __init__(self) -> None:
        self.columns: dict[tuple[Task, Level], dict[Metric, array[float]]] = {}
        self.flags: Counter[str] = Counter()
        self.clarify = 0

    def add(self, record: DifficultyRecord) -> None:
        cell = self.columns.get((record.task, record.level))
        if cell is None:
            cell = self.columns[record.task, record.level] = {metric: array("d") for metric in METRICS}
        cell["len_tokens"].append(record.len_tokens)
        cell["turns"].append(record.turns)
        cell["tool_hops"].append(record.tool_hops)
        cell["entities"].append(record.entities)
        cell["ops_numeric"].append(record.ops_numeric)
        cell["connector_density"].append(record.connector_density)
        cell["coref_pronouns"].append(record.coref_pronouns)
        cell["clue_overlap"].append(record.clue_overlap)
        cell["score"].append(record.score)
        self.flags.update(record.ambiguity_flags)
        self.clarify += record.needs_clarification

    def values(self, metric: Metric, task: Task | None = None, level: Level | None = None) -> NDArray[np.float64]:
        """All values of a metric, within a task or a bucket if one is named."""
        parts = [
            np.frombuffer(cell[metric])
            for (cell_task, cell_level), cell in self.columns.items()
            if task in (None, cell_task) and level in (None, cell_level)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def median(self, metric: Metric, task: Task | None, level: Level) -> float:
        """NaN for an empty bucket, which passes no check."""
        found = self.values(metric, task, level)
        return float(np.median(found)) if found.size else float("nan")

    def share(self, level: Level, task: Task | None) -> float:
        whole = self.values("score", task).size
        return self.values("score", task, level).size / whole if whole else float("nan")

    def past(self, metric: Metric, limit: float, task: Task | None) -> int:
        return int((self.values(metric, task) > limit).sum())

    def counts(self) -> dict[Task, dict[Level, int]]:
        return table(Counter({cell: len(columns["score"]) for cell, columns in self.columns.items()}))


def figures(columns: Columns, edges: dict[Metric, list[float]]) -> dict[str, Any]:
    counts = columns.counts()
    n = sum(sum(levels.values()) for levels in counts.values())
    scopes: dict[str, tuple[Task | None, Level | None]] = {"all": (None, None)}
    scopes |= {task: (task, None) for task in counts}
    scopes |= {level: (None, level) for level in LEVELS}
    scopes |= {f"{task}/{level}": (task, level) for task in counts for level in LEVELS}
    return {
        "n": n,
        "needs_clarification": columns.clarify,
        "counts": counts,
        "shares": {
            scope: {level: columns.share(level, task) for level in LEVELS}
            for scope, task in [("all", None), *((task, task) for task in counts)]
        },
        "quantiles": {
            scope: {metric: _quantiles(columns.values(metric, task, level)) for metric in METRICS}
            for scope, (task, level) in scopes.items()
            if columns.values("score", task, level).size
        },
        "histograms": {
            metric: {
                "edges": edges[metric],
                "counts": {level: _histogram(columns.values(metric, None, level), edges[metric]) for level in LEVELS},
            }
            for metric in METRICS
        },
        "ambiguity_flags": dict(sorted(columns.flags.items())),
    }


def common_edges(*sets: Columns) -> dict[Metric, list[float]]:
    """Bins of a round width that hold every set, so that their histograms compare."""
    edges: dict[Metric, list[float]] = {}
    for metric in METRICS:
        values = np.concatenate([columns.values(metric) for columns in sets])
        top = float(values.max()) if values.size else 0.0
        edges[metric] = _overlap_edges(top) if metric == "clue_overlap" else _edges(top)
    return edges


def tasks_of(*sets: Columns) -> list[Task]:
    present = {task for columns in sets for task, _ in columns.columns}
    return [task for task in TASKS if task in present]


def _edges(top: float) -> list[float]:
    step = next(
        (step for step in _STEPS if top < step * MAX_BINS), _STEPS[-1] * int(top // (_STEPS[-1] * MAX_BINS) + 1)
    )
    return [float(step * place) for place in range(int(top // step) + 2)]


def _overlap_edges(top: float) -> list[float]:
    """0.05 wide up to the highest value, never past 1."""
    return [round(CLUE_OVERLAP_STEP * place, 2) for place in range(min(int(top / CLUE_OVERLAP_STEP + 1e-9) + 2, 21))]


def _histogram(values: NDArray[np.float64], edges: Sequence[float]) -> list[int]:
    return [int(count) for count in np.histogram(values, bins=np.asarray(edges))[0]]


def _quantiles(values: NDArray[np.float64]) -> dict[str, float]:
    found = np.quantile(values, list(QUANTILES.values()))
    return {name: round(float(value), 4) for name, value in zip(QUANTILES, found, strict=True)}
