"""GRPO by hand."""

from __future__ import annotations

import math

import pytest
import torch

from src.strategies.grpo import GRPO
from tests.strategies.batches import batch, flat


def test_loss_by_hand() -> None:
    """One group, rewards 1 and 0, not divided by their deviation: advantages 0.5 and -0.5.

    ratios   1.5, 1 and 0.5: policy terms -0.5 * 1.2, -0.5 * 1, 0.5 * 0.8 (clipped): sum -0.7
    KL       q/p of 2, 1, 1: k3 is 2 - 1 - ln 2, 0, 0, times the ratio of 1.5
    loss     (-0.7 + 0.1 * 1.5 * (1 - ln 2)) / 3
    """
    grpo = GRPO(clip=0.2, kl_coef=0.1, divide_by_std=False, group_size=2)
    logp_N = flat([[-1.0, -2.0], [-1.0]])
    whole = batch(
        [[-1.0 - math.log(1.5), -2.0], [-1.0 - math.log(0.5)]],
        [1.0, 0.0],
        ref=[[-1.0 + math.log(2), -2.0], [-1.0]],
        groups=[3, 3],
    )
    loss, figures = grpo.loss(logp_N, torch.zeros(3), None, whole, grpo.targets(whole))
    assert loss.item() == pytest.approx((-0.7 + 0.1 * 1.5 * (1 - math.log(2))) / 3)
    assert figures["kl_loss"].item() == pytest.approx(1.5 * (1 - math.log(2)) / 3)


def test_dividing_by_std_equalizes_small_and_large_differences() -> None:
    small = batch([[-1.0], [-1.0]], [0.51, 0.5], groups=[0, 0])
    large = batch([[-1.0], [-1.0]], [1.0, 0.0], groups=[0, 0])
    divided = [GRPO().targets(x)["advantage_N"][0].item() for x in (small, large)]
    assert divided[0] == pytest.approx(divided[1], rel=0.02)
    plain = [GRPO(divide_by_std=False).targets(x)["advantage_N"][0].item() for x in (small, large)]
    assert plain == pytest.approx([0.005, 0.5])


def test_a_group_of_equal_rewards_teaches_nothing_at_all() -> None:
    """It gives no KL gradient either: the whole gradient comes from the other group."""
    grpo = GRPO(kl_coef=0.5, entropy_coef=0.3)
    whole = batch(
        [[-1.0], [-2.0], [-1.0], [-2.0]], [1, 1, 1, 0], ref=[[-3.0], [-1.0], [-3.0], [-1.0]], groups=[0, 0, 1, 1]
    )
    logp_N = whole.logp_N.clone().requires_grad_()
    loss, _ = grpo.loss(logp_N, logp_N.exp(), None, whole, grpo.targets(whole))
    (gradient,) = torch.autograd.grad(loss, logp_N)
    assert gradient[:2].tolist() == [0, 0]
    assert (gradient[2:] != 0).all()
    assert grpo.metrics()["teaching_share"] == 0.5


def test_the_kl_weight_adapts_and_survives_a_resume() -> None:
    grpo = GRPO(kl_coef=0.02, target_kl=0.03)
    grpo.after_step({"kl": 0.0})
    assert grpo.kl_coef == pytest.approx(0.0196)
    resumed = GRPO()
    resumed.load_state_dict(grpo.state_dict())
    assert resumed.kl_coef == grpo.kl_coef
