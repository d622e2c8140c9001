"""Advantages against their definitions."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from src.core.api import Batch
from src.strategies.grpo import group_advantages
from src.strategies.ppo import PPO, gae, whiten
from tests.strategies.batches import batch, batches


@settings(max_examples=100, deadline=None)
@given(whole=batches(), gamma=st.floats(0, 1), lam=st.floats(0, 1))
def test_gae_is_the_discounted_sum_of_td_errors(whole: Batch, gamma: float, lam: float) -> None:
    assert whole.value_N is not None
    reward_N, value_N, episode_N = whole.logp_N, whole.value_N, whole.episode_N
    tokens = len(reward_N)

    def surprise(t: int) -> float:
        follows = t + 1 < tokens and episode_N[t + 1] == episode_N[t]
        after = float(value_N[t + 1]) if follows else 0.0
        return float(reward_N[t]) + gamma * after - float(value_N[t])

    wanted = [
        sum(
            (gamma * lam) ** (later - t) * surprise(later)
            for later in range(t, tokens)
            if episode_N[later] == episode_N[t]
        )
        for t in range(tokens)
    ]
    torch.testing.assert_close(gae(reward_N, value_N, episode_N, gamma, lam), torch.tensor(wanted, dtype=torch.float64))


def test_gae_with_gamma_and_lambda_one_is_return_minus_value() -> None:
    reward, value = torch.tensor([0.0, 0.0, 1.0, -1.0]), torch.tensor([0.5, 0.25, 0.125, 0.0])
    assert gae(reward, value, torch.tensor([0, 0, 0, 1]), 1.0, 1.0).tolist() == [0.5, 0.75, 0.875, -1.0]


def test_lambda_between_turns_is_a_setting_of_its_own() -> None:
    # Two turns of two tokens, reward 1 at the end, values 0: only the step from turn to turn is discounted.
    whole = replace(batch([[-1.0] * 4, [-1.0] * 2], [1.0, 0.0]), turn_N=torch.tensor([1, 1, 2, 2, 3, 3]))
    assert PPO(kl_coef=0.0, target_kl=None).targets(whole)["return_N"].tolist() == [1, 1, 1, 1, 0, 0]
    between = PPO(kl_coef=0.0, target_kl=None, turn_lam=0.5).targets(whole)["return_N"]
    assert between.tolist() == [0.5, 0.5, 1, 1, 0, 0]
    inside = PPO(kl_coef=0.0, target_kl=None, lam=0.5).targets(whole)["return_N"]
    assert inside.tolist() == [0.25, 0.5, 0.5, 1, 0, 0]


def test_equal_rewards_do_not_move_the_policy() -> None:
    """Values that are not equal would make advantages of unit size out of nothing."""
    whole = batch([[-1.0, -2.0], [-0.5]], [0.3, 0.3], ref=[[-1.1, -2.0], [-0.4]], values=[[0.1, 0.2], [0.4]])
    targets = PPO().targets(whole)
    assert targets["advantage_N"].tolist() == [0, 0, 0]
    assert targets["teaches_E"].tolist() == [False, False]
    assert targets["return_N"].abs().min() > 0, "the critic learns"
    assert PPO().targets(replace(whole, reward_E=torch.tensor([0.3, 0.4])))["teaches_E"].all()


def test_whitening_has_a_floor() -> None:
    x = torch.tensor([0.01, -0.01])
    assert whiten(x, torch.ones(2)).tolist() == pytest.approx([1, -1])
    assert whiten(x, torch.ones(2), floor=0.1).tolist() == pytest.approx([0.1, -0.1])
    assert whiten(100 * x, torch.ones(2), floor=0.1).tolist() == pytest.approx([1, -1])


def test_whitening_uses_token_weights() -> None:
    x = torch.tensor([1.0, 3.0, 100.0], dtype=torch.float64)
    weight = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    white = whiten(x, weight)
    assert white[:2].tolist() == pytest.approx([-1, 1], abs=1e-6)
    twice = whiten(torch.tensor([1.0, 1.0, 4.0]), torch.ones(3))
    torch.testing.assert_close(whiten(torch.tensor([1.0, 4.0]), torch.tensor([2.0, 1.0])), twice[1:])


def test_whitening_handles_equal_values_and_zero_weights() -> None:
    assert whiten(torch.tensor([2.0, 2.0]), torch.ones(2)).tolist() == [0, 0]
    assert whiten(torch.tensor([2.0, 3.0]), torch.zeros(2)).tolist() == [2, 3]


def test_group_advantages_by_hand() -> None:
    # Group 4 has the rewards 0, 0, 3: mean 1, sample variance (1 + 1 + 4) / 2 = 3. Group 9 has nothing to compare.
    reward, group = torch.tensor([0.0, 5.0, 0.0, 5.0, 3.0], dtype=torch.float64), torch.tensor([4, 9, 4, 9, 4])
    advantage, teaches = group_advantages(reward, group, divide_by_std=True)
    one = 1 / (3**0.5 + 1e-4)
    assert advantage.tolist() == pytest.approx([-one, 0, -one, 0, 2 * one])
    assert teaches.tolist() == [True, False, True, False, True]
    plain, _ = group_advantages(reward, group, divide_by_std=False)
    assert plain.tolist() == [-1, 0, -1, 0, 2]


@pytest.mark.parametrize("reward", [0.1, 1 / 3, -0.07 * 3])
def test_equal_rewards_give_exactly_zero(reward: float) -> None:
    advantage, teaches = group_advantages(
        torch.full((7,), reward), torch.zeros(7, dtype=torch.long), divide_by_std=True
    )
    assert advantage.tolist() == [0] * 7
    assert not teaches.any()
