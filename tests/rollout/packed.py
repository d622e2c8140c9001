"""A packed forward pass over whole sequences, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from src.rollout.attention import SegmentPlan, hidden_states, unwrap


def packed_logits(model: nn.Module, tokens_T: Tensor, lengths: Sequence[int]) -> Tensor:
    """Logits [T, V] of sequences of the given lengths, end to end."""
    base: Any = unwrap(model)
    return base.get_output_embeddings()(hidden_states(base, tokens_T, SegmentPlan(lengths, tokens_T.device)))
