"""PPO by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from src.strategies.ppo import PPO, value_loss
from tests.strategies.batches import batch, flat


def test_targets_by_hand() -> None:
    """KL penalty 0.1 * (0.5, 0, -0.5), then the reward 1 on the last token; gamma 1, lambda 0.5.

    rewards     -0.05                0               1.05
    surprises   -0.05 + 0.4 - 0.2    0 + 0.6 - 0.4   1.05 - 0.6        = 0.15, 0.2, 0.45
    advantages  0.15 + 0.5 * 0.425   0.2 + 0.5*0.45  0.45              = 0.3625, 0.425, 0.45
    The second episode: one token, value 0.5, reward 0: advantage -0.5. Mean of all four: 0.184375.
    """
    ppo = PPO(kl_coef=0.1, lam=0.5, gamma=1.0)
    whole = batch(
        [[-1.0, -2.0, -1.0], [-1.0]],
        [1.0, 0.0],
        ref=[[-1.5, -2.0, -0.5], [-1.0]],
        values=[[0.2, 0.4, 0.6], [0.5]],
    )
    targets = ppo.targets(whole)
    assert targets["return_N"].tolist() == pytest.approx([0.5625, 0.825, 1.05, 0.0])
    advantages = [0.3625, 0.425, 0.45, -0.5]
    spread = math.sqrt(sum((x - 0.184375) ** 2 for x in advantages) / 4)
    assert targets["advantage_N"].tolist() == pytest.approx([(x - 0.184375) / spread for x in advantages], abs=1e-6)
    k3 = [math.exp(log_ratio) - 1 - log_ratio for log_ratio in (-0.5, 0.5)]
    assert ppo.metrics()["kl"] == pytest.approx(sum(k3) / 4)


def test_an_early_reward_reaches_only_the_tokens_before_it() -> None:
    """Reward 1, of which the second token earns 0.4 at once; no values, no penalty: returns are rewards to come."""
    whole = batch([[-1.0, -2.0, -1.0]], [1.0], ref=[[-1.0, -2.0, -1.0]], values=[[0.0, 0.0, 0.0]])
    early = replace(whole, early_N=torch.tensor([0.0, 0.4, 0.0]))
    assert PPO().targets(whole)["return_N"].tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert PPO().targets(early)["return_N"].tolist() == pytest.approx([1.0, 1.0, 0.6])


def test_loss_by_hand() -> None:
    """Ratios 1.5, 1.1 on advantage 1; 0.5, 2.0 on advantage -1; clip 0.2.

    policy  -1.2 (clipped), -1.1, 0.8 (clipped), 2.0             mean 0.125
    value   0.5 * (0.16, 0.09 (held at 0.7), 0.81, 0.81)         mean 0.23375
    loss    0.125 + 0.5 * 0.23375 - 0.01 * 2.5 = 0.216875
    """
    ppo = PPO(clip=0.2, value_clip=0.2, value_coef=0.5, entropy_coef=0.01)
    part = batch([[-1.0, -2.0], [-1.5, -1.0]], [0, 0], values=[[0.5, 0.5], [0.5, 0.5]])
    targets = {"advantage_N": flat([[1, 1, -1, -1]]), "return_N": flat([[1, 1, 1, 0]])}
    logp_N = part.logp_N + flat([[math.log(1.5), math.log(1.1), math.log(0.5), math.log(2.0)]])
    loss, figures = ppo.loss(logp_N, flat([[1, 2, 3, 4]]), flat([[0.6, 1.0, 0.1, 0.9]]), part, targets)
    assert loss.item() == pytest.approx(0.216875)
    assert figures["policy_loss"].item() == pytest.approx(0.125)
    assert figures["value_loss"].item() == pytest.approx(0.23375)
    assert figures["entropy"].item() == pytest.approx(2.5)
    assert figures["clip_share"].item() == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("value", "wanted", "learns"),
    [
        (0.6, 0.5 * 0.4**2, True),  # within reach of the old value 0.5
        (1.0, 0.5 * 0.3**2, False),  # overshot the return of 1 by too large a step: held at 0.7, no gradient
        (0.9, 0.5 * 0.3**2, False),  # nearly there, but by too large a step
        (0.1, 0.5 * 0.9**2, True),  # a large step in the wrong direction is taken back
    ],
)
def test_value_clipping(value: float, wanted: float, learns: bool) -> None:
    value_N = torch.tensor([value], dtype=torch.float64, requires_grad=True)
    loss = value_loss(value_N, torch.tensor([0.5]), torch.tensor([1.0]), clip=0.2).sum()
    assert loss.item() == pytest.approx(wanted)
    (gradient,) = torch.autograd.grad(loss, value_N)
    assert bool(gradient.abs() > 0) is learns


@pytest.mark.parametrize(("advantage", "ratio"), [(1.0, 1.3), (-1.0, 0.7)])
def test_clipped_tokens_get_no_gradient(advantage: float, ratio: float) -> None:
    part = batch([[-1.0]], [0])
    logp_N = (part.logp_N + math.log(ratio)).requires_grad_()
    targets = {"advantage_N": flat([[advantage]]), "return_N": flat([[0]])}
    loss, _ = PPO().loss(logp_N, flat([[0]]), flat([[0]]), part, targets)
    assert torch.autograd.grad(loss, logp_N)[0].tolist() == [0]


def test_the_kl_weight_adapts_and_survives_a_resume() -> None:
    ppo = PPO(kl_coef=0.02, target_kl=0.03)
    ppo.after_step({"kl": 0.3})
    assert ppo.metrics()["kl_coef"] == pytest.approx(0.0204)
    resumed = PPO(kl_coef=0.02, target_kl=0.03)
    resumed.load_state_dict(ppo.state_dict())
    assert resumed.metrics()["kl_coef"] == ppo.metrics()["kl_coef"]


def test_a_perfect_critic_explains_all_variance() -> None:
    ppo = PPO(kl_coef=0.0, lam=1.0)
    ppo.targets(batch([[-1.0], [-1.0]], [1.0, 0.0], values=[[1.0], [0.0]]))
    assert ppo.metrics()["value_explained"] == pytest.approx(1.0)
    ppo.targets(batch([[-1.0], [-1.0]], [1.0, 0.0], values=[[0.5], [0.5]]))
    assert ppo.metrics()["value_explained"] == pytest.approx(0.0)
