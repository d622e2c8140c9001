"""Verb `runs`: lists the training runs of this folder, and names, tags and deletes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..runtime.language import in_language as both
from . import options, show

if TYPE_CHECKING:
    from ..training.run_list import RunInfo

STATES = {"running": "运行中", "finished": "已完成", "stopped": "已停止"}


def runs(
    run: Annotated[str, Argument(metavar="RUN")] = "",
    name: str | None = None,
    tag: Annotated[list[str] | None, Option(metavar="TAG")] = None,
    untag: Annotated[list[str] | None, Option(metavar="TAG")] = None,
    delete: Annotated[bool, Option("--delete")] = False,
    yes: Annotated[bool, Option("--yes")] = False,
    as_json: options.Json = False,
) -> None:
    """List training runs; name, tag or delete one.

    Each training run has a folder of its own in runs/. A run that a report or package names cannot be deleted.
    """
    from ..training.run_list import delete_run, find_run, list_runs, name_run, require_deletable, tag_run

    if not run:
        if name is not None or untag or delete:
            raise BadInput("no run is named", where="RUN", remedy="`askgate runs` lists the runs; name one of them")
        found = [one for one in list_runs() if set(tag or ()) <= set(one.tags)]
        show.result(found, as_json, _print_runs)
        return
    folder = find_run(run)
    if delete:
        require_deletable(folder)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        if not yes and not typer.confirm(f"Delete {folder} ({size / 1e6:,.0f} MB)?", err=True):
            raise typer.Exit(1)
        delete_run(folder)
        show.say(f"deleted {folder}", f"已删除 {folder}")
        return
    if name is not None:
        name_run(folder, name)
    if tag or untag:
        tag_run(folder, tag or [], untag or [])
    show.result([one for one in list_runs() if one.id == folder.name], as_json, _print_runs)


def _print_runs(found: list[RunInfo]) -> None:
    if not found:
        show.say("no training runs here; start one: askgate train", "此处尚无训练运行；开始训练：askgate train")
        return
    for one in found:
        label = f"{one.name} ({one.id})" if one.name else one.id
        tags = f"  [{', '.join(one.tags)}]" if one.tags else ""
        about = both("report, verify and package are about it", "报告、核验与复现包针对它")
        show.say(f"{label}{tags}{f'  <- {about}' if one.certified else ''}")
        passed, failed = both(", checks passed", "，检查通过"), both(", a check failed", "，有检查未过")
        gates = {True: passed, False: failed, None: ""}[one.passed]
        if one.passed is not None:
            gates += both(" (with a ticket)", "（凭训练票）") if one.gated else both(" (no ticket)", "（无训练票）")
        what = f"{one.strategy} {both('from', '基于')} {one.base_model}, {both('profile', '配置档')} {one.profile}"
        steps = both(f"step {one.step} of {one.steps}", f"第 {one.step}/{one.steps} 步")
        show.say(f"  {both(one.state, STATES[one.state])}, {steps}, {what}{gates}")
        figures = [
            f"{show.FIGURES[name]} {show.figure(name, base)} -> {show.figure(name, trained)}"
            for name, (base, trained) in one.figures.items()
        ]
        if figures:
            show.say(f"  {', '.join(figures)} {both('(percent)', '（百分比）')}")
