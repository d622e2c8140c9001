"""The new reward: rule dimensions and live-scored ones, aggregated with calibrated weights.

    reward = AdvancedReward.load(Path("configs/weights.json"))
    reward(episode, sample)                    # {"support": 0.26, "asking": 0.18, ...}: the terms sum to the reward
    reward(episode, sample, judge_scores)      # with the judge's {"logic": 0.7, ...} where it was asked

Whether the answer is right is no part of it: no dimension sees the gold answer or the hidden span. That is the outcome
term, separate and with a weight of its own (`outcome`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ..core.errors import BadInput
from ..core.types import Episode, Sample
from .dimensions import LIVE, RULES, Dimension, see
from .old_reward import OLD
from .weights import WEIGHTS, read_weights

BY_RULE: Mapping[str, Dimension] = {**OLD, **RULES}
NAMES = (*BY_RULE, *LIVE)
"""All dimensions that a weights file may name, in their order."""


@dataclass(frozen=True)
class AdvancedReward:
    """Only dimensions with a weight are computed, and only those of the judge that have one are to be paid for."""

    weights: Mapping[str, float]
    """By dimension; together 1."""
    scale: float = 1.0
    """What a perfect episode is worth."""
    stand_in: Mapping[str, float] = field(default_factory=dict)
    """For the judge's dimensions where it was not asked."""

    @classmethod
    def load(cls, path: Path = WEIGHTS, scale: float = 1.0) -> Self:
        """Refuses weights that are negative, above 0.5, do not sum to 1, or are of a dimension that nobody knows."""
        found = read_weights(path)
        weights = found.weights
        strange = sorted(set(weights) - set(NAMES))
        if strange:
            raise BadInput(
                f"there is no dimension {', '.join(strange)}",
                where=str(path),
                remedy=f"run weight_calib; the dimensions are {', '.join(NAMES)}",
            )
        return cls({name: weight for name, weight in weights.items() if weight > 0}, scale, found.stand_in)

    @property
    def wants_judge(self) -> bool:
        return any(name in LIVE for name in self.weights)

    def __call__(self, episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None) -> dict[str, float]:
        """The terms by dimension; they sum to the reward, which lies in 0..`scale`.

        `judged` are the judge's scores under its own names. For an episode that the judge did not see its means stand
        in, where the weights tell them; else it is rated by the rules alone, at the full scale. Either way asking the
        judge about a share of the episodes favours none of them.
        """
        seen = see(episode, sample)
        values = {name: BY_RULE[name](seen) for name in self.weights if name in BY_RULE}
        live = [name for name in self.weights if name in LIVE]
        if judged is not None:
            values |= {name: judged[LIVE[name]] for name in live}
        elif all(name in self.stand_in for name in live):
            values |= {name: self.stand_in[name] for name in live}
        covered = sum(self.weights[name] for name in values)
        if not covered:
            return {}
        return {name: self.scale * self.weights[name] / covered * value for name, value in values.items()}
