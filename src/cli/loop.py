"""Verbs of the whole loop: quickstart, rc1, status, kpi, sync, scale, init."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from ..core.errors import BadInput
from . import options, parse, show
from .pages import RC1_PAGE, write_rc1

if TYPE_CHECKING:
    from ..loop.kpi import Kpi
    from ..loop.lights import Light
    from ..loop.profile_loop import ProfileLoop

INTERRUPTED = 130
COLOURS = {"green": "bold green", "red": "bold red", "grey": "dim"}
SYNC = Path("reports/sync")


def quickstart(
    full: Annotated[
        bool, typer.Option("--full", help="Three seeds and the SFT control: the figures of record. Much slower.")
    ] = False,
) -> None:
    """Run the whole loop on the embedded default. Resumes; repeats only what is no longer valid."""
    from ..loop.profile_loop import open_loop

    raise typer.Exit(_run(open_loop("quickstart", full)))


def rc1(
    until: Annotated[str, typer.Option("--until", help="Last stage to run: round1, round2, train, ...")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List the stages and their commands, and run none.")] = False,
) -> None:
    """Run the loop of profile rc1. Uses the judge that the environment names; stops at the first red light."""
    from ..loop.profile_loop import open_loop
    from ..loop.runner import typed

    loop = open_loop("rc1", full=False)
    if not listed:
        raise typer.Exit(_run(loop, until))
    for stage in loop.stages:
        show.say(f"{stage.name}: {stage.title} {stage.title_zh}\n  $ {typed(stage)}")


def _run(loop: ProfileLoop, until: str = "") -> int:
    from ..loop.kpi import KPIS
    from ..loop.runner import worst
    from ..pages.results import PAGE, write_results

    try:
        results = loop.run(os.environ, show.say, until)
    except KeyboardInterrupt:
        show.complain(f"interrupted; `{loop.command}` resumes from here")
        return INTERRUPTED
    _show_lights(write_results(loop.profile, loop.stages, loop.state), loop)
    show.say(f"wrote {KPIS}")
    show.say(f"wrote {PAGE}")
    _write_rc1_report(loop)
    return worst(results)


def _write_rc1_report(loop: ProfileLoop) -> None:
    """Once a trained policy was evaluated. A refused report changes no light, and these have been shown."""
    from ..core.paths import newest_evaluation

    if newest_evaluation() is None:
        return
    try:
        write_rc1(loop.profile)
    except BadInput as error:
        show.complain(f"no RC1 report: {error}")
        return
    show.say(f"wrote {RC1_PAGE}")


def status(profile: options.Profile = None, as_json: options.Json = False) -> None:
    """Show the lights and the next step. Takes checksums again; exit code 0 if all lights are green, else 1."""
    from ..loop.profile_loop import open_loop

    loop = open_loop(profile)
    found = loop.lights()
    if as_json:
        english, chinese = loop.next_step(found)
        show.print_json({"profile": loop.profile.name, "lights": found, "next": english, "next_zh": chinese})
    else:
        _show_lights(found, loop)
    if any(light.colour != "green" for light in found):
        raise typer.Exit(1)


def kpi(profile: options.Profile = None, as_json: options.Json = False) -> None:
    """Collect the KPIs. Quality and engineering figures go to reports/kpi.json, each with its source file."""
    from ..config.profile import load_profile
    from ..core.files import write_json
    from ..core.paths import newest_evaluation
    from ..loop.kpi import KPIS, measure
    from ..loop.profile_loop import last_run

    found = measure(load_profile(profile or last_run()), newest_evaluation())
    write_json(KPIS, found)
    if as_json:
        show.print_json(found)
    else:
        _show_kpis(found)
        show.say(f"wrote {KPIS}")


def sync(
    number: Annotated[int | None, typer.Option("--round", min=1, help="Packet number. Default: the next one.")] = None,
    profile: options.Profile = None,
    as_json: options.Json = False,
) -> None:
    """Write the SYNC packet. Artifacts made, with SHA-256, and artifacts missing; configs/sync.yaml lists them."""
    from ..core.files import write_json
    from ..loop.profile_loop import open_loop
    from ..loop.sync import load_settings, packet

    loop = open_loop(profile, full=False)
    which = number if number is not None else next_round(SYNC)
    made = packet(load_settings(), which, loop.lights(), loop.command)
    path = SYNC / f"round_{which:03d}.json"
    write_json(path, made)
    # The packet is there to be pasted, so it is shown either way.
    show.print_json(made)
    if not as_json:
        show.say(f"wrote {path}")


def next_round(folder: Path) -> int:
    """One more than the highest packet number in the folder."""
    names = [re.fullmatch(r"round_(\d+)", path.stem) for path in folder.glob("round_*.json")]
    return max((int(found[1]) for found in names if found), default=0) + 1


def scale(
    to: Annotated[str, typer.Option("--to", help="Sizes of the live-scored set, rising, comma-separated.")] = (
        "1000,5000"
    ),
    profile: Annotated[
        Literal["quickstart", "rc1"], typer.Option("--profile", help="Profile whose pool and gates are used.")
    ] = "rc1",
) -> None:
    """Grow the live-scored set. Gates run before and after each step; the first red light stops it."""
    from ..loop.scale import grow

    raise typer.Exit(grow(profile, parse.sizes(to), os.environ, show.say))


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")]) -> None:
    """Create a project folder. It has configs and templates to edit, and a README that explains them."""
    from ..loop.new_project import make_project

    for path in make_project(folder):
        show.say(f"wrote {path}")
    show.say(f"-> cd {folder} and run `askgate quickstart`; README.md there says what each file is for")
    show.say(f"-> 进入 {folder} 运行 `askgate quickstart`；各文件用途见其中的 README.md")


def _show_lights(found: list[Light], loop: ProfileLoop) -> None:
    """Print one line per light. Lines wrap in a narrow terminal, where a table would cut off what does not fit."""
    from ..loop.lights import WORDS

    width = max(len(word) for word, _ in WORDS.values()) + 2
    for light in found:
        lamp = WORDS[light.colour][0]
        title = f"{light.title} {light.title_zh}" + (f" ({light.why})" if light.why else "")
        show.say(Text.assemble((lamp, COLOURS[light.colour]), " " * (width - len(lamp)), title))
    for step in loop.next_step(found):
        show.say(f"-> {step}")


def _show_kpis(kpis: Mapping[str, Mapping[str, Kpi]]) -> None:
    """Print one table per group of KPIs, then the alarms."""
    from ..loop.kpi import KPIS, alarms

    for part, found in kpis.items():
        table = Table(box=None, pad_edge=False)
        for head in (part, "value", "from"):
            table.add_column(head, overflow="fold")
        for name, one in found.items():
            value = show.cell(one.value)
            table.add_row(name, f"{value} ALARM" if one.alarm and one.alarm.on else value, Text(one.source))
        show.print_table(table)
    for name in alarms(kpis):
        show.complain(f"ALARM 警报: {name} is past its limit; see {KPIS}")
