"""GRPO: several episodes of each sample, each measured against the others; no critic."""

from __future__ import annotations

from torch import Tensor

from ..core.api import Batch, Targets
from . import kl
from .advantages import over_group
from .clipped import moved, policy_loss
from .flat import per_token
from .options import at_least, positive
from .steered import Steered


class GRPO(Steered):
    """The loss is averaged over tokens, so a long episode does not count less by the token.

    A group of equal rewards teaches nothing: neither its advantages nor its KL term are in the loss.
    """

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
        advantage_E, teaches_E = over_group(batch.reward_E, batch.group_E, self.divide_by_std)
        self._seen = {**kl.figures(batch), "teaching_share": float(teaches_E.float().mean())}
        return {
            "advantage_N": advantage_E[batch.episode_N],
            "teaches_N": teaches_E[batch.episode_N].to(batch.logp_N.dtype),
        }

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        teaches_N = targets["teaches_N"]
        policy = per_token(policy_loss(logp_N, part.logp_N, targets["advantage_N"], self.clip), part)
        penalty = per_token(kl.steering(logp_N, part.logp_N, kl.reference_of(part)) * teaches_N, part)
        loss = policy + self.kl_coef * penalty - self.entropy_coef * per_token(entropy_N * teaches_N, part)
        figures = moved(logp_N, entropy_N, part, self.clip)
        return loss, {"policy_loss": policy.detach(), "kl_loss": penalty.detach(), **figures}
