"""How far the policy has gone from the frozen base, and a penalty weight that keeps it near a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ..core.api import Batch
from .options import positive


def k1(logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    """log p/q of tokens sampled from p: right on average, may be negative."""
    return logp_N - ref_logp_N


def k2(logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    """Half the square of log p/q: never negative, right only for small differences."""
    return 0.5 * (logp_N - ref_logp_N) ** 2


def k3(logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    """q/p - 1 - log q/p: right on average and never negative."""
    log_ratio_N = ref_logp_N - logp_N
    return torch.expm1(log_ratio_N) - log_ratio_N


def steering(logp_N: Tensor, old_logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    """k3 for a loss: each token counts by how much likelier it has become since it was sampled.

    The gradient of k3 alone is that of another divergence (q against p), and a single token that has become rare would
    rule the step. With the ratio it is, on average, the gradient of KL(p, q).
    """
    return torch.exp(logp_N - old_logp_N) * k3(logp_N, ref_logp_N)


def reference_of(batch: Batch) -> Tensor:
    if batch.ref_logp_N is None:
        raise ValueError("this strategy needs the log-probabilities of the reference")
    return batch.ref_logp_N


def figures(batch: Batch) -> dict[str, float]:
    """The three estimates over the tokens of a batch as it was sampled. `kl` is the one to steer and alert by (k3)."""
    ref_logp_N = reference_of(batch)
    if not batch.logp_N.numel():
        return {"kl": 0.0, "kl_k1": 0.0, "kl_k2": 0.0, "kl_k3": 0.0}
    found = [float(k(batch.logp_N, ref_logp_N).mean()) for k in (k1, k2, k3)]
    return {"kl": found[2], "kl_k1": found[0], "kl_k2": found[1], "kl_k3": found[2]}


class KLControl:
    """The weight of the KL penalty, moved towards a target KL in small proportional steps (Ziegler et al. 2019).

    Without a target the weight stays as it is.
    """

    GAIN = 0.1
    MOST = 0.2
    """A relative error beyond this counts as this much: no batch moves the weight by more than GAIN * MOST."""

    def __init__(self, coef: float, target: float | None) -> None:
        self.coef, self.target = coef, target if target is None else positive("target_kl", target)

    def update(self, kl: float) -> None:
        if self.target is not None:
            error = min(max(kl / self.target - 1, -self.MOST), self.MOST)
            self.coef *= 1 + self.GAIN * error

    def state_dict(self) -> dict[str, Any]:
        return {"kl_coef": self.coef}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.coef = float(state["kl_coef"])
