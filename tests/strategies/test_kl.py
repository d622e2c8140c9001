"""Estimates of the KL divergence, and the weight that follows a target."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from src.core.errors import BadInput
from src.strategies.kl import AdaptiveKL, k1, k3, metrics, steering
from tests.strategies.batches import batch

distributions = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(
    lambda x: torch.log_softmax(torch.tensor(x, dtype=torch.float64).log(), 0)
)


@given(p=distributions, q=distributions)
def test_k1_and_k3_are_unbiased_and_k3_is_nonnegative(p: torch.Tensor, q: torch.Tensor) -> None:
    kl = torch.nn.functional.kl_div(q, p, log_target=True, reduction="sum").item()
    assert (p.exp() * k1(p, q)).sum().item() == pytest.approx(kl, abs=1e-12)
    assert (p.exp() * k3(p, q)).sum().item() == pytest.approx(kl, abs=1e-12)
    assert (k3(p, q) >= 0).all()


def test_the_ratio_weighted_term_has_the_gradient_of_kl() -> None:
    q = torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64).log()
    logits = torch.tensor([0.5, 0.1, -0.3], dtype=torch.float64, requires_grad=True)
    p = torch.log_softmax(logits, 0)
    sampled = p.detach()
    (exact,) = torch.autograd.grad((p.exp() * (p - q)).sum(), logits, retain_graph=True)
    (found,) = torch.autograd.grad((sampled.exp() * steering(p, sampled, q)).sum(), logits, retain_graph=True)
    torch.testing.assert_close(found, exact)
    (plain,) = torch.autograd.grad((sampled.exp() * k3(p, q)).sum(), logits)
    assert (plain - exact).abs().max() > 0.05


def test_metrics_by_hand() -> None:
    # log p/q is 0.5 and -0.1.
    found = metrics(batch([[-1.0, -2.0]], [0], ref=[[-1.5, -1.9]]))
    assert found == {"kl": pytest.approx((0.1065307 + 0.0051709) / 2, abs=1e-6)}


def test_the_weight_grows_above_the_target_and_shrinks_below_it() -> None:
    control = AdaptiveKL(0.02, target_kl=0.05)
    control.after_step({"kl": 0.055})
    assert control.kl_coef == pytest.approx(0.02 * 1.01)
    control.after_step({"kl": 0.05})
    assert control.kl_coef == pytest.approx(0.02 * 1.01)
    control.after_step({"kl": 0.0})
    assert control.kl_coef == pytest.approx(0.02 * 1.01 * 0.98)
    control.after_step({"kl": 1000.0})
    assert control.kl_coef == pytest.approx(0.02 * 1.01 * 0.98 * 1.02)


def test_without_a_target_the_weight_is_constant() -> None:
    control = AdaptiveKL(0.02, target_kl=None)
    control.after_step({"kl": 1000.0})
    assert control.kl_coef == 0.02
    with pytest.raises(BadInput, match="target_kl"):
        AdaptiveKL(0.02, target_kl=0.0)
