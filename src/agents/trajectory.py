"""An episode as the model saw it: tokens, which of them it said, and how likely each was when it said it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.types import Episode, Level, Sample

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Job:
    """One episode to be made."""

    sample: Sample
    level: Level | None = None
    seed: int = 0
    """Written into the episode; chance itself comes from the generator of the rollout."""
    sample_index: int = 0
    """Which sample of the batch this is: episodes of the same sample are a group."""


@dataclass(frozen=True)
class Trajectory:
    """`T` tokens of all sides in the order in which the model read them."""

    tokens: NDArray[np.int32]
    policy: NDArray[np.bool_]
    """True on what the policy said, stop tokens included; those that it was cut off without are not its own."""
    logp: NDArray[np.float32]
    """Of the distribution that was sampled from, temperature included; 0 where the policy did not speak."""
    episode: Episode
    sample_index: int
    hidden_NH: Tensor | None = None
    """The last hidden state before each token that the policy said, where it was asked to be kept."""
