"""Verbs that run the whole loop and say where it stands: quickstart, rc1, status, kpi.

`quickstart` is the embedded loop: generated worlds, `models/tiny`, the judge on this machine. No key is read and no
paid service can be called, whatever the environment says. A red light stays red: later stages still measure, so that
one run shows every light, but nothing is trained without the ticket, and the exit code is 1.

`rc1` runs the owner's profile with the judge that the environment names, and stops at the first red light.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..config.profile import Profile
    from ..loop.kpi import Kpi
    from ..loop.lights import Light

STOPPED_BY_HAND = 130
COLOURS = {"green": "bold green", "red": "bold red", "grey": "dim"}
PAID = ("SCORER_API_KEY", "SCORER_BASE_URL", "SCORER_MODEL", "SCORER_PROVIDER")
ProfileFlag = Annotated[
    Literal["quickstart", "rc1"] | None,
    typer.Option("--profile", help="Which loop; left out: the one that was run last."),
]


def quickstart(
    full: Annotated[
        bool, typer.Option("--full", help="Three seeds and the SFT control: the figures of record; takes much longer.")
    ] = False,
) -> None:
    """Run the whole loop on the embedded default. Goes on where it was; does again only what is no longer valid."""
    raise typer.Exit(_loop("quickstart", embedded(os.environ), full=full))


def rc1(
    until: Annotated[str, typer.Option("--until", help="The last stage to run: round1, round2, train, ...")] = "",
    listed: Annotated[bool, typer.Option("--list", help="Show the stages and their commands, and run none.")] = False,
) -> None:
    """Run the loop of profile rc1. The judge is the one that the environment names; the first red light stops it."""
    if listed:
        from ..config.profile import load_profile
        from ..loop.runner import typed
        from ..loop.stages import stages_of

        for stage in stages_of(load_profile("rc1")):
            show.say(f"{stage.name}: {stage.title} {stage.title_zh}\n  $ {typed(stage)}")
        return
    raise typer.Exit(_loop("rc1", os.environ, until=until, stop_at_red=True))


def status(profile: ProfileFlag = None, as_json: options.Json = False) -> None:
    """Show the lights and the next step. Sums are taken again; exit code 0 when all are green, else 1."""
    from ..config.profile import load_profile
    from ..loop.lights import COMMANDS, lights, next_step, state_file
    from ..loop.stage import State
    from ..loop.stages import last_was_full, stages_of

    name = profile or last_run()
    state = State(state_file(name))
    found = lights(stages_of(load_profile(name), last_was_full(state)), state)
    if as_json:
        english, chinese = next_step(found, COMMANDS[name])
        show.print_json({"profile": name, "lights": found, "next": english, "next_zh": chinese})
    else:
        show_lights(found, name)
    if any(light.colour != "green" for light in found):
        raise typer.Exit(1)


def kpi(profile: ProfileFlag = None, as_json: options.Json = False) -> None:
    """Collect the KPIs. Quality and engineering in reports/kpi.json, each with the file that it comes from."""
    from ..config.profile import load_profile
    from ..core.files import write_json
    from ..core.paths import newest_evaluation
    from ..loop.kpi import KPIS, measure

    found = measure(load_profile(profile or last_run()), newest_evaluation())
    write_json(KPIS, found)
    if as_json:
        show.print_json(found)
    else:
        show_kpis(found)
        show.say(f"wrote {KPIS}")


def show_lights(found: Sequence[Light], profile: str) -> None:
    """Print one line per light. Lines wrap in a narrow terminal, where a table would cut off what does not fit."""
    from rich.text import Text

    from ..loop.lights import COMMANDS, WORDS, next_step

    width = max(len(word) for word, _ in WORDS.values()) + 2
    for light in found:
        lamp = WORDS[light.colour][0]
        title = f"{light.title} {light.title_zh}" + (f" ({light.why})" if light.why else "")
        show.say(Text.assemble((lamp, COLOURS[light.colour]), " " * (width - len(lamp)), title))
    for step in next_step(found, COMMANDS[profile]):
        show.say(f"-> {step}")


def show_kpis(kpis: Mapping[str, Mapping[str, Kpi]]) -> None:
    """Print one table per group of KPIs, then the alarms."""
    from rich.table import Table
    from rich.text import Text

    from ..loop.kpi import KPIS, alarms

    for part, found in kpis.items():
        table = Table(box=None, pad_edge=False)
        for head in (part, "value", "from"):
            table.add_column(head, overflow="fold")
        for name, one in found.items():
            value = "-" if one.value is None else show.number(one.value)
            table.add_row(name, f"{value} ALARM" if one.alarm and one.alarm.on else value, Text(one.source))
        show.print_table(table)
    for name in alarms(kpis):
        show.complain(f"ALARM 警报: {name} is past its limit; see {KPIS}")


def embedded(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the embedded loop: the judge on this machine, live, and no key of anybody's."""
    kept = {name: value for name, value in environment.items() if name not in PAID}
    return {**kept, "RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}


def _refuse_unless_live(environment: Mapping[str, str]) -> None:
    """The second stage would find it out, after the first has paid a judge for its probe."""
    from ..scoring.providers import PROD, live_mode

    if environment.get("RUN_MODE", "").strip() != PROD or not live_mode(environment):
        raise BadInput(
            "rc1 runs on live scores alone, and these do not ask for them",
            where="RUN_MODE, REWARD_LIVE_MODE",
            remedy="start it with ./ops/run_local_rc1.sh, or export RUN_MODE=prod REWARD_LIVE_MODE=1",
        )


def _loop(
    name: Literal["quickstart", "rc1"],
    environment: Mapping[str, str],
    *,
    full: bool = False,
    until: str = "",
    stop_at_red: bool = False,
) -> int:
    from ..config.profile import load_profile
    from ..loop.kpi import KPIS
    from ..loop.lights import COMMANDS, state_file
    from ..loop.runner import run_stages, worst
    from ..loop.stage import State
    from ..loop.stages import stages_of
    from ..pages.results import PAGE, write_results

    profile = load_profile(name)
    stages = stages_of(profile, full)
    names = [stage.name for stage in stages]
    if until and until not in names:
        raise BadInput(f"there is no stage {until!r}", where="--until", remedy=f"choose from {', '.join(names)}")
    if name == "rc1":
        _refuse_unless_live(environment)
    wanted = stages[: names.index(until) + 1] if until else stages
    state = State(state_file(name))
    try:
        results = run_stages(wanted, state, environment, show.say, stop_at_red)
    except KeyboardInterrupt:
        show.complain(f"stopped by hand; `{COMMANDS[name]}` goes on from here")
        return STOPPED_BY_HAND
    show_lights(write_results(profile, stages, state), name)
    show.say(f"wrote {KPIS}")
    show.say(f"wrote {PAGE}")
    _rc1_report(profile)
    return worst(results)


def _rc1_report(profile: Profile) -> None:
    """Once there is a trained policy to tell of. The lights have been shown; what a report refuses changes none."""
    from ..core.paths import newest_evaluation
    from .report import RC1_PAGE, write_rc1

    if newest_evaluation() is None:
        return
    try:
        write_rc1(profile)
    except BadInput as error:
        show.complain(f"no RC1 report: {error}")
        return
    show.say(f"wrote {RC1_PAGE}")


def last_run() -> Literal["quickstart", "rc1"]:
    """The loop whose record is the newest; before any was run, the embedded one."""
    scale, small = Path("reports/rc1_state.json"), Path("reports/quickstart_state.json")
    newest = max(
        (path for path in (small, scale) if path.exists()), key=lambda path: path.stat().st_mtime, default=small
    )
    return "rc1" if newest == scale else "quickstart"
