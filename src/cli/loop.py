"""Commands of the whole loop: quickstart, rc1, status, kpi, sync, scale, init."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from ..core.defaults import ProfileName
from ..core.errors import BadInput
from ..core.paths import FINAL_MODEL, LOCAL_CHECKPOINTS, certified_id, has_gated_run
from ..loop.stage_view import StageView
from ..runtime.language import in_language as both
from . import options, parse, show
from .stage_table import StageTable

if TYPE_CHECKING:
    from ..loop.kpi import Kpi
    from ..loop.lights import Light
    from ..loop.profile_loop import ProfileLoop

INTERRUPTED = 130
COLOURS = {"green": "bold green", "amber": "bold yellow", "red": "bold red", "grey": "dim"}


def quickstart(full: Annotated[bool, Option("--full")] = False) -> None:
    """Run all stages, from data to report, with built-in data and model.

    This needs no API key and no GPU. If you run it again, it repeats only the stages whose inputs changed. The main
    report is reports/rc1/RC1.html.
    """
    from ..loop.profile_loop import open_loop

    raise typer.Exit(_run(open_loop("quickstart", full)))


def rc1(
    until: str = "",
    listed: Annotated[bool, Option("--list")] = False,
    planned: Annotated[bool, Option("--plan")] = False,
) -> None:
    """Run all stages at full size (gate profile rc1).

    The run needs RUN_MODE=prod, REWARD_LIVE_MODE=1 and SCORER_PROVIDER. The script ops/run_local_rc1.sh sets them; its
    default judge is gemini. A paid provider bills the calls to the judge. The run stops at the first failure. `rc1` is
    short for release candidate 1.
    """
    from ..loop.profile_loop import open_loop
    from ..loop.runner import typed

    loop = open_loop("rc1", full=False)
    if planned:
        return _print_plan(loop)
    if not listed:
        raise typer.Exit(_run(loop, until))
    for stage in loop.stages:
        show.say(f"{stage.name}: {both(stage.title, stage.title_zh)}\n  $ {typed(stage)}")


def _print_plan(loop: ProfileLoop) -> None:
    """Prints what the run needs, and refuses it like the run itself if it cannot fit this machine."""
    from ..training.forecast import judge_calls, priced
    from ..training.preflight import plan

    refused: BadInput | None = None
    rows = [(name, priced(calls, os.environ, loop.profile)) for name, calls in judge_calls(loop.profile).items()]
    show.print_table(("judge", "dialogues by stage"), rows, text=("dialogues by stage",))
    for path in filter(None, (loop.profile.paths.trial, loop.profile.paths.config)):
        try:
            found = plan(path)
        except BadInput as error:
            refused = error
            continue
        show.say("")
        show.print_table(("", str(path)), found.rows(priced(found.judged, os.environ, loop.profile)), text=(str(path),))
    if refused:
        raise refused


def _run(loop: ProfileLoop, until: str = "") -> int:
    """Runs the loop, writes KPIs and report, and prints the lights that are not green. Returns the exit code."""
    from ..core.files import write_json
    from ..gates.manifest import newest_evaluation
    from ..loop.kpi import KPIS, measure
    from ..loop.profile_loop import has_run
    from ..loop.runner import worst

    if loop.will_train(until) and find_spec("torch") is None:
        raise ModuleNotFoundError("the loop trains", name="torch")  # before the first stage, not when training starts
    try:
        if loop.profile.name == "rc1" and loop.will_train(until):
            loop.require_live(os.environ)
            from ..loop.stages import trained_config
            from ..training.preflight import plan

            # Refuses a run that does not fit this machine before a stage pays the judge.
            plan(trained_config(loop.profile, loop.full))
        if not has_run():
            show.note(f"new run in {Path.cwd()}", f"在 {Path.cwd()} 新建运行")
        on_terminal = show.console().is_terminal
        view = StageTable(show.console(), loop.command) if on_terminal else StageView(show.say, loop.command)
        results = loop.run(os.environ, view, until)
    except KeyboardInterrupt:
        english = f"interrupted; type `{loop.command}` to resume: finished stages are not repeated"
        show.note(english, f"已中断；再次运行 `{loop.command}` 即可继续，已完成的阶段不会重做")
        return INTERRUPTED
    evaluation = newest_evaluation()
    try:
        write_json(KPIS, measure(loop.profile, evaluation))
        show.wrote(KPIS)
        if evaluation:
            from ..pages.rc1_report import RC1_PAGE, write_rc1
            from ..training.verify_results import verify_results

            verify_results(False, show.say)
            write_rc1(loop.profile)
            show.wrote(RC1_PAGE)
    except BadInput as error:  # a refused report changes no light
        show.note("the reports are not complete:", "报告不完整：")
        show.note(show.explain(error))
    found = loop.lights()
    green = sum(light.colour == "green" for light in found)
    show.say(f"{green} of {len(found)} lights are green", f"{len(found)} 盏灯中 {green} 盏为绿灯")
    _print_lights([light for light in found if light.colour != "green"], loop)
    return worst(results)


def status(profile: ProfileName | None = None, as_json: options.Json = False) -> None:
    """Show the light of every stage and the next step.

    The exit code is 0 if all lights are green or amber, else 1.
    """
    from ..loop.profile_loop import open_loop

    loop = open_loop(options.chosen_profile(profile))
    found = loop.lights()
    if as_json:
        english, chinese = loop.next_step(found)
        known = {"profile": loop.profile.name, "run": certified_id(), "lights": found}
        show.print_json({**known, "next": english, "next_zh": chinese})
    else:
        _print_lights(found, loop)
    if any(light.colour not in ("green", "amber") for light in found):
        raise typer.Exit(1)


def kpi(profile: ProfileName | None = None, as_json: options.Json = False) -> None:
    """Collect quality and engineering figures (KPIs). Writes them to reports/kpi.json, each with its source file."""
    from ..config.profile import load_profile
    from ..core.files import write_json
    from ..gates.manifest import newest_evaluation
    from ..loop.kpi import KPIS, measure
    from ..loop.profile_loop import has_reports

    found, made = measure(load_profile(options.chosen_profile(profile)), newest_evaluation()), []
    if has_reports():
        write_json(KPIS, found)
        made = [KPIS]
    show.result(found, as_json, _print_kpis, *made)


def sync(
    number: Annotated[int | None, Option("--round", min=1)] = None,
    profile: ProfileName | None = None,
    as_json: options.Json = False,
) -> None:
    """List the files that a run has produced, and those still missing.

    Prints a report and writes it to reports/sync/round_NUMBER.json (such as round_003.json). The report lists the files
    of configs/sync.yaml that exist (with their SHA-256), those that are missing, the open problems, and the next step.
    """
    from ..loop.profile_loop import open_loop
    from ..loop.sync import write_packet

    loop = open_loop(options.chosen_profile(profile))
    found = loop.lights()
    made, path = write_packet(number, found, both(*loop.next_step(found)), loop.profile.paths)
    # The packet is there to be pasted, so it is printed either way.
    show.result(made, as_json, show.print_json, path)


def scale(to: str = "1000,5000", profile: ProfileName | None = None) -> None:
    """Score more samples with the judge, in steps.

    The run in this folder must have passed the stages pool_gate, difficulty_gate, calibration, shadow and ablation.
    Profile rc1 also requires trial_gate. `askgate rc1 --list` explains the stages. The data gates are checked before
    and after each step. The command stops at the first failure.
    """
    from ..loop.scale import grow

    raise typer.Exit(grow(options.chosen_profile(profile, "rc1"), parse.sizes(to), os.environ, show.say))


def init(folder: Annotated[Path, Argument(metavar="DIR")]) -> None:
    """Create a project folder. Copies configs and templates for you to edit, and a README that explains them."""
    from ..loop.new_project import make_project

    show.wrote(*make_project(folder))
    english = f"-> cd {folder} and run `askgate quickstart`; README.md there says what each file is for"
    show.say(english, f"-> 进入 {folder} 运行 `askgate quickstart`；各文件用途见其中的 README.md")


def _print_lights(found: list[Light], loop: ProfileLoop) -> None:
    """Prints one line per light: colour, name of the stage as in logs/stages/NAME.log, title.

    In a narrow terminal lines wrap; a table would cut them off.
    """
    from ..pages.render import LABELS

    width, names = max(map(len, COLOURS)) + 2, max((len(one.stage) for one in found), default=0) + 2
    for light in found:
        colour = both("RED" if light.colour == "red" else light.colour, LABELS["lamps"][light.colour][1])
        why = both(f" ({light.why})", f"（{light.why_zh}）") if light.why else ""
        title = light.stage.ljust(names) + both(light.title, light.title_zh) + why
        show.say(Text.assemble((colour, COLOURS[light.colour]), " " * (width - len(colour)), title))
    if (run := certified_id()) and has_gated_run():
        show.say(f"run: {run} (report, verify and package are about it)", f"运行：{run}（报告、核验与复现包针对它）")
    elif run:
        english = f"run: {run} (local: it has no ticket, so report and package are not for it)"
        show.say(english, f"运行：{run}（本地运行，没有训练票，不出报告与复现包）")
    show.say(f"-> {both(*loop.next_step(found))}")
    if run and not has_gated_run() and (LOCAL_CHECKPOINTS / FINAL_MODEL).is_dir():
        show.say(
            f"-> or see the local run: `askgate board`, `askgate chat {LOCAL_CHECKPOINTS / FINAL_MODEL}`",
            f"-> 或查看本地运行：`askgate board`、`askgate chat {LOCAL_CHECKPOINTS / FINAL_MODEL}`",
        )


def _print_kpis(kpis: Mapping[str, Mapping[str, Kpi]]) -> None:
    """Prints one table per group of KPIs, then the alarms."""
    from ..loop.kpi import KPIS, alarms

    for part, found in kpis.items():
        rows = []
        for name, one in found.items():
            alarm = " ALARM" if one.alarm and one.alarm.on else ""
            rows.append([name, f"{show.cell(one.value)}{alarm}", one.source])
        columns = (both("value", "数值"), both("from", "来源"))
        show.print_table((part, *columns), rows, text=columns)
    for name in alarms(kpis):
        show.note(f"ALARM: {name} is past its limit; see {KPIS}", f"警报：{name} 超出限值；见 {KPIS}")
