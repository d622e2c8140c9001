"""Is every task there with the share that was asked for?"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.check import Check, check
from ...core.types import Task
from .remedies import REMEDIES

MIX_POINTS = 3.0
"""Percentage points that a task's share may be off what was asked."""


def mix_checks(counts: Mapping[Task, int], mix: Mapping[Task, float]) -> list[Check]:
    """A task that was not asked for has a wanted share of 0. Of no samples at all, no share can be measured."""
    n, asked = sum(counts.values()), sum(mix.values())
    checks = []
    for task in dict.fromkeys([*mix, *counts]):
        wanted = mix.get(task, 0.0) / asked if asked else 0.0
        off = abs(counts.get(task, 0) / n - wanted) * 100 if n else None
        checks.append(check(f"mix[{task}]", off, "<=", MIX_POINTS, *REMEDIES["mix"]))
    return checks
