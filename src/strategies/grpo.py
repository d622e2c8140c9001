"""GRPO (Shao et al. 2024, arXiv:2402.03300): several episodes of each sample, compared with each other; no critic.

    A     = (r - mean of the group) / (std of the group + 1e-4)         without the division: divide_by_std=False
    loss  = mean [ -min(ratio * A, clip(ratio, 1 - clip, 1 + clip) * A) + kl_coef * ratio * k3(logp, ref_logp) ]
            - entropy_coef * mean entropy

Means are over policy tokens, each weighted as its episode. Departures from the paper:

- the loss is averaged over tokens, not first over episodes (DAPO, arXiv:2503.14476), so that the tokens of a long
  episode count as much as those of a short one;
- a group of equal rewards has no signal: its advantages are 0, and its KL term and its entropy are left out of the
  loss, so an engine can skip its passes (`teaches_E` is False); its tokens still count in the means;
- the KL term is weighted by the ratio, so that its gradient is that of KL(policy, base) (see `kl.steering`);
- the KL coefficient adapts to a target (see `kl.py`).

Run it with `strategy: grpo` in a training config.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.api import Batch, Targets
from . import kl
from .flat_layout import EQUAL_REWARDS, at_least, per_token, positive, renumber, segment_mean, segment_sum
from .ppo import policy_loss, update_metrics

STD_EPSILON = 1e-4
"""Added to a group's standard deviation, as TRL does."""


class GRPO(kl.AdaptiveKL):
    """The strategy `grpo`."""

    critic = False
    reference = True

    def __init__(
        self,
        *,
        clip: float = 0.2,
        kl_coef: float = 0.02,
        target_kl: float | None = 0.03,
        entropy_coef: float = 0.0,
        divide_by_std: bool = True,
        group_size: int = 8,
    ) -> None:
        super().__init__(kl_coef, target_kl)
        self.clip, self.divide_by_std = positive("clip", clip), divide_by_std
        self.entropy_coef = at_least("entropy_coef", entropy_coef)
        self.group_size = int(at_least("group_size", group_size, 2))

    def targets(self, batch: Batch) -> Targets:
        advantage_E, teaches_E = group_advantages(batch.reward_E, batch.group_E, self.divide_by_std)
        self._batch_metrics = {**kl.metrics(batch), "teaching_share": float(teaches_E.float().mean())}
        return {
            "advantage_N": advantage_E[batch.episode_N],
            "teaches_N": teaches_E[batch.episode_N].to(batch.logp_N.dtype),
            "teaches_E": teaches_E,
        }

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        teaches_N = targets["teaches_N"]
        pg_loss = per_token(policy_loss(logp_N, part.logp_N, targets["advantage_N"], self.clip), part)
        kl_loss = per_token(kl.steering(logp_N, part.logp_N, kl.reference_of(part)) * teaches_N, part)
        loss = pg_loss + self.kl_coef * kl_loss - self.entropy_coef * per_token(entropy_N * teaches_N, part)
        metrics = update_metrics(logp_N, entropy_N, part, self.clip)
        return loss, {"policy_loss": pg_loss.detach(), "kl_loss": kl_loss.detach(), **metrics}


def group_advantages(reward_E: Tensor, group_E: Tensor, divide_by_std: bool) -> tuple[Tensor, Tensor]:
    """The advantage of each episode within its group, and whether the rewards of its group differ.

    The standard deviation is that of a sample (n - 1). In a group of equal rewards all advantages are exactly 0.
    """
    number_E, count = renumber(group_E)
    advantage_E = reward_E - segment_mean(reward_E, number_E, count)[number_E]
    differs_G = segment_sum((advantage_E.abs() > EQUAL_REWARDS).to(advantage_E.dtype), number_E, count) > 0
    advantage_E = torch.where(differs_G[number_E], advantage_E, 0)
    if divide_by_std:
        size_G = segment_sum(torch.ones_like(advantage_E), number_E, count)
        variance_G = segment_sum(advantage_E**2, number_E, count) / (size_G - 1).clamp(min=1)
        advantage_E = advantage_E / (variance_G.sqrt() + STD_EPSILON)[number_E]
    return advantage_E, differs_G[number_E]
