"""Helpers of the strategies: arithmetic on the flat layout, and range checks of options.

In the flat layout the policy tokens of all episodes are concatenated, and `episode_N` holds their episode numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ..core.api import Batch, Targets
from ..core.errors import BadInput

EQUAL_REWARDS = 1e-6
"""Rewards that differ by less than this are equal."""


def segment_sum(x_N: Tensor, segment_N: Tensor, count: int) -> Tensor:
    """The sum of each segment; 0 for an empty one."""
    return torch.zeros(count, dtype=x_N.dtype, device=x_N.device).index_add(0, segment_N, x_N)


def segment_mean(x_N: Tensor, segment_N: Tensor, count: int) -> Tensor:
    """The mean of each segment; 0 for an empty one."""
    size = segment_sum(torch.ones_like(x_N), segment_N, count)
    return segment_sum(x_N, segment_N, count) / size.clamp(min=1)


def is_equal(reward_E: Tensor) -> bool:
    """Whether all rewards are equal, so that there is nothing to learn from them."""
    return bool(reward_E.max() - reward_E.min() <= EQUAL_REWARDS) if reward_E.numel() else True


def is_last(episode_N: Tensor) -> Tensor:
    """True on the last token of each episode."""
    last_N = torch.ones_like(episode_N, dtype=torch.bool)
    last_N[:-1] = episode_N[1:] != episode_N[:-1]
    return last_N


def per_token(x_N: Tensor, batch: Batch) -> Tensor:
    """The sum over tokens, with the weights of their episodes, divided by the number of tokens (or `batch.divisor`)."""
    return (x_N * batch.weight_E[batch.episode_N]).sum() / max(batch.divisor or x_N.numel(), 1)


def renumber(group_E: Tensor) -> tuple[Tensor, int]:
    """Group numbers mapped to 0, 1, 2, ..., and the number of groups."""
    groups, number_E = torch.unique(group_E, return_inverse=True)
    return number_E, groups.numel()


def take(batch: Batch, targets: Targets, rows: Tensor) -> tuple[Batch, dict[str, Tensor]]:
    """The part of a batch and its targets that belongs to these episodes (`rows`), which are renumbered from 0."""
    rows, _ = torch.sort(rows)
    keep_N = torch.isin(batch.episode_N, rows)

    def select(columns: Mapping[str, Any]) -> dict[str, Tensor]:
        tensors = {name: x for name, x in columns.items() if isinstance(x, Tensor)}
        return {name: x[keep_N] if name.endswith("_N") else x[rows] for name, x in tensors.items()}

    part: dict[str, Any] = select(vars(batch))
    part["episode_N"] = torch.searchsorted(rows, part["episode_N"])
    return replace(batch, **part), select(targets)


def positive(name: str, value: float) -> float:
    return _checked(name, value, value > 0, "a number above 0")


def at_least(name: str, value: float, least: float = 0) -> float:
    return _checked(name, value, value >= least, f"a number of at least {least:g}")


def share(name: str, value: float) -> float:
    return _checked(name, value, 0 <= value <= 1, "a number from 0 to 1")


def _checked(name: str, value: float, fits: bool, wanted: str) -> float:
    if not fits:
        raise BadInput(f"{value} is out of range", where=name, remedy=f"give {wanted}")
    return value
