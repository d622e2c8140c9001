"""Verbs that show a run: report, review, and the live board."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ..core.errors import BadInput
from . import options, show

PORT = 8712


def report(
    profile: options.Profile = None,
    evaluation: Annotated[
        Path | None, Option(help="Report written by `evaluate`. Default: the newest reports/ppo_eval_*.json.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write the RC1 report of the run in this folder.

    The exit code is 0 only if both rounds, evidence and results passed.
    """
    from ..config.profile import load_profile
    from ..loop.profile_loop import last_run
    from ..pages.rc1_report import RC1_JSON, RC1_PAGE, write_rc1

    if evaluation is not None and not evaluation.is_file():
        raise BadInput("no such file", where=str(evaluation), remedy="name a report written by `askgate evaluate`")
    found = write_rc1(load_profile(profile or last_run()), evaluation)
    if as_json:
        show.print_json(found)
    else:
        for one in found.verdict:
            show.say(f"{'PASSED' if one.passed else 'FAILED'} {one.name} {one.name_zh}: {one.told}")
        show.wrote(RC1_PAGE, RC1_JSON)
    if not found.passed:
        raise typer.Exit(1 if all(one.genuine for one in found.verdict) else 2)


def review(
    profile: options.Profile = None,
    days: Annotated[int, Option(min=1, help="Number of days to look back.")] = 7,
    as_json: options.Json = False,
) -> None:
    """Write the weekly review. Lists gates, KPIs and changes, as Markdown and as a page with charts."""
    from ..config.profile import load_profile
    from ..core.paths import newest_evaluation
    from ..loop.kpi import measure
    from ..loop.profile_loop import last_run
    from ..pages.review import write_review

    found, made = write_review(days, measure(load_profile(profile or last_run()), newest_evaluation()))
    if as_json:
        show.print_json(found)
        return
    show.say(
        f"in {days} days: stages measured {len(found.events)}, trained policies evaluated {len(found.evaluations)}"
    )
    show.wrote(*made)


def board(
    port: Annotated[int, Option(min=0, max=65535, help="Port on 127.0.0.1; 0 selects any free port.")] = PORT,
    run: Annotated[
        list[Path] | None, Option(help="Folder of a run. Repeat the flag to compare runs. Default: the current folder.")
    ] = None,
) -> None:
    """Show stages, curves and episodes in a browser.

    The pages update during a run and are served to this machine only.
    """
    import uvicorn

    from ..board.runs import Board
    from ..board.server import HOST, make_app

    roots = [folder.absolute() for folder in run or [Path()]]
    made = Board(roots)
    # Rounds, stages and KPIs name their files relative to the run folder.
    os.chdir(roots[0])
    listener = _listen(HOST, port)
    own = listener.getsockname()[1]
    show.say(f"http://{HOST}:{own}/  (Ctrl-C ends it 按 Ctrl-C 结束)")
    config = uvicorn.Config(make_app(made, own), log_level="warning", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise BadInput(
            f"port {port} is not available ({error.strerror})", where="--port", remedy="choose another, or 0 for any"
        ) from None
    return listener
