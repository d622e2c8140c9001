"""The plan of a pool, and the list of tasks to make for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Literal

from msgspec import Struct

from askgate_env.actions import TOOLS
from askgate_env.types import Lang, Level, Task

from .source import Want


class BuildPlan(Struct, frozen=True):
    """The arguments of `build_rollout_pool`. The command line and the training config check their ranges."""

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


def wants(plan: BuildPlan, levels: Mapping[Task, Mapping[Level, float]]) -> dict[Task, list[Want]]:
    """Wants of every task in random order, with exact counts per level, clarification and language."""
    counts = dict(zip(plan.mix, shares_to_counts(list(plan.mix.values()), plan.n), strict=True))
    return {task: _task_wants(plan, task, count, levels[task]) for task, count in counts.items() if count}


def _task_wants(plan: BuildPlan, task: Task, count: int, levels: Mapping[Level, float]) -> list[Want]:
    """Wants of one task. Clarification and language are spread evenly, so that neither predicts the other."""
    task_wants = []
    clarify_due = 0.0  # ambiguous wants that the rate asks for so far, minus those that were made
    for level, total in zip(levels, shares_to_counts(list(levels.values()), count), strict=True):
        even = [1 / len(plan.langs)] * len(plan.langs)
        for lang, count_of_lang in zip(plan.langs, shares_to_counts(even, total), strict=True):
            # Equal wants are one object: a pool may have tens of millions of them.
            complete, ambiguous = (
                Want(lang, level, clarify, plan.max_turns, plan.tool_hops, plan.ops_numeric, plan.paraphrase)
                for clarify in (False, True)
            )
            for _ in range(count_of_lang):
                clarify_due += plan.clarify_rate
                clarify = clarify_due >= 1 - 1e-9
                clarify_due -= clarify
                task_wants.append(ambiguous if clarify else complete)
    Random(f"wants:{plan.seed}:{plan.split}:{task}").shuffle(task_wants)
    return task_wants


def shares_to_counts(shares: Sequence[float | Fraction], total: int) -> list[int]:
    """Whole numbers that sum to `total`, by largest remainder.

    >>> shares_to_counts([0.45, 0.30, 0.25], 10)
    [5, 3, 2]
    """
    exact = [share * total for share in shares]
    counts = [int(value + 1e-9) for value in exact]
    order = sorted(range(len(shares)), key=lambda index: counts[index] - exact[index])
    for index in order[: total - sum(counts)]:
        counts[index] += 1
    return counts
