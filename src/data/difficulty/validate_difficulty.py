"""Stage `validate_difficulty`: is the balanced pool as hard as it was asked to be, overall and in every task?

Neither file is trusted. The levels are measured again from the balanced samples; metrics that differ from what their
samples give, or from what their sidecar says, fail a check. Every line of the balanced pool must be in the measured
pool, byte for byte, and the tasks must keep their mix.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from math import isnan
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from askgate_env.types import ALL_TASKS, LEVELS, Level, Sample, Task

from ...config.profile import DifficultyThresholds
from ...core.check import Check, Report, Rule, check, evidence, now, remedies, report, require_share
from ...core.errors import BadInput
from ...core.files import refuse_overlap, sha256_file, sidecar
from ...core.jsonl import read_lines, read_records
from ...runtime.workers import Workers
from ..pool.meta import PoolMeta, parent_of, read_meta, verify_sha256
from ..pool.source import NATURAL_SOURCES
from ..quality.consistency import mix_checks
from .metrics import DifficultyRecord, LevelCounts, level_counts, measured

HARD_OVERLAP_MAX = 0.20
EASY_OVERLAP_MIN = 0.40
"""Fixed bounds of the median clue overlap; the other two bounds are flags."""

METRICS = tuple(field.name for field in msgspec.structs.fields(DifficultyRecord) if field.type in (int, float))
_values_of = attrgetter(*METRICS)
QUANTILES = {"p10": 0.10, "p50": 0.50, "p90": 0.90}
MAX_BINS = 20
_BIN_WIDTHS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000)
CLUE_OVERLAP_BIN = 0.05


class MetricColumns:
    """Metrics of many records, by task and level, as arrays: a million records stay under a hundred megabytes."""

    def __init__(self) -> None:
        self.cells: defaultdict[tuple[Task, Level], array[float]] = defaultdict(lambda: array("d"))
        self.flags: Counter[str] = Counter()
        self.clarify = 0

    def add(self, record: DifficultyRecord) -> None:
        self.cells[record.task, record.level].extend(_values_of(record))
        self.flags.update(record.ambiguity_flags)
        self.clarify += record.needs_clarification

    def values(self, metric: str, task: Task | None = None, level: Level | None = None) -> NDArray[np.float64]:
        """All values of a metric, of one task or one level if named."""
        parts = [
            np.frombuffer(cell).reshape(-1, len(METRICS))[:, METRICS.index(metric)]
            for (cell_task, cell_level), cell in self.cells.items()
            if task in (None, cell_task) and level in (None, cell_level)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def median(self, metric: str, task: Task | None, level: Level) -> float:
        """NaN for an empty bucket, which passes no check."""
        found = self.values(metric, task, level)
        return float(np.median(found)) if found.size else float("nan")

    def share(self, level: Level, task: Task | None) -> float:
        whole = self.values("score", task).size
        return self.values("score", task, level).size / whole if whole else float("nan")

    def count_over(self, metric: str, limit: float, task: Task | None) -> int:
        """Number of samples with a value over the limit."""
        return int((self.values(metric, task) > limit).sum())

    def counts(self) -> LevelCounts:
        return level_counts(Counter({cell: len(values) // len(METRICS) for cell, values in self.cells.items()}))


def validate_difficulty(
    metrics: Path,
    balanced: Path,
    limits: DifficultyThresholds,
    outputs: Mapping[str, Path] | None = None,
    workers: Workers | None = None,
) -> Report:
    """The report on a balanced pool. It is not written here: `outputs` are the files that the caller will write, by
    flag, and one that would overwrite an input is refused."""
    started = now()
    for flag in ("min_hard_pct", "max_easy_pct", "clue_overlap_max_easy", "clue_overlap_min_hard"):
        require_share(getattr(limits, flag), f"--{flag.replace('_', '-')}")
    metrics_meta = read_meta(metrics)
    parent = _common_parent(metrics, metrics_meta, balanced)
    inputs = {"--metrics": metrics, "--balanced": balanced, "the measured pool": parent}
    refuse_overlap(outputs or {}, inputs)
    chosen, fingerprints, copies = _measure_again(balanced, workers)
    pool, mismatches = _compare(metrics, balanced, fingerprints)
    edited = int(sha256_file(metrics) != metrics_meta.sha256)

    present = {task for columns in (pool, chosen) for task, _ in columns.cells}
    scopes: list[Task | None] = [None, *(task for task in ALL_TASKS if task in present)]
    is_natural = read_meta(parent).source in NATURAL_SOURCES
    checks = [item for scope in scopes for item in _scope_checks(chosen, limits, scope, is_natural)]
    sizes = {task: sum(levels.values()) for task, levels in chosen.counts().items()}
    checks += mix_checks(sizes, read_meta(parent).mix)
    checks.append(_check("copied_unchanged", _count_not_in(parent, balanced), "==", 0))
    checks.append(_check("copies", copies, "==", 0))
    checks.append(_check("metrics_match", mismatches, "==", 0))
    checks.append(_check("metrics_edited", edited, "==", 0))

    edges = _common_edges(pool, chosen)
    figures = {"pool": _figures(pool, edges), "balanced": _figures(chosen, edges), "limits": limits.model_dump()}
    read = [one for path in inputs.values() for one in (path, sidecar(path))]
    return report("validate_difficulty", checks, figures, evidence(read, [], limits.model_dump(), started))


def _check(name: str, value: float, rule: Rule, threshold: float, task: Task | None = None, remedy: str = "") -> Check:
    full = f"{name}[{task}]" if task else name
    return check(full, value, rule, threshold, *remedies("difficulty")[remedy or name])


def _scope_checks(
    columns: MetricColumns, limits: DifficultyThresholds, task: Task | None, is_natural: bool
) -> list[Check]:
    """The checks that hold overall (`task` None) and in every task. `is_natural`: people worded the questions, so no
    flag of the builder changes their difficulty."""
    scope = f"[{task}]" if task else ""
    hard_overlap = columns.median("clue_overlap", task, "hard")
    easy_overlap = columns.median("clue_overlap", task, "easy")
    more_hard = remedies("difficulty")[f"more_hard_{task}" if task else "more_hard"]
    then_balance = remedies("difficulty")["then_balance"]
    remedy = (more_hard[0] + then_balance[0], more_hard[1] + then_balance[1])
    if is_natural:
        remedy = remedies("difficulty")["natural_share"]

    def overlap(name: str, value: float, rule: Rule, threshold: float) -> Check:
        other_remedy = "empty_bucket" if isnan(value) else "natural_overlap" if is_natural else ""
        return _check(name, value, rule, threshold, task, other_remedy)

    maximums = (("len_tokens", limits.len_max), ("turns", limits.turns_max), ("tool_hops", limits.tool_hops_max))
    return [
        check(f"hard_share{scope}", columns.share("hard", task), ">=", limits.min_hard_pct, *remedy),
        check(f"easy_share{scope}", columns.share("easy", task), "<=", limits.max_easy_pct, *remedy),
        overlap("clue_overlap_hard_max", hard_overlap, "<=", HARD_OVERLAP_MAX),
        overlap("clue_overlap_hard_min", hard_overlap, ">=", limits.clue_overlap_min_hard),
        overlap("clue_overlap_easy_min", easy_overlap, ">=", EASY_OVERLAP_MIN),
        overlap("clue_overlap_easy_max", easy_overlap, "<=", limits.clue_overlap_max_easy),
        *(
            _check(f"{metric}_past_limit", columns.count_over(metric, limit, task), "==", 0, task)
            for metric, limit in maximums
        ),
    ]


def _common_parent(metrics: Path, metrics_meta: PoolMeta, balanced: Path) -> Path:
    """The pool that both files come from. Figures of one pool say nothing about samples of another."""
    balanced_meta = read_meta(balanced)
    verify_sha256(balanced, balanced_meta, Sample)
    if balanced_meta.parent_sha256 != metrics_meta.parent_sha256:
        remedy = "make both files from the same pool: difficulty-metrics, then difficulty-bucketize"
        raise BadInput(f"does not come from the pool that {metrics.name} measures", where=str(balanced), remedy=remedy)
    return parent_of(metrics, metrics_meta)


def _count_not_in(pool: Path, balanced: Path) -> int:
    """Number of balanced lines that are not in the pool. A line holds its id, so an equal line is the same sample."""
    lines = [_fingerprint(line) for _, line in read_lines(balanced)]
    missing = set(lines)
    for _, line in read_lines(pool):
        missing.discard(_fingerprint(line))
    return sum(line in missing for line in lines)


def _fingerprint(line: bytes) -> bytes:
    return blake2b(line.removesuffix(b"\n"), digest_size=16).digest()


def _measure_again(balanced: Path, workers: Workers | None) -> tuple[MetricColumns, dict[str, int], int]:
    """The balanced samples measured again: their columns, a fingerprint of each record by id, and how many repeat."""
    columns, fingerprints, copies = MetricColumns(), dict[str, int](), 0
    for record in measured(balanced, workers):
        columns.add(record)
        copies += record.id in fingerprints
        fingerprints[record.id] = hash(record)
    return columns, fingerprints, copies


def _compare(metrics: Path, balanced: Path, fingerprints: dict[str, int]) -> tuple[MetricColumns, int]:
    """The whole pool's columns, and how many balanced samples have other metrics in the metrics file."""
    columns, missing, mismatches = MetricColumns(), set(fingerprints), 0
    for record in read_records(metrics, DifficultyRecord):
        columns.add(record)
        if record.id in fingerprints:
            missing.discard(record.id)
            mismatches += hash(record) != fingerprints[record.id]
    if missing:
        what = f"{len(missing)} samples are not in {metrics.name}, among them {min(missing)!r}"
        remedy = "make both files from the same pool: difficulty-metrics, then difficulty-bucketize"
        raise BadInput(what, where=str(balanced), remedy=remedy)
    return columns, mismatches


def _figures(columns: MetricColumns, edges: dict[str, list[float]]) -> dict[str, Any]:
    counts = columns.counts()
    scopes: dict[str, tuple[Task | None, Level | None]] = {"all": (None, None)}
    scopes |= {task: (task, None) for task in counts}
    scopes |= {level: (None, level) for level in LEVELS}
    scopes |= {f"{task}/{level}": (task, level) for task in counts for level in LEVELS}
    return {
        "n": sum(sum(levels.values()) for levels in counts.values()),
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
                "counts": {
                    level: np.histogram(columns.values(metric, None, level), edges[metric])[0].tolist()
                    for level in LEVELS
                },
            }
            for metric in METRICS
        },
        "ambiguity_flags": dict(sorted(columns.flags.items())),
    }


def _common_edges(*sets: MetricColumns) -> dict[str, list[float]]:
    """Edges of histogram bins of a round width that cover all sets, so that their histograms can be compared."""
    edges: dict[str, list[float]] = {}
    for metric in METRICS:
        values = np.concatenate([columns.values(metric) for columns in sets])
        top = float(values.max()) if values.size else 0.0
        if metric == "clue_overlap":
            bins = min(int(top / CLUE_OVERLAP_BIN + 1e-9) + 2, 21)
            edges[metric] = [round(CLUE_OVERLAP_BIN * place, 2) for place in range(bins)]
        else:
            widest = _BIN_WIDTHS[-1] * int(top // (_BIN_WIDTHS[-1] * MAX_BINS) + 1)
            width = next((width for width in _BIN_WIDTHS if top < width * MAX_BINS), widest)
            edges[metric] = [float(width * place) for place in range(int(top // width) + 2)]
    return edges


def _quantiles(values: NDArray[np.float64]) -> dict[str, float]:
    found = np.quantile(values, list(QUANTILES.values()))
    return {name: round(float(value), 4) for name, value in zip(QUANTILES, found, strict=True)}
