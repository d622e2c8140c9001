"""PPO with a critic: GAE over policy tokens, a KL penalty inside the reward, clipped policy and value losses."""

from __future__ import annotations

import torch
from torch import Tensor

from ..core.api import Batch, Targets
from . import kl
from .advantages import gae, whiten
from .clipped import moved, policy_loss, value_loss
from .flat import is_last, per_token
from .options import at_least, positive, share
from .steered import Steered


class PPO(Steered):
    """The reward of an episode arrives with its last token; each token pays for how far it is from the reference."""

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
        lam: float = 0.95,
        group_size: int = 1,
    ) -> None:
        super().__init__(kl_coef, target_kl)
        self.clip, self.value_clip = positive("clip", clip), positive("value_clip", value_clip)
        self.value_coef, self.entropy_coef = at_least("value_coef", value_coef), at_least("entropy_coef", entropy_coef)
        self.gamma, self.lam = share("gamma", gamma), share("lam", lam)
        self.group_size = int(at_least("group_size", group_size, 1))

    def targets(self, batch: Batch) -> Targets:
        old_value_N = _values(batch.value_N)
        last_N = is_last(batch.episode_N)
        reward_N = -self.kl_coef * kl.k1(batch.logp_N, kl.reference_of(batch))
        reward_N[last_N] += batch.reward_E[batch.episode_N[last_N]]
        advantage_N = gae(reward_N, old_value_N, batch.episode_N, self.gamma, self.lam)
        return_N = advantage_N + old_value_N
        self._seen = {**kl.figures(batch), "value_explained": _explained(return_N, old_value_N)}
        return {
            "advantage_N": whiten(advantage_N, batch.weight_E[batch.episode_N]),
            "return_N": return_N,
        }

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        policy = per_token(policy_loss(logp_N, part.logp_N, targets["advantage_N"], self.clip), part)
        value_loss_N = value_loss(_values(value_N), _values(part.value_N), targets["return_N"], self.value_clip)
        value = per_token(value_loss_N, part)
        loss = policy + self.value_coef * value - self.entropy_coef * per_token(entropy_N, part)
        figures = moved(logp_N, entropy_N, part, self.clip)
        return loss, {"policy_loss": policy.detach(), "value_loss": value.detach(), **figures}


def _values(value_N: Tensor | None) -> Tensor:
    if value_N is None:
        raise ValueError("PPO needs the critic's values")
    return value_N


def _explained(return_N: Tensor, value_N: Tensor) -> float:
    """1: the critic foresaw every return; 0: no better than their mean."""
    if return_N.numel() < 2:
        return 0.0
    variance = torch.var(return_N)
    return float(1 - torch.var(return_N - value_N) / variance) if variance > 0 else 0.0
