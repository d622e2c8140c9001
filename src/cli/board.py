"""The verb `board`: the owner's page on this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BadInput
from . import show

if TYPE_CHECKING:
    from ..board.run_folders import Kpis, Loop

PORT = 8712


def board(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="On 127.0.0.1; 0: any that is free.")] = PORT,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="Run folder; again for others to compare with. Left out: the one you are in."),
    ] = None,
) -> None:
    """Show lights, curves and episodes in a browser. Live while a run goes on; nobody but this machine can see it."""
    import uvicorn

    from ..board.run_folders import Board
    from ..board.server import HOST, make_app

    roots = [folder.absolute() for folder in run or [Path()]]
    made = Board(roots, measured_loop, measured_kpis)
    # Rounds, stages and KPIs name their files from the run folder.
    os.chdir(roots[0])
    door = _listen(HOST, port)
    own = door.getsockname()[1]
    show.say(f"http://{HOST}:{own}/  (Ctrl-C ends it 按 Ctrl-C 结束)")
    config = uvicorn.Config(make_app(made, own), log_level="warning", server_header=False)
    uvicorn.Server(config).run(sockets=[door])


def _listen(host: str, port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
    except OSError as error:
        door.close()
        raise BadInput(
            f"port {port} cannot be had ({error.strerror})", where="--port", remedy="choose another, or 0 for any"
        ) from None
    return door


def measured_loop() -> Loop:
    """Lights of the loop that was run last in this folder."""
    from ..board.run_folders import Loop
    from ..config.profile import load_profile
    from ..loop.lights import COMMANDS, lights, next_step, state_file
    from ..loop.runner import typed
    from ..loop.stage import State
    from ..loop.stages import last_was_full, stages_of
    from .quickstart import last_run

    name = last_run()
    state = State(state_file(name))
    stages = stages_of(load_profile(name), last_was_full(state))
    found = lights(stages, state)
    commands = {stage.name: typed(stage) for stage in stages}
    return Loop(name, stages, state, found, next_step(found, COMMANDS[name]), commands)


def measured_kpis() -> Kpis:
    from ..config.profile import load_profile
    from ..core.paths import newest_evaluation
    from ..loop.kpi import measure
    from .quickstart import last_run

    return measure(load_profile(last_run()), newest_evaluation())
