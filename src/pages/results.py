"""Results on pages that need no network: `reports/rc1/index.html` of a loop, `reports/ppo_eval_<tag>.html` of an
evaluation of base, control and trained policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..config.profile import Profile
from ..core.files import atomic_write, write_json
from ..core.paths import EVAL_METRICS, METRICS, newest_evaluation
from ..eval.metrics import MEASURES
from ..eval.trial import TrialReport
from ..loop.kpi import KPIS, Kpi, key_files, measure
from ..loop.lights import COMMANDS, Light, lights, next_step
from ..loop.stage import Stage, State, fingerprints
from .render import FIGURES, LABELS, render_page

PAGE = Path("reports/rc1/index.html")
CURVES = ("reward", "success", "kl", "overclar_rate")
EVALUATION_CURVES = ("need_ask_success", "overclar_rate", "success", "avg_turns")
Lines = Sequence[Mapping[str, Any]]
Points = list[tuple[float, float]]
"""Steps and values of one curve."""


def write_results(profile: Profile, stages: Sequence[Stage], state: State) -> list[Light]:
    """Write the KPIs and the results page from the files of the run, and return the lights that the page shows."""
    found = lights(stages, state)
    evaluation = newest_evaluation()
    kpis = measure(profile, evaluation)
    write_json(KPIS, kpis)
    page = results_page(
        profile.name,
        found,
        next_step(found, COMMANDS[profile.name]),
        msgspec.json.decode(evaluation.read_bytes(), type=dict[str, Any]) if evaluation else None,
        log_lines(METRICS),
        log_lines(EVAL_METRICS),
        kpis,
        {path: digest for path, digest in fingerprints(key_files(profile)).items() if digest},
    )
    with atomic_write(PAGE) as file:
        file.write(page)
    return found


def log_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a log. A last line that is still being written is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=dict[str, Any]))
        except msgspec.DecodeError:
            continue
    return found


def results_page(
    profile: str,
    lights: Sequence[Light],
    next_step: tuple[str, str],
    evaluation: Mapping[str, Any] | None,
    metrics: Lines,
    held_out: Lines,
    kpis: Mapping[str, Mapping[str, Kpi]],
    digests: Mapping[str, str],
) -> bytes:
    """`evaluation`: report of base against trained policy. `metrics`, `held_out`: lines of the run's logs."""
    green = sum(light.colour == "green" for light in lights)
    red = any(light.colour == "red" for light in lights)
    return render_page(
        "results.html",
        profile=profile,
        lights=lights,
        green=green,
        colour="red" if red else "green" if lights and green == len(lights) else "grey",
        next=next_step,
        compared=_compared(evaluation or {}),
        series=curve_series(metrics, held_out),
        kpi_groups={group: kpi_rows(found) for group, found in kpis.items()},
        digests=digests,
    )


def _compared(evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of the page. Where there are several seeds, all of them together come first: the gates go by that."""
    seeds = evaluation.get("seeds", ())
    pooled = [evaluation["pooled"]] if len(seeds) > 1 and evaluation.get("pooled") else []
    tables = []
    for one in (*pooled, *seeds):
        if changes := one.get("changes"):
            episodes = changes["success"]["base"]["n"] if "success" in changes else 0
            names = [name for name in FIGURES if name in changes]
            tables.append({"steps": 0, "over_control": None, **one, "names": names, "episodes": episodes})
    return tables


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
