"""Figures of a policy with intervals, from its episodes: over all of them, by task and by difficulty.

Every figure is a sum over a count (`over-clarified` over `nothing was missing`, `turns` over `episodes`), so that the
same table gives the figures here and their resamples in `compare`.

Several episodes of one sample, such as those of several seeds, do not count as several samples. If they all have the
same result, the interval is as wide as that of a single seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from statistics import fmean

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from askgate_env.reward import achieved
from askgate_env.types import LEVELS, TASKS, Episode

F64 = NDArray[np.float64]
Z95 = 1.959963984540054


def is_right(episode: Episode) -> bool:
    """Whether the answer is right, lucky guess or not, as `success` counts it.

    In the task `detect`, which has no right answers: whether the policy asked exactly where it had to, and answered.
    """
    return achieved(episode) if episode.task == "detect" else episode.success


def is_lucky(episode: Episode) -> bool:
    """Whether the answer is right though the policy did not receive the missing information."""
    return episode.needs_clarification and episode.success and not episode.received_info


def _obtained(episode: Episode) -> bool:
    """Whether the missing information was obtained by asking."""
    return episode.needs_clarification and episode.received_info and episode.asks > 0


MEASURES: dict[str, Callable[[Episode], tuple[float, float]]] = {
    "success": lambda one: (one.success, one.task != "detect"),
    "need_ask_success": lambda one: (one.need_ask_success, one.needs_clarification and one.task != "detect"),
    "overclar_rate": lambda one: (not one.needs_clarification and one.asks > 0, not one.needs_clarification),
    # By question. A sample lacks one piece of information, so one ask of an episode can be informative, and F1, the
    # harmonic mean of informative/asks and informative/needed, is 2 informative / (asks + needed).
    "question_precision": lambda one: (_obtained(one), one.asks),
    "question_recall": lambda one: (_obtained(one), one.needs_clarification),
    "question_f1": lambda one: (2 * _obtained(one), one.asks + one.needs_clarification),
    # By episode: whether it asked at all.
    "ask_precision": lambda one: (one.needs_clarification and one.asks > 0, one.asks > 0),
    "ask_recall": lambda one: (one.needs_clarification and one.asks > 0, one.needs_clarification),
    "lucky_guess_rate": lambda one: (is_lucky(one), one.needs_clarification),
    "avg_turns": lambda one: (one.policy_turns, 1),
}
HARD_READING = "hard_hotpotqa_strategyqa"
"""The bucket that gates check: hard questions of the two tasks that need reading, not computing."""
SCOPES = ("", *TASKS, *LEVELS, HARD_READING)
NAMES = [f"{measure}_{scope}".rstrip("_") for scope in SCOPES for measure in MEASURES]
"""`success`, `success_gsm8k`, `overclar_rate_hard`, `avg_turns_easy` and so on."""


class Figure(Struct, frozen=True):
    value: float | None
    """None if there was nothing to measure it on."""
    low: float | None
    high: float | None
    """95% interval: Wilson's for a share, the normal one for a mean. Samples are the units, not episodes."""
    n: int
    """Episodes that it was measured on."""


def table(episodes: Sequence[Episode]) -> F64:
    """Contribution of each episode to the sum and the count of each figure: shape (2, figures by `NAMES`, episodes)."""
    parts = [[measure(one) for measure in MEASURES.values()] for one in episodes]
    parts_2MN = np.array(parts, dtype=np.float64).reshape(len(episodes), len(MEASURES), 2).T
    inside_SN = np.array([[scope in own for own in map(_scopes_of, episodes)] for scope in SCOPES])
    return np.where(inside_SN[:, None], parts_2MN[:, None], 0.0).reshape(2, len(NAMES), len(episodes))


def _scopes_of(episode: Episode) -> list[str]:
    own = ["", *([episode.task] if episode.task in TASKS else []), *([episode.level] if episode.level else [])]
    read = episode.level == "hard" and episode.task in ("hotpotqa", "strategyqa")
    return [*own, HARD_READING] if read else own


def figures(episodes: Sequence[Episode], computed: F64 | None = None) -> dict[str, Figure]:
    """Every figure by name. `computed`: the table of these episodes, if the caller has it."""
    sample_N = np.unique([episode.sample_id for episode in episodes], return_inverse=True)[1]
    rows = zip(NAMES, *(table(episodes) if computed is None else computed), strict=True)
    return {name: _figure(name, sums, counts, sample_N) for name, sums, counts in rows}


LOGGED = "eval/"
"""Prefix of held-out figures in the log of the steps."""


def mean_reward(episodes: Sequence[Episode]) -> float:
    """Mean of the total rewards."""
    return fmean(sum(one.reward.values()) for one in episodes)


def flat(measured: Mapping[str, Figure]) -> dict[str, float]:
    """The values of the figures that could be measured, for a log."""
    return {name: figure.value for name, figure in measured.items() if figure.value is not None}


def _figure(name: str, sums: F64, counts: F64, sample_N: NDArray[np.intp]) -> Figure:
    n = int(counts.sum())
    if n == 0:
        return Figure(None, None, None, 0)
    value = float(sums.sum() / n)
    of_sample = np.bincount(sample_N, weights=counts)
    samples = int((of_sample > 0).sum())
    # Deviation of every sample. Its episodes are added up first, because they are not independent.
    deviation = np.bincount(sample_N, weights=sums - value * counts)[of_sample > 0]
    variance = float((deviation**2).sum()) / n**2
    if not is_share(name):
        reach = Z95 * sqrt(variance * samples / (samples - 1)) if samples > 1 else None
        return Figure(value, None if reach is None else value - reach, None if reach is None else value + reach, n)
    return Figure(value, *wilson(value, _effective_n(value, variance, n, samples)), n)


def _effective_n(share: float, variance: float, n: int, samples: int) -> float:
    """Number of independent episodes with the same variance: `n` if every episode has its own sample, else fewer."""
    if samples == n:
        return n
    if share in (0, 1):
        return samples
    return min(n, share * (1 - share) / variance) if variance else n


def is_share(name: str) -> bool:
    """Whether a figure is a share. Only means (`avg_...`) are not."""
    return not name.startswith("avg_")


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95% interval of a share: it stays in 0..1 and is not empty at 0 and 1.

    >>> [round(end, 3) for end in wilson(0.5, 10)], [round(end, 3) for end in wilson(0.0, 20)]
    ([0.237, 0.763], [0.0, 0.161])
    """
    square = Z95 * Z95 / n
    centre = (share + square / 2) / (1 + square)
    reach = Z95 * sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    return max(0.0, centre - reach), min(1.0, centre + reach)
