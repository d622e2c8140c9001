"""The list of training runs in the first run folder, and the settings in which two of them differ."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..config.schema import dotted
from ..core.paths import EFFECTIVE_CONFIG, RUNS, TRAIN_LOG, all_runs, evaluations
from ..training.run_list import effective_config, list_runs
from .compare import Query
from .render import render
from .run_files import is_inside
from .runs import Board

UNSET = "–"


def runs_page(board: Board, query: Query) -> Markup:
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
    one, other = (dict(_settings(run)) for run in (a, b))
    rows = ((key, str(one.get(key, UNSET)), str(other.get(key, UNSET))) for key in sorted({*one, *other}))
    return [row for row in rows if row[1] != row[2]]


def _settings(run: str) -> list[tuple[str, Any]]:
    return list(dotted(effective_config(RUNS / run)))
