"""DPO on the policy's own episodes: of each sample, the best episode against the worst."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ..core.api import Batch, Targets
from . import kl
from .advantages import EQUAL
from .flat import dense, segment_sum
from .options import at_least, positive


class DPO:
    """A pair's log-probabilities are summed over policy tokens: what user and tools said is not the policy's merit."""

    critic = False
    reference = True

    def __init__(self, *, beta: float = 0.1, group_size: int = 4) -> None:
        self.beta = positive("beta", beta)
        self.group_size = int(at_least("group_size", group_size, 2))
        self._seen: dict[str, float] = {}

    def targets(self, batch: Batch) -> Targets:
        """`side_E`: 1 for the better of a pair, -1 for the worse, 0 for neither. `pair_E`, on the better: its weight.

        A pair weighs as much as the less sure of its two episodes, times the tokens that come to a pair: so the sum
        over pairs, divided by tokens, is the mean over the pairs of the batch.
        """
        better, worse = pairs_of(batch.reward_E, batch.group_E)
        spoke_E = torch.zeros_like(batch.reward_E, dtype=torch.bool)
        spoke_E[batch.episode_N] = True
        # Two episodes without a word teach nothing, and no token would carry their share of the loss.
        heard = spoke_E[better] | spoke_E[worse]
        better, worse = better[heard], worse[heard]
        side_E, pair_E = torch.zeros_like(batch.reward_E), torch.zeros_like(batch.reward_E)
        side_E[better], side_E[worse] = 1, -1
        tokens_a_pair = batch.logp_N.numel() / max(better.numel(), 1)
        pair_E[better] = torch.minimum(batch.weight_E[better], batch.weight_E[worse]).to(pair_E.dtype) * tokens_a_pair
        self._seen = {**kl.figures(batch), "pairs": float(better.numel())}
        return {"side_E": side_E, "pair_E": pair_E}

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        number_E, groups = dense(part.group_E)
        log_ratio_E = segment_sum(logp_N - kl.reference_of(part), part.episode_N, part.reward_E.numel())
        margin_G = self.beta * segment_sum(targets["side_E"] * log_ratio_E, number_E, groups)
        weight_G = segment_sum(targets["pair_E"], number_E, groups)
        loss = -(weight_G * logsigmoid(margin_G)).sum() / max(logp_N.numel(), 1)
        with torch.no_grad():
            paired_G = weight_G > 0
            pairs = paired_G.sum().clamp(min=1)
            figures = {
                "dpo_accuracy": ((margin_G > 0) & paired_G).sum() / pairs,
                "dpo_margin": (margin_G * paired_G).sum() / pairs,
                "entropy": entropy_N.sum() / max(entropy_N.numel(), 1),
            }
        return loss, figures

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Nothing adapts: beta is the hold on the reference."""

    def metrics(self) -> dict[str, float]:
        return dict(self._seen)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Nothing to take up."""


def pairs_of(reward_E: Tensor, group_E: Tensor) -> tuple[Tensor, Tensor]:
    """The best and the worst episode of each group, the first of them where several are. None where all are equal."""
    better, worse = [], []
    for group in torch.unique(group_E):
        rows = torch.nonzero(group_E == group)[:, 0]
        rewards = reward_E[rows]
        if rewards.max() - rewards.min() > EQUAL:
            better.append(int(rows[rewards.argmax()]))
            worse.append(int(rows[rewards.argmin()]))
    found = torch.tensor([better, worse], dtype=torch.long, device=group_E.device)
    return found[0], found[1]
