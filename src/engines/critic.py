"""The critic's own lessons: a small head on states that lie at hand goes over a batch many times, while the policy, for
which every look at a batch is a pass through the whole network, goes over it once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from accelerate import Accelerator

TOKENS = 512
"""Of one update."""


def fit_critic(
    accelerator: Accelerator,
    critic: Any,
    optimizer: Any,
    hidden_NH: Tensor,
    return_N: Tensor,
    weight_N: Tensor,
    epochs: int,
    dice: np.random.Generator,
) -> None:
    """Moves the values towards the returns; no gradient reaches the policy."""
    for _ in range(epochs):
        order = torch.from_numpy(dice.permutation(len(return_N))).to(return_N.device)
        for rows in torch.split(order, TOKENS):
            error = critic(hidden_NH[rows]) - return_N[rows]
            weight = weight_N[rows]
            accelerator.backward(0.5 * (weight * error**2).sum() / weight.sum().clamp(min=1e-8))
            optimizer.step()
            optimizer.zero_grad()
