"""Growth of the live-scored set, in steps and only from green lights (`askgate scale`).

A light is only a record of an earlier measurement, so before anything grows the gates on the reward are measured again
from the evidence, as in a round. Before the first step the gates on diversity and difficulty measure the pool. After
each step they measure the samples scored so far, and the gate on stability measures their scores. The first red gate
stops the growth. A larger draw contains the smaller one and every reply is in the cache, so no call is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ..config.profile import Profile
from ..core.defaults import SEED, ProfileName
from ..core.paths import LIVE_SCORES
from ..gates.gate import Finding, measure, round_context
from ..gates.rounds import FILE_GATES
from ..runtime.language import in_language
from .profile_loop import open_loop
from .runner import run_stages, verb, worst
from .stage import FAILED, Stage, State
from .stage_view import StageView
from .stages import stages_of

FOLDER, STATE = Path("reports/scale"), Path("reports/scale_state.json")
NEEDED = ("pool_gate", "difficulty_gate", "calibration", "shadow", "ablation")
"""Stages whose lights must be green before anything grows; where the profile requires a trial, that of its gate too."""
_STOP = "闸门未过，不得扩量"


def grow(name: ProfileName, sizes: list[int], environment: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Grows the live-scored set to each of the sizes. Returns the exit code."""
    loop = open_loop(name, full=False)
    needed = (*NEEDED, "trial_gate") if loop.profile.thresholds.trial_required else NEEDED
    before = [light for light in loop.lights() if light.stage in needed]
    not_green = [light for light in before if light.colour not in ("green", "amber")]
    if not_green or len(before) < len(needed):
        for light in not_green:
            say(f"{in_language(light.title, light.title_zh)}: {light.colour}, {light.why}")
            for reason in light.reasons:
                say(f"  {reason.name}: {in_language(reason.remedy, reason.remedy_zh)}")
        say(f"nothing grows before these lights are green {_STOP}")
        return FAILED
    if red := red_gates(loop.profile):
        for one in red:
            say(f"{one.gate}: {one.name}: {in_language(one.remedy, one.remedy_zh)}")
        say(f"measured again, these gates do not pass, whatever the lights say; nothing grows {_STOP}")
        return FAILED
    state = State(STATE)
    stages = scale_stages(loop.profile, sizes, state)
    results = run_stages(stages, state, environment, StageView(say), stop_at_red=True)
    last = results[-1]
    if last.code == 0:
        say(f"grown to {sizes[-1]:,} live-scored samples: {LIVE_SCORES}")
    else:
        say(f"{in_language('growth stopped at:', '扩量止于：')} {in_language(last.stage.title, last.stage.title_zh)}")
    return worst(results)


def red_gates(profile: Profile) -> list[Finding]:
    """Failed checks of the gates on the reward, measured now. No stage of the growth measures them."""
    gates = {name: FILE_GATES[name] for name in ("weights", "calibration", "shadow", "penalty", "ablation")}
    return [one for one in measure(gates, round_context(profile, 1)) if not one.passed]


def scale_stages(profile: Profile, sizes: list[int], state: State) -> list[Stage]:
    """Stages from the largest size that was reached and is still valid. Earlier steps are not measured again."""
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
    """The stage that scores samples until the set has this size."""
    paths, scored = profile.paths, _scored_samples(size)
    flags = ("--seed", str(SEED), "--profile", profile.name, "--out", LIVE_SCORES, "--samples", scored)
    return Stage(
        f"score_{size}",
        f"Have {size:,} samples scored live",
        f"真实评分扩至 {size}",
        verb("score", paths.balanced, "--n", str(size), *flags),
        (paths.balanced,),
        (LIVE_SCORES, scored),
        appends=(paths.ledger,),
    )


def _scored_samples(size: int) -> Path:
    """The samples that have a live score when the set has grown to a size."""
    return FOLDER / f"{size}.jsonl"


def _gates(profile: Profile, when: str, reached: int) -> list[Stage]:
    """The gates of the loop once more, each with its own report. `when`: prefix of their names.

    They measure the `reached` samples that are scored by now, or the whole pool if there are none.
    """
    again = []
    measured = {"pool_gate": profile.paths.pool, "difficulty_gate": profile.paths.balanced}
    for stage in stages_of(profile):
        if stage.name in measured:
            out, whole = FOLDER / f"{when}_{stage.name}.json", measured[stage.name]
            part = _scored_samples(reached) if reached else whole
            command = tuple(str(part) if word == str(whole) else word for word in (*stage.command[:-1], str(out)))
            inputs = tuple(part if path == whole else path for path in stage.inputs)
            name = f"{when}_{stage.name}"
            again.append(replace(stage, name=name, command=command, inputs=inputs, outputs=(out,)))
    if reached:
        out = FOLDER / f"{when}_stability.json"
        limits = ("--least", str(reached), "--max-unstable", str(profile.thresholds.fresh_unstable_share_max))
        again.append(
            Stage(
                f"{when}_stability",
                f"Judge the {reached:,} live scores: stable, live, complete",
                "评分稳定性闸门",
                verb("validate-scores", LIVE_SCORES, *limits, "--out", out, "--profile", profile.name),
                (LIVE_SCORES,),
                (out,),
            )
        )
    return again
