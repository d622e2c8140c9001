"""The reward that is trained on, as a sum of terms:

    outcome + info + overclar + dim/... [+ difficulty]

- `outcome`: `outcome` for success (`achieved`). Where something is missing, success without having asked for it is a
  lucky guess, which earns nothing: else guessing yes or no would pay half the time.
- `info`: `info` where something was missing and an ask brought it, whatever the answer. So asking is rewarded even
  if the policy cannot use the reply yet.
- `overclar`: minus the over-clarification penalty, `alpha * min(asks, cap)` where nothing is missing.
- `dim/support`, `dim/economy` and so on: the calibrated dimensions (`AdvancedReward`), worth `reward.dimensions`
  together, where the config names their weights.
- `difficulty` (if `beta` > 0): `base * beta * s`, where `base` is the sum of the terms above and `s` is +1 for hard, 0
  for medium and -1 for easy samples.

No dimension sees the gold answer or the hidden span: whether the answer is right is the outcome term alone.

    reward = AdvancedReward({"support": 0.6, "asking": 0.4})
    reward(episode, sample)                    # {"support": 0.26, "asking": 0.18, ...}: the terms sum to the reward
    reward(episode, sample, judge_scores)      # with the judge's {"logic": 0.7, ...} where it scored the episode
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from .dimensions import LIVE, RULES, Dimension
from .episode_view import view_episode
from .old_reward import OLD
from .types import Episode, Level, Sample
from .user_simulator import informs

OVERCLAR_ALPHA, OVERCLAR_CAP = 0.07, 3
"""The over-clarification penalty: penalty of one needless ask, and maximum number of asks that are penalized."""
DIMENSION = "dim/"
STRENGTH: dict[Level, int] = {"easy": -1, "medium": 0, "hard": 1}
BY_RULE: Mapping[str, Dimension] = {**OLD, **RULES}
NAMES = (*BY_RULE, *LIVE)
"""All dimensions that a weights file may name, in their order."""


@dataclass(frozen=True)
class TrainingReward:
    """The reward of an episode by term. The terms sum to what is trained on."""

    outcome: float = 1.0
    """Reward of a right answer."""
    info: float = 0.0
    """Reward of an ask that brings what is missing; at most once an episode."""
    alpha: float = OVERCLAR_ALPHA
    """Penalty of a needless ask; 0 switches it off."""
    cap: int = OVERCLAR_CAP
    """Maximum number of needless asks that are penalized."""
    beta: float = 0.0
    """Strength of the difficulty weighting; 0 switches it off."""
    dimensions: AdvancedReward | None = None
    """Dimensions to add to the reward; None for no dimensions."""

    def __call__(self, episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None) -> dict[str, float]:
        """The terms of the reward. `judged` are the judge's scores, where it scored the episode."""
        terms = {"outcome": self.outcome * achieved(episode)}
        if self.info:
            terms["info"] = self.info * (episode.needs_clarification and episode.received_info)
        if self.alpha:
            penalty = over_clarification_penalty(episode.needs_clarification, episode.asks, self.alpha, self.cap)
            terms["overclar"] = 0.0 - penalty
        if self.dimensions:
            rated = self.dimensions(episode, sample, judged)
            terms |= {f"{DIMENSION}{name}": value for name, value in rated.items()}
        if self.beta:
            strength = STRENGTH[episode.level] if episode.level else 0
            terms["difficulty"] = sum(terms.values()) * self.beta * strength
        return terms

    def by_turn(self, episode: Episode) -> list[float]:
        """Reward that each turn of the policy earns at once: `info` for an ask, and the penalty of a needless
        ask. The rest of the reward arrives with the last turn."""
        earned: list[float] = []
        asks, unpaid = 0, episode.received_info
        for turn, reply in zip_longest(episode.turns, episode.turns[1:]):
            if turn.by != "assistant":
                continue
            value = 0.0
            if turn.act == "ask":
                asks += 1
                if not episode.needs_clarification:
                    value = -self.alpha * (asks <= self.cap)
                elif unpaid and reply is not None and informs(reply.text):
                    value, unpaid = self.info, False
            earned.append(value)
        return earned


def achieved(episode: Episode) -> bool:
    """Whether the answer is right and, where something was missing, was asked for.

    In the task `detect`, which has no right answers: whether the policy asked exactly where it had to, and answered.
    """
    if episode.task == "detect":
        asked_well = episode.received_info if episode.needs_clarification else episode.asks == 0
        return asked_well and episode.answer is not None
    return episode.need_ask_success if episode.needs_clarification else episode.success


def over_clarification_penalty(
    needs_clarification: bool, asks: int, alpha: float = OVERCLAR_ALPHA, cap: int = OVERCLAR_CAP
) -> float:
    """The penalty for asking where nothing is missing: `alpha * min(asks, cap)`; 0 where something was missing.

    >>> over_clarification_penalty(False, 1)
    0.07
    >>> over_clarification_penalty(False, 5) == over_clarification_penalty(False, 3)
    True
    >>> over_clarification_penalty(True, 5)
    0.0
    """
    return 0.0 if needs_clarification else alpha * min(asks, cap)


@dataclass(frozen=True)
class AdvancedReward:
    """Dimensions by rules and by a judge, aggregated with calibrated weights.

    Only dimensions with a weight are computed, and the judge is paid only if a live dimension has one.
    """

    weights: Mapping[str, float]
    """Weight of each dimension; together 1."""
    scale: float = 1.0
    """Reward of a perfect episode."""
    stand_in: Mapping[str, float] = field(default_factory=dict)
    """Values for the live dimensions of episodes that the judge did not score."""

    @property
    def wants_judge(self) -> bool:
        return any(name in LIVE for name in self.weights)

    def __call__(self, episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None) -> dict[str, float]:
        """The terms by dimension; they sum to the reward, which is in 0..`scale`.

        `judged` are the judge's scores under its own names. An episode that it did not score gets the judge's mean
        scores of the calibration. If the weights come without these, only the dimensions by rule count, rescaled to the
        same total. So being scored is no advantage.
        """
        view = view_episode(episode, sample)
        values = {name: BY_RULE[name](view) for name in self.weights if name in BY_RULE}
        live = [name for name in self.weights if name in LIVE]
        if judged is not None:
            values |= {name: judged[LIVE[name]] for name in live}
        elif all(name in self.stand_in for name in live):
            values |= {name: self.stand_in[name] for name in live}
        covered = sum(self.weights[name] for name in values)
        if not covered:
            return {}
        return {name: self.scale * self.weights[name] / covered * value for name, value in values.items()}
