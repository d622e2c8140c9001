"""The plan of a pool, and the list of tasks to make for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Literal

from msgspec import Struct

from askgate_env.actions import TOOLS
from askgate_env.types import ALL_TASKS, TASKS, Lang, Level, Task

from ...core.defaults import MAX_STEPS, MIN_STEPS, MIN_TURNS, SUM_TOLERANCE
from ...core.errors import BadInput
from .source import NATURAL_SOURCES, Want


class BuildPlan(Struct, frozen=True):
    """The arguments of `build_rollout_pool`."""

    n: int
    mix: dict[Task, float]
    seed: int
    langs: tuple[Lang, ...]
    """Empty: all languages of the source."""
    templates_dir: Path
    max_turns: int = 6
    clarify_rate: float = 0.30
    tools: tuple[str, ...] = TOOLS
    source: str = "builtin"
    data_dir: Path | None = None
    split: Literal["train", "shadow"] = "train"
    tool_hops: int = 4
    ops_numeric: int = 4
    paraphrase: float = 0.5
    reuse: int = 1
    """Number of samples that may be made from one record, each in other words, where the source has too few records."""


def check_plan(plan: BuildPlan) -> None:
    """Refuses a plan that cannot be built, naming the flag."""

    def refuse(flag: str, what: str, remedy: str) -> None:
        raise BadInput(what, where=flag, remedy=remedy)

    if plan.n < 1:
        refuse("--n", f"a pool needs at least one sample, not {plan.n}", "give a positive number")
    known = ALL_TASKS if plan.source in NATURAL_SOURCES else TASKS
    for task, share in plan.mix.items():
        if task not in known:
            refuse("--mix", f"unknown task {task!r}", f"use {', '.join(known)}")
        if not 0 <= share <= 1:
            refuse("--mix", f"the share of {task} is {share}", "give shares between 0 and 1")
    if abs(sum(plan.mix.values()) - 1) > SUM_TOLERANCE:
        refuse("--mix", f"the shares sum to {sum(plan.mix.values()):g}, not to 1", "correct the shares")
    if not 0 <= plan.clarify_rate <= 1:
        refuse("--clarify-rate", f"{plan.clarify_rate} is not a share", "give a number between 0 and 1")
    if not 0 <= plan.paraphrase <= 1:
        refuse("--paraphrase", f"{plan.paraphrase} is not a strength", "give a number between 0 and 1")
    if plan.reuse < 1:
        refuse("--reuse", f"{plan.reuse} samples per record", "give 1 or more")
    if plan.max_turns < MIN_TURNS:
        refuse("--max-turns", f"{plan.max_turns} leaves no room for a hard task", f"allow at least {MIN_TURNS}")
    if not MIN_STEPS <= plan.tool_hops <= MAX_STEPS:
        refuse("--tool-hops", f"{plan.tool_hops} is out of range", f"give {MIN_STEPS} to {MAX_STEPS}")
    if not MIN_STEPS <= plan.ops_numeric <= MAX_STEPS:
        refuse("--ops-numeric", f"{plan.ops_numeric} is out of range", f"give {MIN_STEPS} to {MAX_STEPS}")
    unknown = set(plan.tools) - set(TOOLS)
    if unknown:
        refuse("--tools", f"unknown tool {sorted(unknown)[0]!r}", f"use {', '.join(TOOLS)}")


def wants(plan: BuildPlan, levels: Mapping[Task, Mapping[Level, float]]) -> dict[Task, list[Want]]:
    """Wants of every task in random order, with exact counts per level, clarification and language."""
    counts = dict(zip(plan.mix, shares_to_counts(list(plan.mix.values()), plan.n), strict=True))
    return {task: _task_wants(plan, task, count, levels[task]) for task, count in counts.items() if count}


def _task_wants(plan: BuildPlan, task: Task, count: int, levels: Mapping[Level, float]) -> list[Want]:
    """Wants of one task. Clarification and language are spread evenly, so that neither predicts the other."""
    made = []
    owed = 0.0
    for level, total in zip(levels, shares_to_counts(list(levels.values()), count), strict=True):
        even = [1 / len(plan.langs)] * len(plan.langs)
        for lang, part in zip(plan.langs, shares_to_counts(even, total), strict=True):
            # Equal wants are one object: a pool may have tens of millions of them.
            complete, ambiguous = (
                Want(lang, level, clarify, plan.max_turns, plan.tool_hops, plan.ops_numeric, plan.paraphrase)
                for clarify in (False, True)
            )
            for _ in range(part):
                owed += plan.clarify_rate
                clarify = owed >= 1 - 1e-9
                owed -= clarify
                made.append(ambiguous if clarify else complete)
    Random(f"wants:{plan.seed}:{plan.split}:{task}").shuffle(made)
    return made


def shares_to_counts(shares: Sequence[float | Fraction], total: int) -> list[int]:
    """Whole numbers that sum to `total`, by largest remainder.

    >>> shares_to_counts([0.45, 0.30, 0.25], 10)
    [5, 3, 2]
    """
    exact = [share * total for share in shares]
    counts = [int(value + 1e-9) for value in exact]
    order = sorted(range(len(shares)), key=lambda place: counts[place] - exact[place])
    for place in order[: total - sum(counts)]:
        counts[place] += 1
    return counts
