"""The difficulty report as a page: one file, no network, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.check import Check
from ..core.types import LEVELS, TASKS
from ..data.difficulty import metrics as bounds
from .render import LABELS, NOT_MEASURED, RULES, number, render_page

# Where medium begins and where hard begins: the dashed lines of the histograms.
BUCKET_BOUNDS: dict[str, tuple[float, float]] = {
    "len_tokens": (bounds.LEN_TOKENS[0] + 1, bounds.LEN_TOKENS[1] + 1),
    "turns": (bounds.TURNS[0] + 1, bounds.TURNS[1] + 1),
    "tool_hops": (bounds.TOOL_HOPS[0] + 1, bounds.TOOL_HOPS[1] + 1),
    "ops_numeric": (bounds.OPS_NUMERIC[0] + 1, bounds.OPS_NUMERIC[1] + 1),
    "entities": (bounds.ENTITIES[0] + 1, bounds.ENTITIES[1] + 1),
    "connector_density": bounds.CONNECTOR_DENSITY_MEDIUM,
    "clue_overlap": bounds.CLUE_OVERLAP_MEDIUM,
    "score": (bounds.EASY_MAX_SCORE + 1, bounds.HARD_MIN_SCORE),
}
Figures = Mapping[str, Any]


def difficulty_page(checks: Sequence[Check], figures: Figures, inputs: Mapping[str, str]) -> bytes:
    """`figures`: measures of the seed pool and of the balanced pool. `inputs`: checksums of the files read."""
    failed = [one for one in checks if not one.passed]
    balanced, shares = figures["balanced"], figures["balanced"]["shares"]["all"]
    scopes = ["", *(task for task in TASKS if any(one.name.endswith(f"[{task}]") for one in checks))]
    flags = {which: figures[which]["ambiguity_flags"] for which in ("pool", "balanced")}
    return render_page(
        "difficulty.html",
        tiles=[
            ("Samples in the pool", "种子池样本", number(figures["pool"]["n"])),
            ("Samples balanced", "平衡后样本", number(balanced["n"])),
            ("Hard, balanced", "困难占比", _percent(shares["hard"])),
            ("Easy, balanced", "简单占比", _percent(shares["easy"])),
            ("Checks passed", "通过的检查", f"{len(checks) - len(failed)} / {len(checks)}"),
        ],
        scopes=scopes,
        checks=_check_rows(checks, scopes, figures["limits"]),
        remedies=_remedies(failed),
        buckets=bucket_rows(figures, always=True),
        histograms=histograms(figures, LABELS["difficulty_metrics"]),
        quantiles={level: balanced["quantiles"][level] for level in LEVELS if level in balanced["quantiles"]},
        flags=[
            (name, *(f"{of_pool.get(name, 0):,}" for of_pool in flags.values()))
            for name in sorted({*flags["pool"], *flags["balanced"]})
        ],
        inputs=inputs,
    )


def histograms(figures: Figures, metrics: Sequence[str] | Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Arguments of `svg.histograms`, after the label, by metric."""
    by_metric = {}
    for metric in metrics:
        balanced, pool = (figures[which]["histograms"][metric] for which in ("balanced", "pool"))
        by_metric[metric] = (balanced["edges"], balanced["counts"], pool["counts"], BUCKET_BOUNDS.get(metric, ()))
    return by_metric


def bucket_rows(figures: Figures, always: bool = False) -> list[tuple[str, str, str, dict[str, int]]]:
    """Task, which pool (English and Chinese) and its counts by level. `always`: both pools of a task that one has."""
    rows: list[tuple[str, str, str, dict[str, int]]] = []
    counts = {which: figures[which]["counts"] for which in ("pool", "balanced")}
    for task in TASKS:
        for which, chinese in (("pool", "种子池"), ("balanced", "平衡后")):
            if task in counts[which] or (always and any(task in one for one in counts.values())):
                found = counts[which].get(task, {})
                rows.append((task, which, chinese, {level: found.get(level, 0) for level in LEVELS}))
    return rows


def _percent(share: float) -> str:
    return NOT_MEASURED if share != share else f"{share:.1%}"


def _check_rows(checks: Sequence[Check], scopes: Sequence[str], limits: Mapping[str, float]) -> list[tuple[Any, ...]]:
    """One row per check, one cell per scope: label, limit, cells."""
    by_name: dict[str, dict[str, Check]] = {}
    for one in checks:
        name, _, scope = one.name.partition("[")
        by_name.setdefault(name, {})[scope.rstrip("]")] = one
    rows = []
    for name, by_scope in by_name.items():
        english, chinese = LABELS["difficulty_checks"][name]
        first = next(iter(by_scope.values()))
        cells = [
            {"passed": cell.passed, "value": _value(name, cell.value)} if (cell := by_scope.get(scope)) else None
            for scope in scopes
        ]
        rows.append(
            ((english.format(**limits), chinese), f"{RULES[first.rule]} {_value(name, first.threshold)}", cells)
        )
    return rows


def _value(name: str, value: float | None) -> str:
    """Enough digits to tell a value just past its threshold from the threshold."""
    if value is None:
        return NOT_MEASURED
    if name.endswith("_share"):
        return f"{value:.2%}"
    return f"{value:.3f}" if name.startswith("clue_overlap") or name == "mix" else f"{value:,.0f}"


def _remedies(failed: Sequence[Check]) -> list[tuple[Check, list[str]]]:
    """Each remedy once, with the names of the checks that ask for it."""
    by_remedy: dict[str, tuple[Check, list[str]]] = {}
    for one in failed:
        by_remedy.setdefault(one.remedy, (one, []))[1].append(one.name)
    return list(by_remedy.values())
