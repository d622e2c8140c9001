"""K votes on one dialogue: median, variance, and whether more votes are wanted. Pure.

Scores lie in 0..1. A vote that failed is no vote: it never becomes a zero.
"""

from __future__ import annotations

from statistics import fmean, median, pvariance

from ..core.types import Record

MAX_VARIANCE = 0.08
"""Above this the votes disagree: more are asked for, and if they still disagree the sample is unstable."""


class Verdict(Record, frozen=True):
    """What the votes on one dialogue come to. `variance` is the largest of the dimensions'."""

    scores: dict[str, float]
    overall: float
    variance: float
    votes: int
    stable: bool


def settle(votes: list[dict[str, float]], variance_max: float = MAX_VARIANCE) -> Verdict:
    """Median per dimension; overall is the median of the votes' means.

    >>> settle([{"logic": 0.2}, {"logic": 0.4}, {"logic": 1.0}]).scores
    {'logic': 0.4}
    """
    if not votes:
        raise ValueError("no vote arrived, so there is nothing to settle")
    dimensions = list(votes[0])
    variance = max(pvariance([vote[name] for vote in votes]) for name in dimensions)
    return Verdict(
        scores={name: median(vote[name] for vote in votes) for name in dimensions},
        overall=median(fmean(vote.values()) for vote in votes),
        variance=variance,
        votes=len(votes),
        stable=variance <= variance_max,
    )


def votes_wanted(votes: list[dict[str, float]], k: int, k_max: int, variance_max: float = MAX_VARIANCE) -> int:
    """How many more votes to ask for: K at first, then one or two while they disagree, never past `k_max`.

    After K the count is odd, so that the median is one of the votes.

    >>> far_apart = [{"logic": 0.0}, {"logic": 1.0}]
    >>> [votes_wanted(far_apart, k=2, k_max=k_max) for k_max in (2, 3, 4)]
    [0, 1, 1]
    >>> [votes_wanted([*far_apart, {"logic": 0.0}], k=3, k_max=k_max) for k_max in (3, 4, 5)]
    [0, 0, 2]
    """
    if len(votes) < k:
        return k - len(votes)
    if settle(votes, variance_max).stable:
        return 0
    more = 1 + len(votes) % 2
    return more if len(votes) + more <= k_max else 0


def training_weight(variance: float, variance_max: float = MAX_VARIANCE) -> float:
    """How much an unstable sample counts: fully up to the limit, then in proportion, so that noise does not teach.

    >>> training_weight(0.05), training_weight(0.16)
    (1.0, 0.5)
    """
    return 1.0 if variance <= variance_max else variance_max / variance
