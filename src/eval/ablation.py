"""Is the over-clarification penalty worth having? The policy trained with it against the one trained without.

    changes = compare(without, with_penalty, seed)
    checks = ablation_checks(changes, profile.thresholds)

Both come from the same base, seeds, samples and steps, and are looked at on the same held-out samples. Several seeds
are several episodes of each sample (`compare` resamples samples).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..config.profile import Thresholds
from ..core.check import Check, check
from ..core.remedies import remedies
from ..core.types import Episode
from .compare import DIGITS, Change, compare
from .metrics import figures

_REMEDIES = remedies("evaluation")
_REMEDIES = remedies("evaluation")
ABLATION_THRESHOLDS = {
    "overclar_change_pct_max",
    "overclar_small",
    "turns_change_max",
    "success_drop_points_max",
}
"""Those of a profile that the ablation goes by."""
HEADLINE = ("overclar_rate", "avg_turns", "success", "need_ask_success", "ask_precision", "ask_recall")


class SeedPair(Struct, frozen=True):
    """Held-out episodes of one seed: of the policy trained without the penalty, and of the one trained with it."""

    seed: int
    without: Sequence[Episode]
    with_penalty: Sequence[Episode]


def ablation_checks(changes: dict[str, Change], limits: Thresholds) -> list[Check]:
    """`changes`: the policy with the penalty, less the one without."""
    success = changes["success"].delta_pp
    drop = None if success is None else 0.0 - success
    return [
        _overclar(changes["overclar_rate"], limits),
        check(
            "turns_change",
            changes["avg_turns"].delta,
            "<=",
            limits.turns_change_max,
            *_REMEDIES["ablation_turns"],
        ),
        check(
            "success_drop_points",
            drop,
            "<=",
            limits.success_drop_points_max,
            *_REMEDIES["ablation_success"],
        ),
    ]


def overclar_change_pct(change: Change) -> float | None:
    """In percent of the policy without the penalty; None where that never asks needlessly."""
    without, now = change.base.value, change.trained.value
    return round(100 * (now - without) / without, DIGITS) if without and now is not None else None


def ablation_figures(pairs: Sequence[SeedPair], seed: int) -> tuple[dict[str, Change], dict[str, Any]]:
    """The change that the gates go by, over all seeds, and everything beside it."""
    without = [episode for one in pairs for episode in one.without]
    with_penalty = [episode for one in pairs for episode in one.with_penalty]
    changes = compare(without, with_penalty, seed)
    return changes, {
        "samples": len({episode.sample_id for episode in with_penalty}),
        "overclar_change_pct": overclar_change_pct(changes["overclar_rate"]),
        "without": _headline(without),
        "with": _headline(with_penalty),
        "changes": _of(changes),
        "seeds": [{"seed": one.seed, "changes": _of(compare(one.without, one.with_penalty, seed))} for one in pairs],
    }


def _of(changes: dict[str, Change]) -> dict[str, Change]:
    return {name: changes[name] for name in HEADLINE}


def _headline(episodes: Sequence[Episode]) -> dict[str, Any]:
    measured = figures(episodes)
    return {name: measured[name] for name in HEADLINE}


def _overclar(change: Change, limits: Thresholds) -> Check:
    without = change.base.value
    if without is not None and without < limits.overclar_small:
        return check(
            "overclar_rate",
            change.trained.value,
            "<",
            limits.overclar_small,
            *_REMEDIES["ablation_overclar"],
        )
    percent = overclar_change_pct(change)
    return check(
        "overclar_change_pct",
        percent,
        "<=",
        limits.overclar_change_pct_max,
        *_REMEDIES["ablation_overclar"],
    )
