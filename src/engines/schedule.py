"""How fast the policy learns at each step, and which episodes each update sees. Pure functions of the step."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from .job import Update


def lr_share(update: Update, step: int, max_steps: int) -> float:
    """The share of the learning rate that holds at a step: a rise over the warm-up, then the schedule.

    >>> [lr_share(Update(warmup_steps=2, schedule="linear"), step, 6) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    if step < update.warmup_steps:
        return (step + 1) / update.warmup_steps
    done = (step - update.warmup_steps) / max(max_steps - update.warmup_steps, 1)
    if update.schedule == "linear":
        return 1 - done
    return (1 + math.cos(math.pi * done)) / 2 if update.schedule == "cosine" else 1.0


def minibatches(group_E: Tensor, count: int, dice: np.random.Generator) -> list[Tensor]:
    """The episodes of a batch in `count` parts of whole groups, dealt at random. Rows rise within a part."""
    groups = torch.unique(group_E)
    dealt = groups[torch.from_numpy(dice.permutation(len(groups))).to(groups.device)]
    return [torch.isin(group_E, part).nonzero()[:, 0] for part in dealt.tensor_split(min(count, len(groups)))]
