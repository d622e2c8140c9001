"""DPO (Rafailov et al. 2023, arXiv:2305.18290) on the policy's own episodes: the best of each sample against the worst.

    margin = beta * [ sum(logp - ref_logp) over the better episode - sum(logp - ref_logp) over the worse one ]
    loss   = - mean over pairs of weight * log sigmoid(margin)

Sums are over policy tokens. Departures from the paper:

- pairs are made anew in every step from episodes of the current policy, ranked by reward, not read from a dataset;
- messages of user and tools are not part of a completion;
- a pair has a weight, the smaller of those of its two episodes; groups of equal rewards make no pair.

Run it with `strategy: dpo` in a training config.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ..core.api import Batch, Targets
from . import kl
from .flat_layout import EQUAL_REWARDS, at_least, positive, renumber, segment_sum


class DPO:
    """The strategy `dpo`. No coefficient adapts: `beta` keeps the policy near the reference."""

    critic = False
    reference = True

    def __init__(self, *, beta: float = 0.1, group_size: int = 4) -> None:
        self.beta = positive("beta", beta)
        self.group_size = int(at_least("group_size", group_size, 2))
        self._batch_metrics: dict[str, float] = {}

    def targets(self, batch: Batch) -> Targets:
        """`side_E`: 1 for the better of a pair, -1 for the worse, 0 for neither. `pair_E`: the pair's weight, on the
        better episode.

        A weight is multiplied by the mean number of tokens per pair: the sum over pairs, divided by tokens, is then
        the mean over the pairs of the batch.
        """
        better, worse = best_worst_pairs(batch.reward_E, batch.group_E)
        has_tokens_E = torch.zeros_like(batch.reward_E, dtype=torch.bool)
        has_tokens_E[batch.episode_N] = True
        # A pair of episodes without any policy token has no gradient, and no token would carry its share of the mean.
        keep = has_tokens_E[better] | has_tokens_E[worse]
        better, worse = better[keep], worse[keep]
        side_E, pair_E = torch.zeros_like(batch.reward_E), torch.zeros_like(batch.reward_E)
        side_E[better], side_E[worse] = 1, -1
        tokens_per_pair = batch.logp_N.numel() / max(better.numel(), 1)
        weight = torch.minimum(batch.weight_E[better], batch.weight_E[worse]).to(pair_E.dtype)
        pair_E[better] = weight * tokens_per_pair
        self._batch_metrics = {**kl.metrics(batch), "pairs": float(better.numel())}
        return {"side_E": side_E, "pair_E": pair_E}

    def loss(
        self, logp_N: Tensor, entropy_N: Tensor, value_N: Tensor | None, part: Batch, targets: Targets
    ) -> tuple[Tensor, dict[str, Tensor]]:
        number_E, groups = renumber(part.group_E)
        log_ratio_E = segment_sum(logp_N - kl.reference_of(part), part.episode_N, part.reward_E.numel())
        margin_G = self.beta * segment_sum(targets["side_E"] * log_ratio_E, number_E, groups)
        weight_G = segment_sum(targets["pair_E"], number_E, groups)
        loss = -(weight_G * logsigmoid(margin_G)).sum() / max(logp_N.numel(), 1)
        with torch.no_grad():
            paired_G = weight_G > 0
            pairs = paired_G.sum().clamp(min=1)
            metrics = {
                "dpo_accuracy": ((margin_G > 0) & paired_G).sum() / pairs,
                "dpo_margin": (margin_G * paired_G).sum() / pairs,
                "entropy": entropy_N.sum() / max(entropy_N.numel(), 1),
            }
        return loss, metrics

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Does nothing: DPO has no coefficient to adapt."""

    def metrics(self) -> dict[str, float]:
        return dict(self._batch_metrics)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Does nothing: DPO has no state."""


def best_worst_pairs(reward_E: Tensor, group_E: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of the best and of the worst episode of each group. Of several equally good ones the first counts; a group
    of equal rewards has no pair."""
    better, worse = [], []
    for group in torch.unique(group_E):
        rows = torch.nonzero(group_E == group)[:, 0]
        rewards = reward_E[rows]
        if rewards.max() - rewards.min() > EQUAL_REWARDS:
            better.append(int(rows[rewards.argmax()]))
            worse.append(int(rows[rewards.argmin()]))
    pairs = torch.tensor([better, worse], dtype=torch.long, device=group_E.device)
    return pairs[0], pairs[1]
