"""The reward of an episode, taken apart by term: what came out, what needless asking costs, how it was done.

- `outcome`: the weight of success. Where something is missing, success without having been told it is a lucky guess;
  it is counted and shown by the evaluation, but it earns nothing, else guessing yes or no would pay half the time.
- `overclar`: less the over-clarification penalty.
- `dim/support`, `dim/economy` and so on: the calibrated dimensions, where the config names their weights. They are
  worth `reward.dimensions` together. For an episode that the judge did not see its means of the calibration stand in;
  weights without such means leave the rules alone, scaled up to the same worth. Dimensions without a weight are neither
  computed nor paid for.
- `difficulty`: what `base * (1 + beta * (hard - easy))` adds to the base, the sum of the terms above, where it is
  switched on.

The terms sum to what is trained on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.types import Episode, Level, Sample
from .new_score import AdvancedReward
from .overclar_penalty import ALPHA, CAP, over_clarification_penalty

DIMENSION = "dim/"
STRENGTH: dict[Level, int] = {"easy": -1, "medium": 0, "hard": 1}


@dataclass(frozen=True)
class OutcomeReward:
    weight: float = 1.0
    alpha: float = ALPHA
    """0 switches the penalty off."""
    cap: int = CAP
    beta: float = 0.0
    """0 switches the difficulty weighting off."""
    dimensions: AdvancedReward | None = None
    """None: what came out is all that counts."""

    def __call__(self, episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None) -> dict[str, float]:
        """`judged` are the judge's scores, where it was asked."""
        terms = {"outcome": self.weight * achieved(episode)}
        if self.alpha:
            penalty = over_clarification_penalty(episode.needs_clarification, episode.asks, self.alpha, self.cap)
            terms["overclar"] = 0.0 - penalty
        if self.dimensions:
            rated = self.dimensions(episode, sample, judged)
            terms |= {f"{DIMENSION}{name}": worth for name, worth in rated.items()}
        if self.beta:
            strength = STRENGTH[episode.level] if episode.level else 0
            terms["difficulty"] = sum(terms.values()) * self.beta * strength
        return terms


def achieved(episode: Episode) -> bool:
    """Right, and where something was missing also asked for."""
    return episode.need_ask_success if episode.needs_clarification else episode.success
