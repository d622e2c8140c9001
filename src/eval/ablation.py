"""Is the over-clarification penalty worth having? The policy trained with it against the one trained without.

    changes = compare(without, with_penalty, seed)
    checks = ablation_checks(changes, profile.thresholds)

Both come from the same base, seeds, samples and steps, and are evaluated on the same held-out samples. Several seeds
are several episodes of each sample (`compare` resamples samples).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..config.profile import Thresholds
from ..core.check import Check, check
from ..core.remedies import remedies
from ..core.types import Episode
from .compare import DIGITS, Change, compare, overclar_check
from .metrics import figures

ABLATION_THRESHOLDS = {"overclar_change_pct_max", "overclar_small", "turns_change_max", "success_drop_points_max"}
"""Thresholds of a profile that the ablation is checked against."""
HEADLINE = ("overclar_rate", "avg_turns", "success", "need_ask_success", "ask_precision", "ask_recall")


class SeedPair(Struct, frozen=True):
    """Held-out episodes of one seed: of the policy trained without the penalty, and of the one trained with it."""

    seed: int
    without: Sequence[Episode]
    with_penalty: Sequence[Episode]


def ablation_checks(changes: dict[str, Change], limits: Thresholds) -> list[Check]:
    """`changes`: the policy with the penalty, less the one without."""
    remedy, rate, success = remedies("evaluation"), changes["overclar_rate"], changes["success"].delta_pp
    percent, turns = overclar_change_pct(rate), changes["avg_turns"].delta
    most = limits.overclar_change_pct_max
    drop = None if success is None else 0.0 - success
    return [
        overclar_check(rate, "overclar_change_pct", percent, most, limits, "ablation_overclar"),
        check("turns_change", turns, "<=", limits.turns_change_max, *remedy["ablation_turns"]),
        check("success_drop_points", drop, "<=", limits.success_drop_points_max, *remedy["ablation_success"]),
    ]


def overclar_change_pct(change: Change) -> float | None:
    """In percent of the policy without the penalty; None where that never asks needlessly."""
    without, now = change.base.value, change.trained.value
    return round(100 * (now - without) / without, DIGITS) if without and now is not None else None


def ablation_figures(pairs: Sequence[SeedPair], seed: int) -> tuple[dict[str, Change], dict[str, Any]]:
    """The changes over all seeds, which the gates check, and the figures of the report."""
    without = [episode for one in pairs for episode in one.without]
    with_penalty = [episode for one in pairs for episode in one.with_penalty]
    changes = compare(without, with_penalty, seed)
    return changes, {
        "samples": len({episode.sample_id for episode in with_penalty}),
        "overclar_change_pct": overclar_change_pct(changes["overclar_rate"]),
        "without": _headline(figures(without)),
        "with": _headline(figures(with_penalty)),
        "changes": _headline(changes),
        "seeds": [
            {"seed": one.seed, "changes": _headline(compare(one.without, one.with_penalty, seed))} for one in pairs
        ],
    }


def _headline(measured: Mapping[str, Any]) -> dict[str, Any]:
    return {name: measured[name] for name in HEADLINE}
