"""The same numbers as TRL's own trainers, where it has them.

TRL's losses are methods of its trainers. They are called here on a bare object that holds only what they read.
"""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from src.strategies.dpo import DPO
from src.strategies.grpo import GRPO
from tests.strategies.batches import batch

trl = pytest.importorskip("trl", reason="TRL is not installed (pip install 'askgate[trl]')")


class Alone:
    """The part of accelerate that TRL uses, for one process."""

    num_processes = 1

    def gather(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1)

    gather_for_metrics = gather

    def reduce(self, x: torch.Tensor, reduction: str) -> torch.Tensor:
        return x

    device = torch.device("cpu")


def rows(x: torch.Tensor, mask: torch.Tensor) -> list[list[float]]:
    return [row[kept].tolist() for row, kept in zip(x, mask, strict=True)]


def random_masks(seed: int, episodes: int) -> tuple[torch.Generator, torch.Tensor, torch.Tensor]:
    """Masks of real tokens and of policy tokens: several turns, each with at least one token."""
    random = torch.Generator().manual_seed(seed)
    length = torch.randint(4, 12, (episodes, 1), generator=random)
    there = torch.arange(12)[None] < length
    said = (torch.rand(episodes, 12, generator=random) < 0.6) & there
    said[:, 0] = True
    return random, there, said


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("divide_by_std", [True, False])
def test_grpo(seed: int, divide_by_std: bool) -> None:
    random, there, said = random_masks(seed, 8)

    def numbers() -> torch.Tensor:
        return -torch.rand(8, 12, generator=random, dtype=torch.float64)

    logp, old, ref = numbers().requires_grad_(), numbers(), numbers()
    reward = torch.rand(8, generator=random, dtype=torch.float64)

    # As in GRPOTrainer._generate_and_score_completions, with TRL's own deviation.
    grouped = reward.view(2, 4)
    advantages = (grouped - grouped.mean(1, keepdim=True)).flatten()
    if divide_by_std:
        advantages /= trl.trainer.utils.nanstd(grouped, dim=1).repeat_interleave(4) + 1e-4

    trainer: Any = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (logp, torch.zeros_like(logp), None),
        model=SimpleNamespace(training=True),
        args=SimpleNamespace(use_bias_correction_kl=True, delta=None, steps_per_generation=1),
        accelerator=Alone(),
        current_gradient_accumulation_steps=1,
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level="token",
        beta=0.04,
        loss_type="dapo",
        epsilon_low=0.2,
        epsilon_high=0.2,
        use_vllm=False,
        _entropy_bonus_enabled=False,
        _metrics=defaultdict(lambda: defaultdict(list)),
    )
    theirs = trl.GRPOTrainer._compute_loss(
        trainer,
        None,
        {
            "prompt_ids": torch.zeros(8, 1, dtype=torch.long),
            "prompt_mask": torch.ones(8, 1, dtype=torch.long),
            "completion_ids": torch.zeros(8, 12, dtype=torch.long),
            "completion_mask": there.long(),
            "tool_mask": said.long(),
            "advantages": advantages,
            "old_per_token_logps": old,
            "ref_per_token_logps": ref,
            "num_items_in_batch": said.sum(),
        },
    )
    grpo = GRPO(clip=0.2, kl_coef=0.04, divide_by_std=divide_by_std)
    whole = batch(rows(old, said), reward.tolist(), ref=rows(ref, said), groups=[0, 0, 0, 0, 1, 1, 1, 1])
    ours, figures = grpo.loss(logp[said], torch.zeros(int(said.sum())), None, whole, grpo.targets(whole))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(torch.autograd.grad(ours, logp), torch.autograd.grad(theirs, logp))
    assert figures["kl_loss"].item() == pytest.approx(trainer._metrics["train"]["kl"][0])


@pytest.mark.parametrize("seed", range(6))
def test_dpo(seed: int) -> None:
    # Episodes 0, 1, 2 are the better ones of three pairs, 3, 4, 5 the worse ones: TRL's order.
    random, there, said = random_masks(seed, 6)
    said[:, 0] = False  # the first token is the prompt's
    said[:, 1] = True

    def model() -> Any:
        """Log-probabilities of the tokens from the second on; 0 without a label, as TRL's fused head returns."""
        logp = torch.where(said[:, 1:], -torch.rand(6, 11, generator=random, dtype=torch.float64), 0).requires_grad_()
        empty = torch.zeros_like(logp)
        return SimpleNamespace(log_probs=logp, entropy=empty, mean_logits=empty, is_top1=empty.bool())

    policy, reference = model(), model()
    trainer: Any = SimpleNamespace(
        model=torch.nn.Module(),
        args=SimpleNamespace(gradient_checkpointing_kwargs=None),
        ref_model=lambda **_: reference,
        accelerator=Alone(),
        aux_loss_enabled=False,
        ld_alpha=None,
        precompute_ref_logps=False,
        f_divergence_type="reverse_kl",
        loss_types=["sigmoid"],
        loss_weights=[1.0],
        label_smoothing=0.0,
        beta=0.1,
        use_weighting=False,
        _metrics=defaultdict(lambda: defaultdict(list)),
        _total_train_tokens=0,
        _tp_size=1,
    )
    trainer.model.is_gradient_checkpointing = False
    inputs = {
        "input_ids": torch.zeros(6, 12, dtype=torch.long),
        "attention_mask": there.long(),
        "completion_mask": said.long(),
    }
    theirs = trl.DPOTrainer._compute_loss(trainer, lambda **_: policy, inputs, return_outputs=False)

    spoken = said[:, 1:]
    dpo = DPO(beta=0.1)
    whole = batch(
        rows(policy.log_probs.detach(), spoken),
        [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        ref=rows(reference.log_probs.detach(), spoken),
        groups=[0, 1, 2, 0, 1, 2],
    )
    ours, figures = dpo.loss(policy.log_probs[spoken], torch.zeros(int(spoken.sum())), None, whole, dpo.targets(whole))
    torch.testing.assert_close(ours, theirs)
    (our_gradient,) = torch.autograd.grad(ours, policy.log_probs)
    (their_gradient,) = torch.autograd.grad(theirs, policy.log_probs)
    torch.testing.assert_close(our_gradient[spoken], their_gradient[spoken])
    assert figures["dpo_margin"].item() == pytest.approx(trainer._metrics["train"]["rewards/margins"][0])
