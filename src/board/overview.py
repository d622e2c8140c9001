"""The first page of the board, the pages of its lights, and the list of training runs.

The first page has the result, the log of what runs, the lights, curves and KPIs; the browser reloads each part by
itself. The page of a light has every check, and the files that it was measured on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import fmean

from markupsafe import Markup

from ..config.profile import Thresholds
from ..config.schema import dotted
from ..core.paths import EFFECTIVE_CONFIG, LOGS, RUNS, TRAIN_LOG, all_runs, certified_id, evaluations
from ..loop.runner import typed
from ..pages.rc1_report import RC1_PAGE
from ..pages.render import LABELS
from ..pages.results import kpi_rows
from ..runtime.secrets import masker
from ..training.run_list import effective_config, list_runs
from .owner_lights import LIGHT_GATES
from .render import linked_text, render
from .run_files import OutsideRunFolder, is_inside, open_inside
from .runs import HELD_OUT, Board, Curves

FIRST_VIEW_SECONDS, OUTDATED_SECONDS = 0.4, 5.0
"""Time that the page waits for measurements. Before the first one it is short: the parts follow when they are measured.
Later it is long, because the page cannot tell that a value is outdated."""
EVIDENCE_SECONDS = 30.0
"""Time that the page of a light waits for the first measurement: it has nothing else to show."""
HOME_FIGURES = ("need_ask_success", "overclar_rate", "success")
RUNNING_SECONDS = 120.0  # a log that changed within this time belongs to a running process
TAIL_LINES, TAIL_BYTES = 12, 16 * 1024
UNSET = "–"  # in the config diff: the run does not have the setting
REPORTS = ("reports/rc1/*.html", "reports/*.html", "reports/review/*.html")


def overview(board: Board) -> Markup:
    board.refresh(FIRST_VIEW_SECONDS if board.loop.value is None else OUTDATED_SECONDS)
    return render("overview.html", parts={name: part(board) for name, part in PARTS.items()})


def result_part(board: Board) -> Markup:
    """The headline, and what training changed."""
    trial, signed = board.result.get() or (None, {})
    lights = [light for one in board.rounds.get() or () for light in one.lights]
    _, stages = board.loop.get() or (None, [])
    return render(
        "result.html",
        name=board.names[0],
        trial=trial,
        signed=signed,
        error=board.result.error,
        colours=[one.colour for one in lights],
        unsigned=[name for one in lights for name in one.unsigned],
        stages=stages,
        figures=HOME_FIGURES,
        run=certified_id(),
        report=RC1_PAGE.as_posix() if is_inside(board.run("").root, RC1_PAGE.as_posix()) else "",
    )


def tail_part(board: Board) -> Markup:
    """The last lines of the log that is being written; empty if nothing runs."""
    root = board.run("").root
    # A stage also writes other logs, such as that of its judge's server.
    for path in (*_by_time(root / LOGS / "stages"), *_by_time(root / LOGS)):
        name = path.relative_to(root).as_posix()
        try:
            with open_inside(root, name) as handle:
                found = os.fstat(handle.fileno())
                if not found.st_size or time.time() - found.st_mtime > RUNNING_SECONDS:
                    continue
                handle.seek(max(0, found.st_size - TAIL_BYTES))
                lines = handle.read().decode("utf-8", errors="replace").splitlines()
        except OutsideRunFolder:
            continue
        shown = lines[1 if found.st_size > TAIL_BYTES else 0 :][-TAIL_LINES:]
        return render("tail.html", path=name, lines=[masker(os.environ)(line) for line in shown])
    return Markup("")


def _by_time(folder: Path) -> list[Path]:
    """Logs in a folder, the last changed one first."""

    def changed(path: Path) -> float:
        with suppress(OSError):
            return path.stat().st_mtime
        return 0.0

    return sorted(folder.glob("*.log"), key=changed, reverse=True)


def lights_part(board: Board) -> Markup:
    rounds, root = board.rounds.get(), board.run("").root
    profile_loop, lights = board.loop.get() or (None, [])
    return render(
        "lights.html",
        rounds=rounds,
        rounds_error=board.rounds.error,
        profile_loop=profile_loop,
        lights=lights,
        loop_error=board.loop.error,
        linked_text=partial(linked_text, readable=partial(is_inside, root)),
        reports=[file.relative_to(root).as_posix() for pattern in REPORTS for file in sorted(root.glob(pattern))],
    )


def curves_part(board: Board) -> Markup:
    """Curves of the run that the result is about, and of the newest run if that is another one."""
    shown = []
    for name, curves in board.run("").curves().items():
        curves.metrics.read_new()
        curves.held_out.read_new()
        series = {
            figure: (curves.metrics.series(figure), curves.held_out.series(HELD_OUT.get(figure, figure)))
            for figure in LABELS["curves"]
        }
        shown.append((name, curves.metrics.last, series, curve_limits(curves, board.thresholds.get())))
    return render("curves.html", shown=shown)


def curve_limits(run: Curves, limits: Thresholds | None) -> dict[str, float]:
    """Thresholds of the gates after training that belong to a curve, computed from the base (step 0) of the run."""
    found: dict[str, float] = {}
    if limits is None:
        return found
    small, factor = limits.overclar_small, 1 + limits.overclar_change_pct_max / 100
    rules: dict[str, Callable[[float], float]] = {
        "need_ask_success": lambda base: base + limits.need_ask_pp_min / 100,
        "overclar_rate": lambda base: small if base < small else base * factor,  # as `eval.compare.overclar_check`
        "turns": lambda base: base + limits.turns_change_max,
    }
    for name, rule in rules.items():
        bases = [
            series[0][1] for series in run.held_out.series(HELD_OUT.get(name, name)) if series and not series[0][0]
        ]
        if bases:
            found[name] = rule(fmean(bases))
    return found


def kpis_part(board: Board) -> Markup:
    kpis = board.kpis.get()
    groups = {group: kpi_rows(kpis[group]) for group in LABELS["kpi_groups"]} if kpis else {}
    at = time.strftime("%H:%M:%S", time.localtime(board.kpis.at))
    return render("kpis.html", groups=groups, error=board.kpis.error, at=at)


PARTS = {"result": result_part, "tail": tail_part, "lights": lights_part, "curves": curves_part, "kpis": kpis_part}
"""Parts of the first page."""


def light_page(board: Board, query: Mapping[str, str]) -> Markup | None:
    """The page of one of the owner's lights: its checks and their evidence."""
    every = [light for one in board.rounds.get(EVIDENCE_SECONDS) or () for light in one.lights]
    wanted = query.get("round"), query.get("of")
    light = next((one for one in every if (str(one.round), one.name) == wanted), None)
    if light is None:
        return None
    readable = partial(is_inside, board.run("").root)
    return render("light.html", light=light, names=list(LIGHT_GATES), readable=readable)


def stage_page(board: Board, query: Mapping[str, str]) -> Markup | None:
    """The page of a stage of the loop: its command, and the files that it read and wrote."""
    name = query.get("name", "")
    loop, lights = board.loop.get(EVIDENCE_SECONDS) or (None, [])
    light = next((one for one in lights if one.stage == name), None)
    if loop is None or light is None:
        return None
    stage = next(one for one in loop.stages if one.name == name)
    entry = loop.state.entries.get(name)
    return render(
        "stage.html",
        light=light,
        command=typed(stage),
        entry=entry,
        inputs=entry.inputs if entry else dict.fromkeys(map(str, stage.inputs)),
        outputs=entry.outputs if entry else dict.fromkeys(map(str, stage.outputs)),
        readable=partial(is_inside, board.run("").root),
    )


def runs_page(board: Board, query: Mapping[str, str]) -> Markup:
    """All training runs, newest first, and a config diff: by default of the two newest."""
    root, runs = board.run("").root, list_runs()
    known = [one.id for one in runs]
    newest = (known[1], known[0]) if len(known) > 1 else ("", "")
    a, b = (
        query.get(side) if query.get(side) in known else default for side, default in zip("ab", newest, strict=True)
    )
    files = {}
    for run in all_runs():
        wanted = (run / EFFECTIVE_CONFIG, run / TRAIN_LOG, *evaluations(run))
        files[run.name] = [name for one in wanted if is_inside(root, name := one.as_posix())]
    different = config_differences(a, b) if a and b and a != b else []
    names = {one.id: f"{one.name} ({one.id})" if one.name else one.id for one in runs}
    return render("runs.html", runs=runs, files=files, names=names, a=a, b=b, different=different)


def config_differences(a: str, b: str) -> list[tuple[str, str, str]]:
    """Settings in which two runs differ, by name in dots; a dash where a run does not have the setting."""
    one, other = (dict(dotted(effective_config(RUNS / run))) for run in (a, b))
    rows = ((key, str(one.get(key, UNSET)), str(other.get(key, UNSET))) for key in sorted({*one, *other}))
    return [row for row in rows if row[1] != row[2]]
