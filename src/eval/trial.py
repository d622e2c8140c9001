"""The report on a run: base, warm start, controls and trained policy on the same held-out samples, by seed and pooled.

    report = trial_report([SeedRun(1, 5000, base, trained, control)], about, profile.thresholds, proof)

The gates check all seeds together: several seeds are several episodes of each sample, and samples are resampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from askgate_env.types import TASKS, Episode

from ..config.profile import Thresholds
from ..core.check import Check, Evidence, Report, amber, report
from .compare import Change, Side, compare, compare_sides, trial_checks
from .metrics import HARD_READING

HEADLINE = (
    "need_ask_success", "overclar_rate", "success", "avg_turns", f"success_{HARD_READING}", "question_precision",
    "question_recall", "question_f1", "ask_precision", "ask_recall", "lucky_guess_rate",
)  # fmt: skip

Changes = dict[str, Change]


class SeedRun(Struct, frozen=True):
    """The held-out episodes of one seed, by policy; None if that was not evaluated."""

    seed: int
    steps: int
    base: Sequence[Episode] | None
    trained: Sequence[Episode] | None
    control: Sequence[Episode] | None
    """Episodes of the base after plain SFT on as many tokens as the run read, if the config asks for it."""
    time_control: Sequence[Episode] | None = None
    """Episodes of the base after plain SFT for as long as the run took, if the config asks for it."""
    warm_start: Sequence[Episode] | None = None
    """Episodes of the policy that the strategy started from, if that is not the base."""


POLICIES = ("base", "trained", "control", "time_control", "warm_start")
"""Fields of `SeedRun` with episodes."""


class Compared(Struct, frozen=True, omit_defaults=True):
    """Each figure as base, trained and change (`success_hard`, `overclar_rate_easy`, `avg_turns_gsm8k`, ...)."""

    seed: int | None
    """None: all seeds together."""
    steps: int
    changes: Changes | None
    """Trained less base."""
    over_control: Changes | None
    """Trained less control; the control is `base` there."""
    control_changes: Changes | None
    """Control less base."""
    over_time_control: Changes | None = None
    """Trained less time-matched control, which is `base` there."""
    time_control_changes: Changes | None = None
    """Time-matched control less base."""
    over_warm_start: Changes | None = None
    """Trained less warm start, which is `base` there."""
    warm_start_changes: Changes | None = None
    """Warm start less base."""


class TrialReport(Report, frozen=True, kw_only=True):
    """`reports/ppo_eval_<tag>.json`."""

    ts: str
    profile: str
    gated: bool
    """Whether the run had a ticket. The checks of this report are those after the run."""
    ticket: str | None
    config: dict[str, Any]
    seeds: list[Compared]
    pooled: Compared


def trial_report(runs: Sequence[SeedRun], about: dict[str, Any], limits: Thresholds, proof: Evidence) -> TrialReport:
    """The report on the runs of all seeds. `about`: the fields of the report that say which run it is."""
    seeds = [compare_policies(run) for run in runs]
    pooled = msgspec.structs.replace(seeds[0], seed=None) if len(seeds) == 1 else _pooled(runs)
    changes, samples = pooled.changes, {episode.sample_id for run in runs for episode in run.trained or ()}
    figures: dict[str, Any] = {"held_out": len(samples), "limits": stated_limits(limits)}
    if changes is not None:
        points = {name: changes[name].delta_pp for name in HEADLINE}
        figures["delta_pp"] = {name: value for name, value in points.items() if value is not None}
    checks = trial_checks(changes if changes is not None else compare([], [], 0), limits)
    whole = report("ppo_eval", checks, figures, proof, trial_ambers(pooled))
    return TrialReport(**msgspec.structs.asdict(whole), **about, seeds=seeds, pooled=pooled)


def trial_ambers(pooled: Compared) -> list[Check]:
    """All ambers of a trained policy: caveats that the owner must know even if every gate passed."""
    return [*control_ambers(pooled), *warm_start_ambers(pooled), *task_ambers(pooled), *recall_ambers(pooled)]


def warm_start_ambers(pooled: Compared) -> list[Check]:
    """The amber of figures that are worse than after the warm start by more than chance: 95% interval beyond 0."""
    directions = {"success": 1, "need_ask_success": 1, "overclar_rate": -1}
    return _worse("worse_than_warm_start", directions, pooled.over_warm_start)


def task_ambers(pooled: Compared) -> list[Check]:
    """The ambers of tasks whose success or need-ask success did not rise, or rose by no more than chance (95% interval
    not above 0), and of tasks whose question recall fell by more than chance."""
    return [
        *_not_risen("task_success", "success", pooled.changes),
        *_not_risen("task_need_ask", "need_ask_success", pooled.changes),
        *_worse("task_recall", {f"question_recall_{task}": 1 for task in TASKS}, pooled.changes),
    ]


def _not_risen(name: str, measure: str, all_changes: Changes | None) -> list[Check]:
    """The amber of tasks whose interval includes 0 or is below it. Its value is the lowest end, in points."""
    changes = {task: all_changes[f"{measure}_{task}"] for task in TASKS} if all_changes else {}
    lows = {task: round(100 * one.low, 2) for task, one in changes.items() if one.low is not None and one.low <= 0}
    if not lows:
        return []
    return amber(name, min(lows.values()), ">", 0.0, "; ".join(_described(task, changes[task]) for task in lows))


def _worse(name: str, directions: dict[str, int], changes: Changes | None) -> list[Check]:
    """The amber of figures that got worse by more than chance: the whole interval is on the bad side of 0.

    `directions`: the figures, with 1 if more is better and -1 if less is. The value of the amber is that of the worst
    figure: the end of its interval that is nearer to 0, in points, negative.
    """
    nearer = {}
    for figure, direction in directions.items():
        end = (changes[figure].high if direction > 0 else changes[figure].low) if changes else None
        if end is not None and direction * end < 0:
            nearer[figure] = round(100 * direction * end, 2)
    if not changes or not nearer:
        return []
    return amber(name, min(nearer.values()), ">=", 0.0, "; ".join(_described(one, changes[one]) for one in nearer))


def _described(name: str, change: Change) -> str:
    """
    >>> from src.eval.metrics import Figure
    >>> _described("gsm8k", Change(Figure(0.142, 0, 1, 9), Figure(0.163, 0, 1, 9), 0.021, -0.01, 0.052, 2.1))
    'gsm8k 14.2% -> 16.3% (95% -1.0..+5.2)'
    """
    base, trained, low, high = (
        100 * (value or 0.0) for value in (change.base.value, change.trained.value, change.low, change.high)
    )
    return f"{name} {base:.1f}% -> {trained:.1f}% (95% {low:+.1f}..{high:+.1f})"


def recall_ambers(pooled: Compared) -> list[Check]:
    """The amber of a policy that obtains missing information by asking less often than its base."""
    change = pooled.changes["question_recall"].delta_pp if pooled.changes else None
    return [] if change is None else amber("question_recall", change, ">=", 0.0)


def control_ambers(pooled: Compared) -> list[Check]:
    """The amber of a trained policy that a control beats where asking is needed."""
    sides = [side for side in (pooled.over_control, pooled.over_time_control) if side]
    changes = [change for side in sides if (change := side["need_ask_success"].delta_pp) is not None]
    return amber("control_need_ask", min(changes), ">=", 0.0) if changes else []


def stated_limits(limits: Thresholds) -> dict[str, float]:
    """The thresholds of the trial under the names that its report gives them."""
    return {
        "need_ask_pp": limits.need_ask_pp_min,
        "overclar_relative": limits.overclar_change_pct_max / 100,
        "overclar_small": limits.overclar_small,
        "turns": limits.turns_change_max,
        "hard_pp": limits.hard_pp_min,
    }


def compare_policies(run: SeedRun) -> Compared:
    """The comparisons of one run. The bootstrap uses the run's own seed."""
    sides = {name: Side(episodes, run.seed) for name in POLICIES if (episodes := getattr(run, name))}

    def change(base: str, trained: str) -> Changes | None:
        return compare_sides(sides[base], sides[trained]) if base in sides and trained in sides else None

    return Compared(
        seed=run.seed,
        steps=run.steps,
        changes=change("base", "trained"),
        over_control=change("control", "trained"),
        control_changes=change("base", "control"),
        over_time_control=change("time_control", "trained"),
        time_control_changes=change("base", "time_control"),
        over_warm_start=change("warm_start", "trained"),
        warm_start_changes=change("base", "warm_start"),
    )


def _pooled(runs: Sequence[SeedRun]) -> Compared:
    """The comparisons over all seeds together."""

    def joined(sides: Sequence[Sequence[Episode] | None]) -> list[Episode] | None:
        """The episodes of a policy of all seeds; None if a seed has none."""
        episodes = [episode for side in sides if side is not None for episode in side]
        return episodes if all(sides) else None

    sides = {name: joined([getattr(run, name) for run in runs]) for name in POLICIES}
    # The bootstrap's seed does not depend on the order of the seeds, so the board can derive it from the files alone.
    whole = SeedRun(min(run.seed for run in runs), runs[0].steps, **sides)
    return msgspec.structs.replace(compare_policies(whole), seed=None)
