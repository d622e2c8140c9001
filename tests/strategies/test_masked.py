"""Tokens of user and tools get exactly no gradient."""

from __future__ import annotations

import pytest
import torch

from src.core.api import Batch, Strategy
from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from src.strategies.ppo import PPO

# Two episodes of two turns each; 1 where the policy speaks.
SPOKEN = torch.tensor([[0, 0, 1, 1, 0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 1, 1, 0]], dtype=torch.bool)


class Reader(torch.nn.Module):
    """A model that reads left to right and predicts the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(7, 5)
        self.body = torch.nn.GRU(5, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 7)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.body(self.embed(tokens))[0])
        return logits


@pytest.mark.parametrize(
    "strategy",
    [PPO(entropy_coef=0.1), GRPO(group_size=2, kl_coef=0.3), DPO(group_size=2)],
    ids=["ppo", "grpo", "dpo"],
)
def test_tokens_outside_the_mask_get_no_gradient(strategy: Strategy) -> None:
    torch.manual_seed(3)
    torch.set_num_threads(1)
    tokens = torch.randint(7, SPOKEN.shape)
    logits = Reader()(tokens)
    logits.retain_grad()
    # The logits at t say what token t + 1 is.
    said = SPOKEN[:, 1:]
    logp_all = torch.log_softmax(logits[:, :-1], -1)
    logp_N = logp_all.gather(-1, tokens[:, 1:, None])[..., 0][said]
    entropy_N = -(logp_all.exp() * logp_all).sum(-1)[said]
    whole = Batch(
        logp_N=logp_N.detach() - 0.05,
        episode_N=said.nonzero()[:, 0],
        reward_E=torch.tensor([1.0, 0.0]),
        group_E=torch.tensor([0, 0]),
        weight_E=torch.ones(2),
        ref_logp_N=logp_N.detach() - 0.3,
        value_N=torch.zeros(len(logp_N)),
    )
    loss, _ = strategy.loss(logp_N, entropy_N, torch.full_like(whole.logp_N, 0.1), whole, strategy.targets(whole))
    loss.backward()
    assert logits.grad is not None
    reached = (logits.grad != 0).any(-1)
    assert torch.equal(reached[:, :-1], said)
    assert not reached[:, -1].any()
