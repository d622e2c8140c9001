"""The verb sync: the packet that one side hands to the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from . import options, show
from .quickstart import ProfileFlag, last_run

FOLDER = Path("reports/sync")


def sync(
    number: Annotated[
        int | None, typer.Option("--round", min=1, help="Number of the packet; left out: the next.")
    ] = None,
    profile: ProfileFlag = None,
    as_json: options.Json = False,
) -> None:
    """Write the SYNC packet. What was produced, with its SHA-256, and what is missing; sides: configs/sync.yaml."""
    from ..config.profile import load_profile
    from ..core.files import write_json
    from ..loop.lights import COMMANDS, lights, state_file
    from ..loop.stage import State
    from ..loop.stages import stages_of
    from ..loop.sync import load_settings, packet

    name = profile or last_run()
    settings = load_settings()
    found = lights(stages_of(load_profile(name)), State(state_file(name)))
    which = number if number is not None else next_round(FOLDER)
    made = packet(settings, which, found, COMMANDS[name])
    path = FOLDER / f"round_{which:03d}.json"
    write_json(path, made)
    # The packet is there to be pasted, so it is shown either way.
    show.print_json(made)
    if not as_json:
        show.say(f"wrote {path}")


def next_round(folder: Path) -> int:
    """One more than the highest that lies there."""
    names = [re.fullmatch(r"round_(\d+)", path.stem) for path in folder.glob("round_*.json")]
    return max((int(found[1]) for found in names if found), default=0) + 1
