"""Batches for tests of strategies, written episode by episode."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from hypothesis import strategies as st
from torch import Tensor

from src.core.api import Batch


def flat(rows: Sequence[Sequence[float]]) -> Tensor:
    return torch.tensor([x for row in rows for x in row], dtype=torch.float64)


def batch(
    logp: Sequence[Sequence[float]],
    rewards: Sequence[float],
    *,
    ref: Sequence[Sequence[float]] | None = None,
    values: Sequence[Sequence[float]] | None = None,
    groups: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
) -> Batch:
    """A batch with one inner list per episode. Without `ref`, the reference equals the old policy."""
    number = len(rewards)
    return Batch(
        logp_N=flat(logp),
        episode_N=torch.tensor([e for e, row in enumerate(logp) for _ in row], dtype=torch.long),
        reward_E=torch.tensor(rewards, dtype=torch.float64),
        group_E=torch.tensor(groups or range(number), dtype=torch.long),
        weight_E=torch.tensor(weights or [1.0] * number, dtype=torch.float64),
        ref_logp_N=flat(ref or logp),
        value_N=flat(values or [[0.0] * len(row) for row in logp]),
    )


@st.composite
def batches(draw: st.DrawFn, group_size: int = 3) -> Batch:
    """Whole groups of episodes of 0 to 6 tokens, with rewards that are often equal."""
    groups = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 6), min_size=groups * group_size, max_size=groups * group_size))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))

    def numbers(row: int) -> list[float]:
        return torch.randn(row, generator=random, dtype=torch.float64).tolist()

    return batch(
        logp=[numbers(n) for n in lengths],
        rewards=draw(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=len(lengths), max_size=len(lengths))),
        ref=[numbers(n) for n in lengths],
        values=[numbers(n) for n in lengths],
        groups=[7 - e // group_size for e in range(len(lengths))],
        weights=draw(st.lists(st.sampled_from([0.25, 1.0]), min_size=len(lengths), max_size=len(lengths))),
    )
