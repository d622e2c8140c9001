"""PPO (Schulman et al. 2017, arXiv:1707.06347) with a critic, for multi-turn episodes.

    ratio     = exp(logp - old_logp)
    loss      = - mean min(ratio * A, clip(ratio, 1 - clip, 1 + clip) * A)          clipped policy objective
                + value_coef * mean max((V - R)^2, (clip(V, V_old +- value_clip) - R)^2) / 2
                - entropy_coef * mean entropy
    reward_t  = - kl_coef * (old_logp - ref_logp), plus the reward or penalty of an ask at the last token of its turn,
                and the rest of the episode's reward at its last token
    A         = GAE(reward, V_old; gamma, lam inside a turn, turn_lam from turn to turn);  R = A + V_old
    A         = (A - mean) / max(std, std_floor) over the batch

Means are over policy tokens, each weighted as its episode. Departures from the paper:

- user and tool tokens are not states of the MDP: the last token of a turn is followed by the first token of the next
  turn;
- a KL penalty against the reference (the warm start, or else the base) is part of the reward, and its coefficient
  adapts (Ziegler et al. 2019, arXiv:1909.08593; see `kl.py`);
- the value loss is clipped too, as in OpenAI's reference code;
- `lam` is 1 by default: the final reward then reaches an ask many tokens earlier, whatever the critic predicts;
- a batch of equal rewards has advantages of 0: whitening would scale them up to noise of variance 1. Without an entropy
  bonus it updates the critic only. `std_floor` makes updates small if rewards hardly differ.

Run it with `strategy: ppo` in a training config.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ..core.api import Batch, Targets
from . import kl
from .flat_layout import at_least, is_equal, is_last, per_token, positive, segment_sum, share


class PPO(kl.AdaptiveKL):
    """The strategy `ppo`."""

    critic = True
    reference = True

    def __init__(
        self,
        *,
        clip: float = 0.2,
        value_clip: float = 0.2,
        value_coef: float = 0.5,
        entropy_coef: float = 0.0,
        kl_coef: float = 0.02,
        target_kl: float | None = 0.03,
        gamma: float = 1.0,
        lam: float = 1.0,
        turn_lam: float = 1.0,
        std_floor: float = 0.1,
        group_size: int = 1,
    ) -> None:
        super().__init__(kl_coef, target_kl)
        self.clip, self.value_clip = positive("clip", clip), positive("value_clip", value_clip)
        self.value_coef, self.entropy_coef = at_least("value_coef", value_coef), at_least("entropy_coef", entropy_coef)
        self.gamma, self.lam, self.turn_lam = share("gamma", gamma), share("lam", lam), share("turn_lam", turn_lam)
        self.std_floor = positive("std_floor", std_floor)
        self.group_size = int(at_least("group_size", group_size, 1))

    def targets(self, batch: Batch) -> Targets:
        old_value_N = _values(batch.value_N)
        last_N = is_last(batch.episode_N)
        reward_N = -self.kl_coef * kl.k1(batch.logp_N, kl.reference_of(batch))
        late_E = batch.reward_E
        if batch.early_N is not None:
            reward_N += batch.early_N
            late_E = late_E - segment_sum(batch.early_N, batch.episode_N, len(late_E))
        reward_N[last_N] += late_E[batch.episode_N[last_N]]
        turn_N = batch.episode_N if batch.turn_N is None else batch.turn_N
        lam_N = torch.where(is_last(turn_N), self.turn_lam, self.lam).to(reward_N.dtype)
        advantage_N = gae(reward_N, old_value_N, batch.episode_N, self.gamma, lam_N)
        return_N = advantage_N + old_value_N
        has_signal = not is_equal(batch.reward_E)
        # An entropy bonus has a gradient even if all rewards are equal.
        teaches_E = torch.full_like(batch.group_E, has_signal or self.entropy_coef > 0, dtype=torch.bool)
        self._batch_metrics = {
            **kl.metrics(batch),
            "value_explained": _explained_variance(return_N, old_value_N),
            "teaching_share": float(teaches_E.float().mean()),
        }
        whitened_N = whiten(advantage_N, batch.weight_E[batch.episode_N], self.std_floor)
        return {"advantage_N": whitened_N * has_signal, "return_N": return_N, "teaches_E": teaches_E}

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        pg_loss = per_token(policy_loss(logp_N, part.logp_N, targets["advantage_N"], self.clip), part)
        value_loss_N = value_loss(_values(value_N), _values(part.value_N), targets["return_N"], self.value_clip)
        v_loss = per_token(value_loss_N, part)
        loss = pg_loss + self.value_coef * v_loss - self.entropy_coef * per_token(entropy_N, part)
        metrics = update_metrics(logp_N, entropy_N, part, self.clip)
        return loss, {"policy_loss": pg_loss.detach(), "value_loss": v_loss.detach(), **metrics}


def policy_loss(logp_N: Tensor, old_logp_N: Tensor, advantage_N: Tensor, clip: float) -> Tensor:
    """The clipped PPO objective of each token, negated. GRPO uses it too."""
    ratio_N = torch.exp(logp_N - old_logp_N)
    return -torch.minimum(ratio_N * advantage_N, ratio_N.clamp(1 - clip, 1 + clip) * advantage_N)


def value_loss(value_N: Tensor, old_value_N: Tensor, return_N: Tensor, clip: float) -> Tensor:
    """Clipped value loss per token: half of the larger squared error, that of the value or that of the value clipped to
    `old_value ± clip`."""
    clipped_N = old_value_N + (value_N - old_value_N).clamp(-clip, clip)
    return 0.5 * torch.maximum((value_N - return_N) ** 2, (clipped_N - return_N) ** 2)


def gae(reward_N: Tensor, value_N: Tensor, episode_N: Tensor, gamma: float, lam_N: Tensor | float) -> Tensor:
    """Generalized advantage estimation (Schulman et al. 2015, arXiv:1506.02438).

    `lam_N`: lambda from each token to the next, or one number for all. The value after the last token of an episode is
    0. Tokens of user and tools are not in the layout.
    """
    next_N = torch.zeros_like(value_N)
    next_N[:-1] = value_N[1:]
    next_N = next_N.masked_fill(is_last(episode_N), 0)
    return discounted(reward_N + gamma * next_N - value_N, episode_N, gamma * lam_N)


def discounted(x_N: Tensor, episode_N: Tensor, factor_N: Tensor | float) -> Tensor:
    """The discounted sum of x from each token to the end of its episode; `factor_N`: from each token to the next.

    By doubling: after round k each token holds the sum over its next 2**k tokens, and the product of its next 2**k
    factors. So a batch of N tokens takes log2(N) rounds instead of N.
    """
    total_N, step = x_N.clone(), 1
    product_N = torch.zeros_like(x_N) + factor_N
    while step < x_N.numel():
        same = episode_N[step:] == episode_N[:-step]
        total_N[:-step] += product_N[:-step] * torch.where(same, total_N[step:], 0)
        product_N[:-step] *= product_N[step:].clone()
        step *= 2
    return total_N


def whiten(x_N: Tensor, weight_N: Tensor, floor: float = 1e-8) -> Tensor:
    """Scales to weighted mean 0 and variance 1; a standard deviation below `floor` counts as `floor`. A batch whose
    weights are all 0 is returned unchanged."""
    total = weight_N.sum()
    if not total > 0:
        return x_N
    mean = (weight_N * x_N).sum() / total
    variance = (weight_N * (x_N - mean) ** 2).sum() / total
    return (x_N - mean) / variance.sqrt().clamp(min=floor)


def update_metrics(logp_N: Tensor, entropy_N: Tensor, part: Batch, clip: float) -> dict[str, Tensor]:
    """Entropy, and the share of tokens whose ratio is outside the clip range."""
    part = replace(part, divisor=None)  # plain means over the tokens of `part`
    with torch.no_grad():
        ratio_N = torch.exp(logp_N - part.logp_N)
        return {
            "entropy": per_token(entropy_N, part),
            "clip_share": per_token(((ratio_N - 1).abs() > clip).to(ratio_N.dtype), part),
        }


def _values(value_N: Tensor | None) -> Tensor:
    if value_N is None:
        raise ValueError("PPO needs the critic's values")
    return value_N


def _explained_variance(return_N: Tensor, value_N: Tensor) -> float:
    """Explained variance of the returns. 1: the critic predicts every return; 0: no better than their mean."""
    if return_N.numel() < 2:
        return 0.0
    variance = torch.var(return_N)
    return float(1 - torch.var(return_N - value_N) / variance) if variance > 0 else 0.0
