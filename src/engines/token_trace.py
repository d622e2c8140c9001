"""Figures of each policy token of a few episodes of a step, for the token view of the board.

The first episodes of every training step are recorded, nothing of evaluations: some kilobytes a step, and no pass
through a model, because the figures are those that the update needs anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..agents.render import Renderer
from ..agents.trajectory import Trajectory
from ..core.api import Batch, TokenTrace

TRACED_EPISODES = 4
"""Episodes of a step that are recorded; grouped strategies have episodes of the same sample there."""
MOST_TOKENS = 4096
"""Policy tokens of an episode that are recorded."""
DIGITS = 4


def token_traces(trajectories: Sequence[Trajectory], batch: Batch, renderer: Renderer) -> list[TokenTrace]:
    """Traces of the first episodes of a batch."""
    found = []
    for line, one in enumerate(trajectories[:TRACED_EPISODES]):
        rows = (batch.episode_N == line).nonzero()[:MOST_TOKENS, 0]
        if not len(rows):
            continue
        turns = batch.turn_N[rows] if batch.turn_N is not None else torch.zeros_like(rows)
        ids = one.tokens[one.policy][: len(rows)].tolist()
        found.append(
            TokenTrace(
                line=line,
                turns=(turns - turns[0]).tolist(),
                text=renderer.tokenizer.batch_decode([[token] for token in ids], clean_up_tokenization_spaces=False),
                logp=_rounded(batch.logp_N[rows]),
                kl=[] if batch.ref_logp_N is None else _rounded(batch.logp_N[rows] - batch.ref_logp_N[rows]),
                value=[] if batch.value_N is None else _rounded(batch.value_N[rows]),
            )
        )
    return found


def _rounded(values_N: Tensor) -> list[float]:
    return [round(value, DIGITS) for value in values_N.float().tolist()]
