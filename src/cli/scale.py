"""Verbs of the scale-up: scale, and validate_scores, which judges the scores on the way.

The live-scored set grows in stages, and only from green lights. A light is a record of what was measured; before
anything grows the gates of the reward are measured again from the evidence, as in a round. Before and after each stage
the gates on diversity and difficulty measure the pool again, and the gate on stability the scores that are there; the
first that is red stops the growth. A larger draw holds the smaller one and every reply is in the cache, so nothing is
made or paid for twice.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..config.profile import Profile
    from ..gates.finding import Finding
    from ..loop.stage import Stage, State

SCORES = Path("reports/rc1/scores.jsonl")
FOLDER, STATE = Path("reports/scale"), Path("reports/scale_state.json")
FIRST = ("pool_gate", "difficulty_gate", "calibration", "shadow", "ablation")
"""Lights that must be green before anything grows."""
_STOP = "闸门未过，不得扩量"


def validate_scores(
    scores: Annotated[Path, typer.Argument(metavar="SCORES", help="What `askgate score` wrote.")] = SCORES,
    least: Annotated[int, typer.Option("--least", min=1, help="Samples with a live score, least.")] = 1,
    max_unstable: Annotated[
        float, typer.Option("--max_unstable", min=0, max=1, help="Share on which the judge disagrees with itself.")
    ] = 0.5,
    out: Annotated[Path, typer.Option("--out", help="Where the report goes.")] = Path("reports/stability_report.json"),
    as_json: options.Json = False,
) -> None:
    """Judge live scores. All there, all from live calls, and stable."""
    from ..gates.stability import validate_scores as judge

    show.finish(judge(scores, least=least, max_unstable=max_unstable, out=out), as_json, out)


def scale(
    to: Annotated[str, typer.Option("--to", help="Sizes of the live-scored set, rising, with commas.")] = "1000,5000",
    profile: Annotated[Literal["quickstart", "rc1"], typer.Option("--profile", help="Whose pool and gates.")] = "rc1",
) -> None:
    """Grow the live-scored set. Gates before and after each stage; the first red light stops it."""
    from ..config.profile import load_profile
    from ..loop.lights import lights, state_file
    from ..loop.runner import run_stages, worst
    from ..loop.stage import State
    from ..loop.stages import stages_of

    sizes, wanted = _sizes(to), load_profile(profile)
    loop = stages_of(wanted)
    before = [light for light in lights(loop, State(state_file(profile))) if light.stage in FIRST]
    dark = [light for light in before if light.colour != "green"]
    if dark or len(before) < len(FIRST):
        for light in dark:
            show.say(f"{light.title} {light.title_zh} is {light.colour}: {light.why}")
            for reason in light.reasons:
                show.say(f"  {reason.name}: {reason.remedy}\n  {reason.name}：{reason.remedy_zh}")
        show.say(f"nothing grows before these lights are green {_STOP}")
        raise typer.Exit(1)
    if red := red_gates(wanted):
        for one in red:
            show.say(f"{one.gate}: {one.name}: {one.remedy}\n  {one.gate}：{one.name}：{one.remedy_zh}")
        show.say(f"measured again, these gates do not pass, whatever the lights say; nothing grows {_STOP}")
        raise typer.Exit(1)
    state = State(STATE)
    results = run_stages(scale_stages(wanted, sizes, state), state, os.environ, show.say, stop_at_red=True)
    last = results[-1]
    if last.code == 0:
        show.say(f"grown to {sizes[-1]:,} live-scored samples: {SCORES}")
    else:
        show.say(f"growth stopped at: {last.stage.title} {last.stage.title_zh}")
    raise typer.Exit(worst(results))


def red_gates(profile: Profile) -> list[Finding]:
    """What fails of the gates that are not measured again on the way."""
    from ..gates.look import look_at
    from ..gates.measure import STORED, measured

    gates = {name: STORED[name] for name in ("weights", "calibration", "shadow", "penalty", "ablation")}
    return [one for one in measured(gates, look_at(profile, 1)) if not one.passed]


def scale_stages(profile: Profile, sizes: list[int], state: State) -> list[Stage]:
    """From the largest size that was reached and still holds: what led there need not be looked at again."""
    stages: list[Stage] = []
    reached = 0
    for size in sizes:
        growth = [_score(profile, size), *_gates(profile, f"{size}_after", size)]
        if all(state.passed(one.name) and not state.why_not_valid(one) for one in growth):
            stages = growth
        else:
            stages += [*_gates(profile, f"{size}_before", reached), *growth]
        reached = size
    return stages


def _score(profile: Profile, size: int) -> Stage:
    from ..loop.runner import verb
    from ..loop.stage import Stage

    paths = profile.paths
    return Stage(
        f"score_{size}",
        f"Have {size:,} samples scored live",
        f"真实评分扩至 {size}",
        verb("score", paths.balanced, "--n", str(size), "--seed", str(options.SEED), "--out", SCORES),
        (paths.balanced,),
        (SCORES,),
        grows=(paths.ledger,),
    )


def _gates(profile: Profile, when: str, reached: int) -> list[Stage]:
    """The gates of the loop once more, each with a report of its own. `reached`: so many are scored by now."""
    from dataclasses import replace

    from ..loop.runner import verb
    from ..loop.stage import Stage
    from ..loop.stages import data_stages

    again = []
    for stage in data_stages(profile):
        if stage.name in ("pool_gate", "difficulty_gate"):
            out = FOLDER / f"{when}_{stage.name}.json"
            command = (*stage.command[:-1], str(out))
            again.append(replace(stage, name=f"{when}_{stage.name}", command=command, outputs=(out,)))
    if reached:
        out = FOLDER / f"{when}_stability.json"
        limit = profile.thresholds.fresh_unstable_share_max
        again.append(
            Stage(
                f"{when}_stability",
                f"Judge the {reached:,} live scores: stable, live, complete",
                "评分稳定性闸门",
                verb("validate_scores", SCORES, "--least", str(reached), "--max_unstable", str(limit), "--out", out),
                (SCORES,),
                (out,),
            )
        )
    return again


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"{text!r} is no list of sizes", where="--to", remedy="write it like 1000,5000") from None
    if sizes[0] < 1 or any(one >= other for one, other in pairwise(sizes)):
        raise BadInput(f"{text} does not rise", where="--to", remedy="write it like 1000,5000")
    return sizes
