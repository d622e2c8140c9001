"""The flat layout: segments, and that a batch may be cut anywhere between groups."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from src.core.api import Batch, Strategy
from src.strategies.dpo import DPO
from src.strategies.flat_layout import is_last, per_token, segment_mean, segment_sum, take
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO
from tests.strategies.batches import batch, batches


def test_sums_and_means_by_segment() -> None:
    x, segment = torch.tensor([1.0, 2.0, 5.0, 7.0]), torch.tensor([0, 0, 2, 2])
    assert segment_sum(x, segment, 4).tolist() == [3, 0, 12, 0]
    assert segment_mean(x, segment, 4).tolist() == [1.5, 0, 6, 0]


def test_last_token_of_each_episode() -> None:
    assert is_last(torch.tensor([0, 0, 1, 3, 3])).tolist() == [False, True, True, False, True]
    assert is_last(torch.tensor([], dtype=torch.long)).tolist() == []


def test_weights_scale_the_sum_but_not_the_divisor() -> None:
    two = batch([[0.0, 0.0], [0.0]], [0, 0], weights=[0.5, 1.0])
    assert per_token(torch.tensor([2.0, 4.0, 6.0]), two).item() == (1 + 2 + 6) / 3


def test_a_part_is_numbered_from_zero_again() -> None:
    whole = batch([[1, 2], [3], [4, 5], [6]], [10, 11, 12, 13], groups=[0, 0, 1, 1])
    targets = {"token_N": torch.arange(6), "episode_E": torch.arange(4)}
    part, cut = take(whole, targets, torch.tensor([3, 2]))
    assert part.logp_N.tolist() == [4, 5, 6]
    assert part.episode_N.tolist() == [0, 0, 1]
    assert part.reward_E.tolist() == [12, 13]
    assert cut["token_N"].tolist() == [3, 4, 5]
    assert cut["episode_E"].tolist() == [2, 3]


@pytest.mark.parametrize(
    "strategy", [PPO(entropy_coef=0.1, value_coef=0.7), GRPO(entropy_coef=0.1), DPO()], ids=["ppo", "grpo", "dpo"]
)
@settings(max_examples=40, deadline=None)
@given(whole=batches(), data=st.data())
def test_token_weighted_losses_of_parts_add_up(strategy: Strategy, whole: Batch, data: st.DataObject) -> None:
    targets = strategy.targets(whole)
    logp_N = (whole.logp_N + 0.1).requires_grad_()
    value_N = torch.full_like(whole.logp_N, 0.3)
    loss, _ = strategy.loss(logp_N, whole.logp_N.exp(), value_N, whole, targets)

    first = set(data.draw(st.lists(st.sampled_from(whole.group_E.unique().tolist()))))
    in_first_E = torch.tensor([int(group) in first for group in whole.group_E])
    total = torch.zeros(())
    for rows in (in_first_E.nonzero()[:, 0], (~in_first_E).nonzero()[:, 0]):
        part, cut = take(whole, targets, rows)
        here_N = torch.isin(whole.episode_N, rows)
        part_loss, _ = strategy.loss(logp_N[here_N], part.logp_N.exp(), value_N[here_N], part, cut)
        total = total + part_loss * part.logp_N.numel() / max(whole.logp_N.numel(), 1)
    torch.testing.assert_close(total.double(), loss.double())
