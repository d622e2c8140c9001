"""Compares the trained policy with its base on the same samples: changes, their intervals, and the gates on them.

The bootstrap draws samples, not episodes, and takes the results of both policies on the drawn samples. Most samples
that are hard for one policy are hard for the other too, so this paired interval is narrower. Gates check the point
estimate; the interval is for the reader.

An ablation compares in the same way: the policy trained without the over-clarification penalty is the base there, and
several seeds are several episodes of each sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from askgate_env.types import Episode

from ..config.profile import Thresholds
from ..core.check import Check, check, remedies
from ..core.errors import BadInput
from ..reward.rank_statistics import DIGITS, ratio
from .metrics import F64, HARD_READING, NAMES, Figure, figures, is_right, is_share, table

RESAMPLES = 2000
AT_ONCE = 100
"""Resamples in one block."""
ABLATION_THRESHOLDS = {"overclar_change_pct_max", "overclar_small", "turns_change_max", "success_drop_points_max"}
"""Thresholds of a profile that the ablation is checked against."""
ABLATION_FIGURES = (
    "overclar_rate", "avg_turns", "success", "need_ask_success", "question_precision", "question_recall", "question_f1",
    "ask_precision", "ask_recall",
)  # fmt: skip
OUTCOMES = {(False, True): "gained", (True, False): "lost", (True, True): "both_right", (False, False): "both_wrong"}
"""Group of a sample by whether the base and the trained policy got it right."""
RIGHT_SHARE = 0.5
"""Share of a sample's episodes that must be right for the sample to count as right."""


class Change(Struct, frozen=True):
    base: Figure
    trained: Figure
    delta: float | None
    """Trained less base, and its paired 95% bootstrap interval."""
    low: float | None
    high: float | None
    delta_pp: float | None
    """The change in percentage points; None if the figure is not a share."""


class Side:
    """The episodes of one policy, with their figures, table and resamples, which are computed once."""

    def __init__(self, episodes: Sequence[Episode], seed: int) -> None:
        """`seed`: of the bootstrap; both sides of a comparison must have the same."""
        self.seed, self.facts = seed, Counter(map(sample_facts, episodes))
        self.episodes = sorted(episodes, key=lambda one: one.sample_id)

    @cached_property
    def figures(self) -> dict[str, Figure]:
        return figures(self.episodes, self.table)

    @cached_property
    def table(self) -> F64:
        return table(self.episodes)

    @cached_property
    def resampled(self) -> F64:
        """The figures in each bootstrap resample. The episodes of a sample are drawn together."""
        firsts = np.unique([one.sample_id for one in self.episodes], return_index=True)[1]
        if not len(firsts):
            return np.full((len(NAMES), 1), np.nan)
        part, drawn = np.add.reduceat(self.table, firsts, axis=2), _resamples(len(firsts), self.seed)
        # Sums of small integers are exact in single precision. Not `@`, because its threads cost more than they save on
        # such small matrices, above all during a training run.
        single = part.astype(np.float32)
        sums = [np.einsum("kfn,nt->kft", single, times.astype(np.float32)) for times in drawn]
        return ratio(*np.concatenate(sums, axis=2).astype(np.float64))


@lru_cache(maxsize=1)
def _resamples(n: int, seed: int) -> list[NDArray[np.uint16]]:
    """Number of times that each of `n` samples is in each resample, in blocks of resamples."""
    rng = np.random.default_rng(seed)
    counts = (rng.multinomial(n, np.full(n, 1 / n), size=AT_ONCE) for _ in range(RESAMPLES // AT_ONCE))
    return [one.T.astype(np.uint16) for one in counts]


def compare(base: Sequence[Episode], trained: Sequence[Episode], seed: int) -> dict[str, Change]:
    """The changes from base to trained policy, which must have run on the same samples equally often.

    For the comparison with a control, pass the control as `base`.
    """
    return compare_sides(Side(base, seed), Side(trained, seed))


def compare_sides(base: Side, trained: Side) -> dict[str, Change]:
    if base.facts != trained.facts:
        differing = next(iter((base.facts - trained.facts) or (trained.facts - base.facts)))
        raise BadInput(
            f"the two policies did not run on the same samples; {differing[0]!r} is one that differs",
            where="comparison",
            remedy="evaluate both on the same file, each sample equally often",
        )
    after, before = (ratio(*side.table.sum(axis=2)) for side in (trained, base))
    delta, then, now = after - before, base.figures, trained.figures
    low, high = _interval(trained.resampled - base.resampled)
    return {
        name: _change(name, then[name], now[name], delta[row], low[row], high[row]) for row, name in enumerate(NAMES)
    }


def compare_shared(base: Sequence[Episode], trained: Sequence[Episode]) -> dict[str, Change]:
    """The changes on the samples that both sets have, with as many episodes of each sample as both have.

    The seed of the bootstrap is that of the evaluation, so an evaluation's own files give the figures of its report.
    """
    shared = Counter(map(sample_facts, base)) & Counter(map(sample_facts, trained))

    def first_shared(episodes: Sequence[Episode]) -> list[Episode]:
        seen = Counter[object]()
        kept = []
        for episode in episodes:
            facts = sample_facts(episode)
            seen[facts] += 1
            if seen[facts] <= shared[facts]:
                kept.append(episode)
        return kept

    return compare(first_shared(base), first_shared(trained), min((one.seed for one in trained), default=0))


def outcome(base: float, trained: float) -> str:
    """Group of a sample by the share of right episodes of both policies.

    >>> outcome(0, 1), outcome(1, 0), outcome(0.5, 1), outcome(0.25, 0)
    ('gained', 'lost', 'both_right', 'both_wrong')
    """
    return OUTCOMES[base >= RIGHT_SHARE, trained >= RIGHT_SHARE]


def outcomes(base: Sequence[Episode], trained: Sequence[Episode]) -> dict[str, str]:
    """Group of each sample that both sets have, by sample id."""
    before, after = _right_shares(base), _right_shares(trained)
    return {name: outcome(share, after[name]) for name, share in before.items() if name in after}


def _right_shares(episodes: Sequence[Episode]) -> dict[str, float]:
    n, right = Counter[str](), Counter[str]()
    for one in episodes:
        n[one.sample_id] += 1
        right[one.sample_id] += is_right(one)
    return {name: right[name] / count for name, count in n.items()}


def trial_checks(changes: dict[str, Change], limits: Thresholds) -> list[Check]:
    """The gates on a trained policy. A figure that could not be measured does not pass."""
    remedy, rate = remedies("evaluation"), changes["overclar_rate"]
    base, trained = rate.base.value, rate.trained.value
    need_ask, hard = changes["need_ask_success"].delta_pp, changes[f"success_{HARD_READING}"].delta_pp
    relative = round((trained - base) / base, DIGITS) if base and trained is not None else None
    for_need = remedy["need_ask_success" if need_ask is not None else "need_ask_unmeasured"]
    for_hard = remedy["success_hard" if hard is not None else "success_hard_unmeasured"]
    return [
        check("need_ask_success_pp", need_ask, ">=", limits.need_ask_pp_min, *for_need),
        overclar_check(rate, "overclar_relative", relative, limits.overclar_change_pct_max / 100, limits, "overclar"),
        check("avg_turns_change", changes["avg_turns"].delta, "<=", limits.turns_change_max, *remedy["avg_turns"]),
        check("success_hard_pp", hard, ">=", limits.hard_pp_min, *for_hard),
    ]


def overclar_check(rate: Change, name: str, fall: float | None, most: float, limits: Thresholds, remedy: str) -> Check:
    """The check of the relative change of the over-clarification rate, or of the rate itself if the base's is small."""
    texts = remedies("evaluation")[remedy]
    if rate.base.value is not None and rate.base.value < limits.overclar_small:
        return check("overclar_rate", rate.trained.value, "<", limits.overclar_small, *texts)
    return check(name, fall, "<=", most, *texts)


def sample_facts(episode: Episode) -> tuple[str, str, str | None, bool]:
    """Id, task, level and need of an episode's sample: what two episodes must share to be compared."""
    return episode.sample_id, episode.task, episode.level, episode.needs_clarification


def _interval(deltas: F64) -> tuple[F64, F64]:
    """Ends of the 95% interval of each figure, from its change in each resample."""
    ends = np.full((2, len(NAMES)), np.nan)
    gaps = np.isnan(deltas).sum(axis=1)
    ends[:, gaps == 0] = np.percentile(deltas[gaps == 0], [2.5, 97.5], axis=1)
    # Resamples without a sample to measure the figure on are left out.
    some = (gaps > 0) & (gaps < deltas.shape[1])
    ends[:, some] = np.nanpercentile(deltas[some], [2.5, 97.5], axis=1)
    return ends[0], ends[1]


def _change(name: str, base: Figure, trained: Figure, delta: Any, low: Any, high: Any) -> Change:
    moved, least, most = (None if np.isnan(value) else round(float(value), DIGITS) for value in (delta, low, high))
    points = round(100 * moved, DIGITS - 2) if moved is not None and is_share(name) else None
    return Change(base, trained, moved, least, most, points)


class SeedPair(Struct, frozen=True):
    """Held-out episodes of the two policies of an ablation with one seed: trained without and with the penalty. Both
    runs had the same base, seed, samples and steps."""

    seed: int
    without: Sequence[Episode]
    with_penalty: Sequence[Episode]


def ablation_checks(changes: dict[str, Change], limits: Thresholds) -> list[Check]:
    """The gates on the ablation. `changes`: the policy with the penalty, less the one without."""
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
    """The change of a rate in percent of that without the penalty; None if that is 0."""
    without, now = change.base.value, change.trained.value
    return round(100 * (now - without) / without, DIGITS) if without and now is not None else None


def ablation_figures(pairs: Sequence[SeedPair], seed: int) -> tuple[dict[str, Change], dict[str, Any]]:
    """The changes over all seeds, which the gates check, and the figures of the report."""
    without = [episode for one in pairs for episode in one.without]
    with_penalty = [episode for one in pairs for episode in one.with_penalty]
    changes = compare(without, with_penalty, seed)
    by_seed = [changes] if len(pairs) == 1 else [compare(one.without, one.with_penalty, seed) for one in pairs]
    return changes, {
        "samples": len({episode.sample_id for episode in with_penalty}),
        "overclar_change_pct": overclar_change_pct(changes["overclar_rate"]),
        "without": {name: changes[name].base for name in ABLATION_FIGURES},
        "with": {name: changes[name].trained for name in ABLATION_FIGURES},
        "changes": _headline(changes),
        "seeds": [{"seed": one.seed, "changes": _headline(found)} for one, found in zip(pairs, by_seed, strict=True)],
    }


def _headline(measured: Mapping[str, Any]) -> dict[str, Any]:
    return {name: measured[name] for name in ABLATION_FIGURES}
