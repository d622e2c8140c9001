"""Stage `validate_difficulty`: is the balanced pool as hard as it was asked to be, overall and in every task?

The levels are derived again from the balanced samples themselves. The metrics file is not trusted: a record that
differs from what its sample gives, or a file that differs from what its sidecar says, fails a check. Nor is the
balanced pool: every line of it must stand in the measured pool, letter for letter, and the tasks must keep their mix.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from ...core.check import Check, Report, check, evidence, now, report, require_share
from ...core.errors import BadInput
from ...core.files import atomic_write, refuse_overlap, sha256_file, sidecar, write_json
from ...core.jsonl import read_lines, read_records
from ...core.types import LEVELS, TASKS, Level, Sample, Task
from ...pages.difficulty import difficulty_page
from ..pool.meta import PoolMeta, described, parent_of, read_meta
from ..quality.consistency import mix_checks
from . import knobs as knobs
from .metrics import DifficultyRecord, measured, table

HARD_OVERLAP_MAX = 0.20
EASY_OVERLAP_MIN = 0.40
"""The owner's fixed bounds for the medians; the other two are flags."""


class Limits(Struct, frozen=True):
    """The flags of the stage: what a balanced pool must keep to."""

    min_hard_pct: float
    max_easy_pct: float
    len_max: int
    turns_max: int
    tool_hops_max: int
    clue_overlap_max_easy: float
    clue_overlap_min_hard: float


def validate_difficulty(
    metrics: Path,
    balanced: Path,
    *,
    min_hard_pct: float,
    max_easy_pct: float,
    len_max: int,
    turns_max: int,
    tool_hops_max: int,
    clue_overlap_max_easy: float,
    clue_overlap_min_hard: float,
    out: Path = Path("reports/rc1/difficulty_report.json"),
) -> Report:
    """Writes the report as JSON and, beside it, as a page to read. The caller decides what a failed one means."""
    started = now()
    limits = Limits(
        min_hard_pct, max_easy_pct, len_max, turns_max, tool_hops_max, clue_overlap_max_easy, clue_overlap_min_hard
    )
    for flag in ("min_hard_pct", "max_easy_pct", "clue_overlap_max_easy", "clue_overlap_min_hard"):
        require_share(asdict(limits)[flag], f"--{flag}")
    page = out.with_suffix(".html")
    metrics_meta = read_meta(metrics)
    parent = _common_parent(metrics, metrics_meta, balanced)
    inputs = {"--metrics": metrics, "--balanced": balanced, "the measured pool": parent}
    refuse_overlap({"the report's page": page, "--out": out}, inputs)
    chosen, derived, copies = _derive(balanced)
    pool, mismatches = _compare(metrics, balanced, derived)
    edited = int(sha256_file(metrics) != metrics_meta.sha256)

    scopes: list[Task | None] = [None, *tasks_of(pool, chosen)]
    checks = [one for scope in scopes for one in scope_checks(chosen, limits, scope)]
    checks += mix_checks(
        {task: sum(levels.values()) for task, levels in chosen.counts().items()}, read_meta(parent).mix
    )
    checks.append(check("copied_unchanged", _not_in(parent, balanced), "==", 0, *knobs.NOT_COPIED))
    checks.append(check("copies", copies, "==", 0, *knobs.NO_COPIES))
    checks.append(check("metrics_match", mismatches, "==", 0, *knobs.MEASURE_AGAIN))
    checks.append(check("metrics_edited", edited, "==", 0, *knobs.MEASURE_AGAIN))

    edges = common_edges(pool, chosen)
    measures: dict[str, Any] = {
        "pool": figures(pool, edges),
        "balanced": figures(chosen, edges),
        "limits": asdict(limits),
    }
    with atomic_write(page) as handle:
        handle.write(difficulty_page(checks, measures, {path.name: sha256_file(path) for path in (metrics, balanced)}))
    read = [one for path in inputs.values() for one in (path, sidecar(path))]
    result = report("validate_difficulty", checks, measures, evidence(read, [page], asdict(limits), started))
    write_json(out, result)
    return result


def scope_checks(columns: Columns, limits: Limits, task: Task | None) -> list[Check]:
    """The checks that hold overall (`task` None) and in every task."""
    scope = f"[{task}]" if task else ""
    hard_overlap = columns.median("clue_overlap", task, "hard")
    easy_overlap = columns.median("clue_overlap", task, "easy")
    more_hard = knobs.then_balance(knobs.more_of("hard", task))
    past: list[tuple[Metric, int, knobs.Remedy]] = [
        ("len_tokens", limits.len_max, knobs.TOO_LONG),
        ("turns", limits.turns_max, knobs.TOO_MANY_TURNS),
        ("tool_hops", limits.tool_hops_max, knobs.TOO_MANY_HOPS),
    ]
    return [
        check(f"hard_share{scope}", columns.share("hard", task), ">=", limits.min_hard_pct, *more_hard),
        check(f"easy_share{scope}", columns.share("easy", task), "<=", limits.max_easy_pct, *more_hard),
        check(f"clue_overlap_hard_max{scope}", hard_overlap, "<=", HARD_OVERLAP_MAX, *knobs.OVERLAP_TOO_HIGH),
        check(
            f"clue_overlap_hard_min{scope}", hard_overlap, ">=", limits.clue_overlap_min_hard, *knobs.OVERLAP_TOO_LOW
        ),
        check(f"clue_overlap_easy_min{scope}", easy_overlap, ">=", EASY_OVERLAP_MIN, *knobs.OVERLAP_TOO_LOW),
        check(
            f"clue_overlap_easy_max{scope}", easy_overlap, "<=", limits.clue_overlap_max_easy, *knobs.OVERLAP_TOO_HIGH
        ),
        *(
            check(f"{metric}_past_limit{scope}", columns.past(metric, limit, task), "==", 0, *remedy)
            for metric, limit, remedy in past
        ),
    ]


def _common_parent(metrics: Path, metrics_meta: PoolMeta, balanced: Path) -> Path:
    """The pool that both files come from. Figures of one pool say nothing about samples of another."""
    balanced_meta = read_meta(balanced)
    described(balanced, balanced_meta, Sample)
    if balanced_meta.parent_sha256 != metrics_meta.parent_sha256:
        raise BadInput(
            f"does not come from the pool that {metrics.name} measures",
            where=str(balanced),
            remedy="make both files from the same pool: difficulty_metrics, then difficulty_bucketize",
        )
    return parent_of(metrics, metrics_meta)


def _not_in(pool: Path, balanced: Path) -> int:
    """How many balanced lines do not stand in the pool. A line holds its id, so an equal line is the same sample."""
    lines = [_fingerprint(line) for _, line in read_lines(balanced)]
    strange = set(lines)
    for _, line in read_lines(pool):
        strange.discard(_fingerprint(line))
    return sum(line in strange for line in lines)


def _fingerprint(line: bytes) -> bytes:
    return blake2b(line.removesuffix(b"\n"), digest_size=16).digest()


def _derive(balanced: Path) -> tuple[Columns, dict[str, int], int]:
    """The balanced samples measured afresh: their columns, a fingerprint of each record by id, and how many repeat."""
    columns, derived, copies = Columns(), dict[str, int](), 0
    for record in measured(balanced):
        columns.add(record)
        copies += record.id in derived
        derived[record.id] = hash(record)
    return columns, derived, copies


def _compare(metrics: Path, balanced: Path, derived: dict[str, int]) -> tuple[Columns, int]:
    """The whole pool's columns, and how many balanced samples the metrics file tells otherwise about."""
    columns, missing, mismatches = Columns(), set(derived), 0
    for record in read_records(metrics, DifficultyRecord):
        columns.add(record)
        if record.id in derived:
            missing.discard(record.id)
            mismatches += hash(record) != derived[record.id]
    if missing:
        raise BadInput(
            f"{len(missing)} samples are not in {metrics.name}, among them {min(missing)!r}",
            where=str(balanced),
            remedy="make both files from the same pool: difficulty_metrics, then difficulty_bucketize",
        )
    return columns, mismatches


# What a set of difficulty records looks like: counts, shares, quantiles, histograms.
#
# Columns of plain numbers, so that a million records stay under a hundred megabytes.


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
