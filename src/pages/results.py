"""The page of an evaluation of base, control and trained policy (`reports/ppo_eval_<tag>.html`), and the curves and KPI
rows that it shares with other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..core.jsonl import decode_or_none
from ..eval.metrics import MEASURES
from ..eval.trial import TrialReport
from ..loop.kpi import Kpi
from .render import FIGURES, LABELS, render_page

CURVES = ("reward", "success", "kl", "overclar_rate")
EVALUATION_CURVES = ("need_ask_success", "overclar_rate", "success", "avg_turns")
Lines = Sequence[Mapping[str, Any]]
Points = list[tuple[float, float]]  # steps and values of one curve


def log_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a log. A last line that is still being written is left out."""
    if not path.exists():
        return []
    decoder = msgspec.json.Decoder(dict[str, Any])
    found = (decode_or_none(decoder, line) for line in path.read_bytes().splitlines())
    return [line for line in found if line is not None]


class KpiRow(NamedTuple):
    """A row of the KPI table: one KPI, or that of base and trained policy."""

    name: str
    label: tuple[str, str]
    kpis: list[Kpi]

    @property
    def source(self) -> str:
        return self.kpis[-1].source


def kpi_rows(kpis: Mapping[str, Kpi]) -> list[KpiRow]:
    """Rows in the order of the KPIs; base and trained policy share a row."""
    by_name: dict[str, list[Kpi]] = {}
    for name, kpi in kpis.items():
        stem, _, side = name.rpartition("_")
        both = side in ("base", "trained") and f"{stem}_base" in kpis and f"{stem}_trained" in kpis
        by_name.setdefault(stem if both else name, []).append(kpi)
    labels = {**FIGURES, **LABELS["kpis"]}
    return [KpiRow(name, labels.get(name, (name, "")), found) for name, found in by_name.items()]


def curve_series(metrics: Lines, held_out: Lines) -> dict[str, tuple[list[Points], list[Points]]]:
    """By name of the figure: the training curves and the held-out curves, one of each per seed."""
    return {name: (series_by_seed(metrics, name), series_by_seed(held_out, name)) for name in CURVES}


def series_by_seed(lines: Lines, name: str) -> list[Points]:
    by_seed: dict[Any, Points] = {}
    for line in lines:
        value = line.get(name)
        if isinstance(value, int | float) and isfinite(value):
            by_seed.setdefault(line["seed"], []).append((float(line["step"]), float(value)))
    return list(by_seed.values())


def trial_page(report: TrialReport, held_out: Lines) -> bytes:
    """The page of an evaluation. `held_out`: lines of `logs/eval.jsonl`, each a point of the curves."""
    seeds = {one.seed for one in report.seeds}
    of_run = [line for line in held_out if line["seed"] in seeds]
    return render_page(
        "trial.html",
        report=report,
        held_out={name: series_by_seed(of_run, name) for name in EVALUATION_CURVES},
        digests={**report.evidence.inputs, **({"ticket": report.ticket} if report.ticket else {})},
        measures=MEASURES,
    )
