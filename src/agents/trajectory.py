"""The input and the output of a rollout: a job, and a trajectory with tokens, policy mask and log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from askgate_env.types import Episode, Level, Sample

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Job:
    """One episode to roll out."""

    sample: Sample
    level: Level | None = None
    seed: int = 0
    """Stored in the episode. The randomness itself comes from the rollout's generator."""


@dataclass(frozen=True)
class Trajectory:
    """One episode as tokens of policy, user and tools, in the order in which the model read them.

    With `rollout.thoughts: drop` an episode is several segments, concatenated: after each user reply the model reads
    the dialogue again, without its earlier thoughts.
    """

    tokens: NDArray[np.int32]
    policy: NDArray[np.bool_]
    """Mask of policy tokens, stop tokens included. Tokens added to a turn that was cut off are not of the policy."""
    logp: NDArray[np.float32]
    """Log-probabilities under the distribution that was sampled from, temperature included; 0 outside the mask."""
    episode: Episode
    hidden_NH: Tensor | None = None
    """The last hidden state before each policy token, if `generate` was called with `keep_hidden`."""
    cut_thoughts: int = 0
    """Number of thoughts that were cut off and closed (`rollout.think_tokens`)."""
    cut_turns: int = 0
    """Number of turns that were cut off before they had an action."""
    segment_lengths: tuple[int, ...] = ()
    """Number of tokens of each segment; empty: the episode is one segment."""

    def segments(self) -> list[Trajectory]:
        """The segments, each as a trajectory of its own."""
        if len(self.segment_lengths) < 2:
            return [self]
        cuts = np.cumsum(self.segment_lengths)[:-1]
        parts = zip(*(np.split(x, cuts) for x in (self.tokens, self.policy, self.logp)), strict=True)
        return [
            replace(self, tokens=tokens, policy=policy, logp=logp, segment_lengths=(), hidden_NH=None)
            for tokens, policy, logp in parts
        ]
