"""How much better than expected: per token with a critic (GAE), per episode against its group (GRPO)."""

from __future__ import annotations

import torch
from torch import Tensor

from .flat import dense, is_last, segment_mean, segment_sum

EQUAL = 1e-6
"""Rewards closer than this are the same reward."""
STD_FLOOR = 1e-4
"""Added to a group's standard deviation, as TRL does."""


def discounted(x_N: Tensor, episode_N: Tensor, factor: float) -> Tensor:
    """For each token, the sum of x from there to the end of its episode, `factor` weaker with each token.

    By doubling: after round k each token holds the sum over its next 2**k tokens. So a batch takes as many rounds as
    its length has bits, not as many as it has tokens.
    """
    total_N, step = x_N.clone(), 1
    while step < x_N.numel():
        same = episode_N[step:] == episode_N[:-step]
        total_N[:-step] += factor**step * torch.where(same, total_N[step:], 0)
        step *= 2
    return total_N


def gae(reward_N: Tensor, value_N: Tensor, episode_N: Tensor, gamma: float, lam: float) -> Tensor:
    """Generalized advantage estimation. Nothing is worth anything after the last token of an episode.

    User and tool tokens are not in the layout: the first token of a turn follows the last one of the turn before.
    """
    next_N = torch.zeros_like(value_N)
    next_N[:-1] = value_N[1:]
    next_N = next_N.masked_fill(is_last(episode_N), 0)
    return discounted(reward_N + gamma * next_N - value_N, episode_N, gamma * lam)


def whiten(x_N: Tensor, weight_N: Tensor) -> Tensor:
    """Mean 0 and variance 1, each token counting by its weight. A batch of zero weight stays as it is."""
    total = weight_N.sum()
    if not total > 0:
        return x_N
    mean = (weight_N * x_N).sum() / total
    variance = (weight_N * (x_N - mean) ** 2).sum() / total
    return (x_N - mean) / (variance.sqrt() + 1e-8)


def over_group(reward_E: Tensor, group_E: Tensor, divide_by_std: bool) -> tuple[Tensor, Tensor]:
    """Each reward against the mean of its group, and which episodes are of a group with different rewards at all.

    The standard deviation is the sample's (n - 1). In a group of equal rewards nothing is better: its advantages are
    exactly 0.
    """
    number_E, count = dense(group_E)
    away_E = reward_E - segment_mean(reward_E, number_E, count)[number_E]
    differs_G = segment_sum((away_E.abs() > EQUAL).to(away_E.dtype), number_E, count) > 0
    away_E = torch.where(differs_G[number_E], away_E, 0)
    if divide_by_std:
        size_G = segment_sum(torch.ones_like(away_E), number_E, count)
        variance_G = segment_sum(away_E**2, number_E, count) / (size_G - 1).clamp(min=1)
        away_E = away_E / (variance_G.sqrt() + STD_FLOOR)[number_E]
    return away_E, differs_G[number_E]
