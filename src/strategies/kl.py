"""The KL divergence of the policy from the reference: estimators, and a KL coefficient that adapts to a target.

For tokens sampled from the policy p, with reference q and r = q/p of a token (Schulman, "Approximating KL divergence"):

    k1 = -log r              unbiased, may be negative
    k3 = r - 1 - log r       unbiased, never negative
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ..core.api import Batch
from .flat_layout import at_least, positive


def k1(logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    return logp_N - ref_logp_N


def k3(logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    log_ratio_N = ref_logp_N - logp_N
    return torch.expm1(log_ratio_N) - log_ratio_N


def steering(logp_N: Tensor, old_logp_N: Tensor, ref_logp_N: Tensor) -> Tensor:
    """k3 as a loss term, weighted by each token's probability ratio of the current policy to the one that sampled it.

    The gradient of k3 alone is that of the reverse divergence, KL(q, p), and a single token that has become rare would
    dominate the step. With the ratio it is, on average, the gradient of KL(p, q).
    """
    return torch.exp(logp_N - old_logp_N) * k3(logp_N, ref_logp_N)


def reference_of(batch: Batch) -> Tensor:
    """Log-probabilities under the reference, which the engine must have computed."""
    if batch.ref_logp_N is None:
        raise ValueError("this strategy needs the log-probabilities of the reference")
    return batch.ref_logp_N


def metrics(batch: Batch) -> dict[str, float]:
    """The metric `kl`, for the adaptive coefficient and for alerts: the mean k3 of a batch before its updates."""
    ref_logp_N = reference_of(batch)
    return {"kl": float(k3(batch.logp_N, ref_logp_N).mean()) if batch.logp_N.numel() else 0.0}


GAIN = 0.1
MAX_ERROR = 0.2
"""Relative errors are clipped to this, so no batch changes the coefficient by more than GAIN * MAX_ERROR."""


class AdaptiveKL:
    """Base class of PPO and GRPO: a KL penalty with an adaptive coefficient, their only state between steps.

    The coefficient changes in small proportional steps, so that the KL reaches a target (arXiv:1909.08593); without a
    target it is constant. `targets` of a subclass stores the metrics of its batch, `kl` among them, in
    `_batch_metrics`.
    """

    def __init__(self, kl_coef: float, target_kl: float | None) -> None:
        self.kl_coef = at_least("kl_coef", kl_coef)
        self.target_kl = None if target_kl is None else positive("target_kl", target_kl)
        self._batch_metrics: dict[str, float] = {}

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Adapts the coefficient to the step's `kl`, which is that of the whole batch, whatever the number of ranks."""
        if self.target_kl is not None:
            error = min(max(metrics["kl"] / self.target_kl - 1, -MAX_ERROR), MAX_ERROR)
            self.kl_coef *= 1 + GAIN * error

    def metrics(self) -> dict[str, float]:
        return {**self._batch_metrics, "kl_coef": self.kl_coef}

    def state_dict(self) -> dict[str, Any]:
        return {"kl_coef": self.kl_coef}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.kl_coef = float(state["kl_coef"])
