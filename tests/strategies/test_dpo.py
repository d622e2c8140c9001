"""DPO by hand."""

from __future__ import annotations

import math

import pytest
import torch

from src.strategies.dpo import DPO, best_worst_pairs
from tests.strategies.batches import batch


def test_pairs_are_best_and_worst_of_a_group() -> None:
    reward = torch.tensor([0.5, 0.2, 1.0, 0.2, 0.9, 0.9, 0.0, 1.0])
    group = torch.tensor([0, 1, 0, 0, 1, 1, 2, 3])
    better, worse = best_worst_pairs(reward, group)
    assert list(zip(better.tolist(), worse.tolist(), strict=True)) == [(2, 3), (4, 1)]


def test_equal_rewards_make_no_pair_and_teach_nothing() -> None:
    dpo = DPO()
    whole = batch([[-1.0], [-2.0]], [0.3, 0.1 + 0.2], groups=[0, 0])
    logp_N = whole.logp_N.clone().requires_grad_()
    loss, _ = dpo.loss(logp_N, torch.zeros(2), None, whole, dpo.targets(whole))
    assert loss.item() == 0
    assert torch.autograd.grad(loss, logp_N)[0].tolist() == [0, 0]
    assert dpo.metrics()["pairs"] == 0


def test_loss_by_hand() -> None:
    """Two pairs and a bystander. Sums of log-probabilities less the reference's: better 2.0, worse -1.0; and 0, 0.

    margins 0.1 * 3 and 0; losses ln(1 + e**-0.3) and ln 2; the loss is their mean whatever the episodes' lengths.
    """
    dpo = DPO(beta=0.1)
    whole = batch(
        [[-1.0, -1.0, -1.0], [-2.0], [-9.0, -9.0], [-1.0], [-4.0, -4.0]],
        [1.0, 0.0, 0.5, 0.0, 1.0],
        ref=[[-2.0, -1.5, -1.5], [-1.0], [-1.0, -1.0], [-1.0], [-4.0, -4.0]],
        groups=[0, 0, 0, 1, 1],
    )
    loss, figures = dpo.loss(whole.logp_N, torch.zeros(9), None, whole, dpo.targets(whole))
    assert loss.item() == pytest.approx((math.log(1 + math.exp(-0.3)) + math.log(2)) / 2)
    assert figures["dpo_accuracy"].item() == 0.5
    assert figures["dpo_margin"].item() == pytest.approx(0.15)


def test_a_pair_has_the_smaller_of_two_weights() -> None:
    def loss(weights: list[float]) -> float:
        dpo, whole = DPO(), batch([[-1.0], [-2.0]], [1, 0], groups=[0, 0], weights=weights)
        return dpo.loss(whole.logp_N, torch.zeros(2), None, whole, dpo.targets(whole))[0].item()

    assert loss([0.25, 1.0]) == loss([1.0, 0.25]) == pytest.approx(0.25 * math.log(2))


def test_the_gradient_favours_the_better_episode() -> None:
    dpo, whole = DPO(), batch([[-1.0, -1.0], [-2.0], [-1.0]], [1, 0, 0.5], groups=[0, 0, 0])
    logp_N = whole.logp_N.clone().requires_grad_()
    loss, _ = dpo.loss(logp_N, torch.zeros(4), None, whole, dpo.targets(whole))
    # Half the pair's beta, on each token; the bystander is left alone.
    assert torch.autograd.grad(loss, logp_N)[0].tolist() == pytest.approx([-0.05, -0.05, 0.05, 0])
