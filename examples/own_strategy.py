"""A strategy of your own: REINFORCE with the batch mean as baseline. Trains `models/tiny` for two small steps.

cd examples && askgate train --config own_strategy.yaml

advantage = reward - mean(reward of the batch)
loss      = -mean over policy tokens of logprob * advantage of the token's episode
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from askgate.core.api import Batch


class Reinforce:
    critic = reference = False
    group_size = 1

    def targets(self, batch: Batch) -> dict[str, Tensor]:
        """Called once per batch, before the first update."""
        return {"advantage_E": batch.reward_E - batch.reward_E.mean()}

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Mapping[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Loss of one minibatch, and tensors to log."""
        advantage_N = targets["advantage_E"][part.episode_N]
        return -(logp_N * advantage_N).mean(), {"entropy": entropy_N.mean()}

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Nothing adapts from step to step."""

    def metrics(self) -> dict[str, float]:
        return {}

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """There is no state."""
