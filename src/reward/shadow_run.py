"""`askgate shadow-run`: compares old and new score on the same episodes of the shadow set.

`reports/shadow_run_<tag>.json` has the agreement of the two scores over all episodes, by task, by difficulty, over the
judged ones and over those whose votes agree; figures of the policy; and the gates, which are measured on all episodes.
The weights never saw these episodes: calibration uses none of the shadow set.

- `spearman`, `kendall_tau` (tau-b): agreement of the two orders.
- `top10_overlap`, `top20_overlap`: the share of the top 10% (20%) of one score that is also in that of the other. Equal
  scores are ordered at random; the figure is the expected value, so it does not depend on the order of the lines.
- `corr_to_success_old`, `corr_to_success_new`: rank correlation of each score with success; `corr_improve_pct` is the
  gain in percent of the old one (none if the old one is too small, see `gain_pct`).

Each has a 95% bootstrap interval. Gates use the point estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from askgate_env.types import LEVELS, TASKS

from ..config.profile import Thresholds
from ..core.check import Check, Report, check, evidence, now, remedies, report
from ..core.errors import BadInput
from ..core.files import refuse_overlap, shipped, write_json
from ..core.paths import REPORTS
from . import rank_statistics as stats
from .rank_statistics import F64, I64
from .scored_episodes import Scores, live_check, read_columns
from .weights import Baseline, Weights, read_baseline, read_weights

RESAMPLES = 1000
MIN_EPISODES = 3
"""Minimum number of episodes whose order can be compared."""


class Agreement(Struct, frozen=True):
    """Agreement of two scores. Figures that cannot be measured are None: equal scores, one outcome or few episodes."""

    episodes: int
    samples: int
    success_rate: float | None
    spearman: float | None = None
    kendall_tau: float | None = None
    top10_overlap: float | None = None
    top20_overlap: float | None = None
    corr_to_success_old: float | None = None
    corr_to_success_new: float | None = None
    corr_improve_pct: float | None = None
    corr_improve: float | None = None
    """The gain in correlation as a difference."""
    intervals: dict[str, tuple[float, float]] = {}
    """The middle 95% of the resamples, for each figure that could be measured."""


def agreement(scores: Scores, old_D: F64, new_D: F64, seed: int, where_N: NDArray[np.bool_] | None = None) -> Agreement:
    """The agreement of two sets of weights on scored episodes, or on those that the mask `where_N` selects."""
    rows = slice(None) if where_N is None else where_N
    old_N, new_N = scores.matrix_ND[rows] @ old_D, scores.matrix_ND[rows] @ new_D
    success_N, source_N = scores.success_N[rows], scores.source_N[rows]
    measured = _measured(old_N, new_N, success_N, np.ones((1, len(old_N)))) if len(old_N) >= MIN_EPISODES else {}
    found = {name: round(float(one[0]), stats.DIGITS) for name, one in measured.items() if not np.isnan(one[0])}
    success_rate = float(success_N.mean()) if len(success_N) else None
    whole = Agreement(len(success_N), len(np.unique(source_N)), success_rate)
    if not found:
        return whole
    gain = stats.gain_pct(found.get("corr_to_success_old"), found.get("corr_to_success_new"))
    intervals = _intervals(old_N, new_N, success_N, source_N, set(found), seed)
    return replace(whole, **found | {"corr_improve_pct": gain}, intervals=intervals)


def agreement_by_group(scores: Scores, old_D: F64, new_D: F64, seed: int) -> dict[str, dict[str, Agreement]]:
    """The agreement by task and by difficulty. No gate uses it: parts of 245 episodes are too small."""
    parts = {"task": (scores.task_N, TASKS), "difficulty": (scores.level_N, LEVELS)}
    return {
        name: {one: agreement(scores, old_D, new_D, seed, column == one) for one in names}
        for name, (column, names) in parts.items()
    }


def shadow_figures(scores: Scores, old_D: F64, new_D: F64, seed: int) -> tuple[Agreement, dict[str, Any]]:
    """The agreement of both scores, and all figures: also by task and difficulty, and of judged and stable episodes."""
    whole, stable_N = agreement(scores, old_D, new_D, seed), scores.weight_N >= 1
    return whole, {
        **msgspec.to_builtins(whole),
        **msgspec.to_builtins(agreement_by_group(scores, old_D, new_D, seed)),
        "judged": msgspec.to_builtins(agreement(scores, old_D, new_D, seed, scores.live_N)),
        "stable": msgspec.to_builtins(agreement(scores, old_D, new_D, seed, stable_N)),
        "unstable_episodes": int((~stable_N).sum()),
        "live": scores.live > 0,
        "live_episodes": scores.live,
    }


class ShadowPoint(Struct, frozen=True):
    """One episode of the shadow run under both scores."""

    old: float
    new: float
    success: bool
    live: bool


def points(scores: Scores, old_D: F64, new_D: F64) -> list[ShadowPoint]:
    """Every recorded episode under the old and the new score."""
    old_N, new_N = (scores.matrix_ND @ w_D for w_D in (old_D, new_D))
    return [
        ShadowPoint(float(x), float(y), bool(won), bool(live))
        for x, y, won, live in zip(old_N, new_N, scores.success_N, scores.live_N, strict=True)
    ]


def agreement_checks(found: Agreement, limits: Thresholds) -> list[Check]:
    old, new, remedy = found.corr_to_success_old, found.corr_to_success_new, remedies("reward")
    return [
        check("spearman", found.spearman, ">=", limits.spearman_min, *remedy["spearman"]),
        check("top10_overlap", found.top10_overlap, ">=", limits.top10_min, *remedy["top10_overlap"]),
        stats.gain_check("corr_improve", old, new, limits.corr_improve_pct_min, remedy["corr_improve"]),
    ]


def _measured(old: F64, new: F64, success: F64, counts: F64) -> dict[str, F64]:
    """Every figure of agreement, for each resample (row of `counts`)."""
    by_old, by_new, by_success = stats.Ranking(old), stats.Ranking(new), stats.Ranking(success)
    before, after = stats.spearman(by_old, by_success, counts), stats.spearman(by_new, by_success, counts)
    return {
        "spearman": stats.spearman(by_old, by_new, counts),
        "kendall_tau": stats.kendall(old, new, counts),
        "top10_overlap": stats.overlap(by_old, by_new, counts, 0.10),
        "top20_overlap": stats.overlap(by_old, by_new, counts, 0.20),
        "corr_to_success_old": before,
        "corr_to_success_new": after,
        "corr_improve": after - before,
        "corr_improve_pct": stats.ratio(100 * (after - before), before, stats.SMALL),
    }


def _intervals(
    old: F64, new: F64, success: F64, source: I64, names: set[str], seed: int
) -> dict[str, tuple[float, float]]:
    numbers = np.unique(source, return_inverse=True)[1].astype(np.int64)
    drawn = stats.resamples(numbers, RESAMPLES, np.random.default_rng(seed))
    parts = [_measured(old, new, success, counts) for counts in drawn]
    found = {name: stats.interval(np.concatenate([part[name] for part in parts])) for name in parts[0] if name in names}
    return {name: (low, high) for name, (low, high) in found.items() if low is not None and high is not None}


TAG = "shadow"


def shadow_run(
    episodes: Path,
    baseline: Path,
    weights: Path | None,
    policy: Mapping[str, Any],
    *,
    seed: int,
    limits: Thresholds,
    tag: str = TAG,
    live_n: int | None = None,
    made_from: Sequence[Path] = (),
) -> tuple[Report, Path]:
    """The report and its path. `episodes` is a file of scored episodes.

    `weights`: None before any calibration; the new score then has the prior weights. `policy`: figures of the policy
    for the report. `live_n` and `made_from`: as in `weight_calib`.
    """
    started = now()
    path = REPORTS / f"shadow_run_{tag}.json"
    read = [episodes, shipped(baseline), *([shipped(weights)] if weights else [])]
    refuse_overlap({"the report": path}, {str(one): one for one in [*read, *made_from]})
    known = read_baseline(baseline)
    prior = Weights(dict(zip(known.names, known.prior, strict=True)))
    chosen = read_weights(weights, limits.weight_max) if weights else prior
    scores = read_columns(episodes, known.names, "shadow", chosen.stand_in)
    old, new = old_and_new(scores.names, known, chosen, str(weights))
    whole, measured = shadow_figures(scores, old, new, seed)
    figures = {
        **measured,
        "weights": str(weights) if weights else "prior",
        "weights_without": sorted(set(known.names) - set(scores.names)),
        **policy,
    }
    checks = [*agreement_checks(whole, limits), live_check(scores, live_n)]
    arguments = {"seed": seed, "tag": tag, "live_n": live_n}
    arguments |= limits.model_dump(include={"spearman_min", "top10_min", "corr_improve_pct_min"})
    done = report("shadow_run", checks, figures, evidence([*read, *made_from], [], arguments, started))
    write_json(path, done)
    return done, path


def old_and_new(names: Sequence[str], known: Baseline, chosen: Weights, where: str) -> tuple[F64, F64]:
    """Old and new weights of these dimensions. The new ones are rescaled to sum to 1 without the missing dimensions."""
    unknown = sorted(set(chosen.weights) - set(known.names))
    if unknown:
        raise BadInput(
            f"the baseline does not know {', '.join(unknown)}",
            where=where,
            remedy="run weight-calib with this baseline, or name the dimension in it",
        )
    found = np.array([chosen.weights.get(name, 0.0) for name in names])
    if not found.sum():
        raise BadInput(
            "only live dimensions have a weight, and no episode is live-scored",
            where=where,
            remedy="set REWARD_LIVE_MODE=1, or run weight-calib",
        )
    return np.array(known.only(names).old), found / found.sum()
