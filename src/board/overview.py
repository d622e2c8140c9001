"""The first page, whose parts renew themselves: the owner's lights of both rounds, the loop, curves and KPIs; and the
pages behind its lights, with every check and the files that it was measured on."""

from __future__ import annotations

import time
from typing import Any

from markupsafe import Markup

from ..loop.runner import typed
from ..pages.render import LABELS
from ..pages.results import kpi_rows
from .owner_lights import LIGHT_GATES
from .render import render
from .run_files import is_inside
from .runs import HELD_OUT, Board

FIRST_VIEW_SECONDS = 0.4
"""Time that the first view waits for measurements; what takes longer is loaded later."""
EVIDENCE_SECONDS = 30.0
"""Time that the page behind a light waits for the first measurement: it has nothing else to show."""
REPORTS = ("reports/rc1/*.html", "reports/*.html", "reports/review/*.html")


def overview(board: Board) -> Markup:
    board.refresh(FIRST_VIEW_SECONDS)
    parts = {"lights": lights_part(board), "curves": curves_part(board), "kpis": kpis_part(board)}
    return render("overview.html", parts=parts)


def lights_part(board: Board) -> Markup:
    rounds, root = board.rounds.get(), board.run("").root
    profile_loop, lights = board.loop.get() or (None, [])
    return render(
        "lights.html",
        name=board.names[0],
        rounds=rounds,
        rounds_error=board.rounds.error,
        every=[light for one in rounds or () for light in one.lights],
        names=list(LIGHT_GATES),
        profile_loop=profile_loop,
        lights=lights,
        loop_error=board.loop.error,
        reports=[file.relative_to(root).as_posix() for pattern in REPORTS for file in sorted(root.glob(pattern))],
    )


def curves_part(board: Board) -> Markup:
    run = board.run("")
    run.metrics.read_new()
    run.held_out.read_new()
    series = {
        name: (run.metrics.series(name), run.held_out.series(HELD_OUT.get(name, name))) for name in LABELS["curves"]
    }
    return render("curves.html", steps=run.metrics.last, series=series)


def kpis_part(board: Board) -> Markup:
    kpis = board.kpis.get()
    groups = {group: kpi_rows(kpis[group]) for group in LABELS["kpi_groups"]} if kpis else {}
    at = time.strftime("%H:%M:%S", time.localtime(board.kpis.at))
    return render("kpis.html", groups=groups, error=board.kpis.error, at=at)


def light_page(board: Board, number: str, name: str) -> Markup | None:
    """Behind a light of the owner: its checks and their evidence."""
    every = [light for one in board.rounds.get(EVIDENCE_SECONDS) or () for light in one.lights]
    light = next((one for one in every if str(one.round) == number and one.name == name), None)
    if light is None:
        return None
    return render("light.html", light=light, names=list(LIGHT_GATES), readable=_readable(board))


def stage_page(board: Board, name: str) -> Markup | None:
    """Behind a stage of the loop: its command, what it read and what it wrote."""
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
        readable=_readable(board),
    )


def _readable(board: Board) -> Any:
    """Whether a path names a file of the run folder, to which a link may lead."""
    root = board.run("").root
    return lambda path: is_inside(root, path)
