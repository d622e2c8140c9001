"""The clipped objective of PPO, for tokens, and what it tells about itself. GRPO uses it too."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.api import Batch
from . import kl
from .flat import per_token


def policy_loss(logp_N: Tensor, old_logp_N: Tensor, advantage_N: Tensor, clip: float) -> Tensor:
    """For each token: the policy gains from moving towards what was better, up to `1 +- clip` times as likely."""
    ratio_N = torch.exp(logp_N - old_logp_N)
    return -torch.minimum(ratio_N * advantage_N, ratio_N.clamp(1 - clip, 1 + clip) * advantage_N)


def value_loss(value_N: Tensor, old_value_N: Tensor, return_N: Tensor, clip: float) -> Tensor:
    """For each token: half the squared error, the worse of the value and of the value held within `clip` of the old."""
    held_N = old_value_N + (value_N - old_value_N).clamp(-clip, clip)
    return 0.5 * torch.maximum((value_N - return_N) ** 2, (held_N - return_N) ** 2)


def moved(logp_N: Tensor, entropy_N: Tensor, part: Batch, clip: float) -> dict[str, Tensor]:
    """How far the updates have moved the policy from the one that made the episodes."""
    with torch.no_grad():
        ratio_N = torch.exp(logp_N - part.logp_N)
        return {
            "entropy": per_token(entropy_N, part),
            "clip_share": per_token(((ratio_N - 1).abs() > clip).to(ratio_N.dtype), part),
            "kl_old": per_token(kl.k3(part.logp_N, logp_N), part),
        }
