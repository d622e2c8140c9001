"""The difficulty report as a page: one file, no network, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from askgate_env.types import LEVELS, TASKS

from ..core.check import Check, Report
from ..core.files import atomic_files, json_bytes
from ..data.difficulty import metrics as bounds
from .render import render_page

# Where medium begins and where hard begins: the dashed lines of the histograms.
BUCKET_BOUNDS: dict[str, tuple[float, float]] = {
    **{name: (easy + 1, medium + 1) for name, (easy, medium) in bounds.RISING.items()},
    "connector_density": bounds.CONNECTOR_DENSITY_MEDIUM,
    "clue_overlap": bounds.CLUE_OVERLAP_MEDIUM,
    "score": (bounds.EASY_MAX_SCORE + 1, bounds.HARD_MIN_SCORE),
}


def write_difficulty(report: Report, inputs: Sequence[Path], page: Path, out: Path) -> Report:
    """Writes the report and its page, both or neither. Returns the report with the page in its evidence."""
    content = _difficulty_page(report, {path.name: report.evidence.inputs[str(path)] for path in inputs})
    report = replace(report, evidence=replace(report.evidence, outputs={str(page): sha256(content).hexdigest()}))
    with atomic_files() as start:
        start(page).write(content)
        start(out).write(json_bytes(report))
    return report


def _difficulty_page(report: Report, inputs: Mapping[str, str]) -> bytes:
    by_name: dict[str, dict[str, Check]] = {}
    for one in report.checks:
        name, _, scope = one.name.partition("[")
        by_name.setdefault(name, {})[scope.rstrip("]")] = one
    scopes = ["", *(task for task in TASKS if any(task in by_scope for by_scope in by_name.values()))]
    return render_page(
        "difficulty.html",
        checks=report.checks,
        by_name=by_name,
        scopes=scopes,
        figures=report.figures,
        buckets=bucket_rows(report.figures, always=True),
        bounds=BUCKET_BOUNDS,
        inputs=inputs,
    )


def bucket_rows(figures: Mapping[str, Any], always: bool = False) -> list[tuple[str, str, str, dict[str, int]]]:
    """Task, which pool (English and Chinese) and its counts by level. `always`: both pools of a task that one has."""
    rows: list[tuple[str, str, str, dict[str, int]]] = []
    counts = {which: figures[which]["counts"] for which in ("pool", "balanced")}
    for task in TASKS:
        for which, chinese in (("pool", "样本池"), ("balanced", "平衡后")):
            if task in counts[which] or (always and any(task in one for one in counts.values())):
                found = counts[which].get(task, {})
                rows.append((task, which, chinese, {level: found.get(level, 0) for level in LEVELS}))
    return rows
