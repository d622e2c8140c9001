"""Supervised fine-tuning on demonstrations, for `models/tiny`, the warm start of a run, and its control models.

    loss = mean cross-entropy over policy tokens

Tokens of user and tools are context only. Sequences are packed end to end without padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from .packed import LOGITS_AT_ONCE, Stream, clip_gradients, hidden_before, pack

WARMUP = 0.05
"""Share of the token budget over which the learning rate rises; after that it falls as a cosine to a tenth."""
WEIGHT_DECAY, BETAS, MAX_NORM = 0.1, (0.9, 0.95), 1.0


@dataclass(frozen=True)
class Demo:
    """A demonstration as tokens, with the mask of policy tokens."""

    tokens: NDArray[np.int32]
    policy: NDArray[np.bool_]


@dataclass(frozen=True)
class SftPlan:
    """Budget and hyperparameters of a fine-tuning run."""

    tokens: int
    """Tokens to read in all, user and tool tokens included; the demonstrations are repeated as often as that takes."""
    lr: float
    batch_tokens: int
    seed: int


def fine_tune(
    model: Any, demos: Sequence[Demo], plan: SftPlan, optimizers: Sequence[torch.optim.Optimizer] = ()
) -> dict[str, float]:
    """Trains `model` in place, on its device and in its precision (bf16 arithmetic on CUDA), with AdamW unless other
    optimizers are given."""
    device = next(model.parameters()).device
    optimizers = optimizers or [sft_optimizer(model, plan.lr)]
    autocast = torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()
    model.train()
    read, losses = 0, []
    for rows, lr in sft_batches(demos, plan):
        for group in (group for optimizer in optimizers for group in optimizer.param_groups):
            group["lr"] = lr
        (stream,) = pack([demos[row] for row in rows], plan.batch_tokens, device)
        with autocast:
            loss = sft_loss(model, stream)
        torch.autograd.backward(loss)
        clip_gradients(list(model.parameters()), MAX_NORM)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        read += sum(len(demos[row].tokens) for row in rows)
        losses.append(loss.detach())
    model.eval()
    tail = torch.stack(losses[-max(1, len(losses) // 20) :]).float().mean()
    return {"tokens": float(read), "updates": float(len(losses)), "loss": float(tail)}


def sft_optimizer(model: Any, lr: float) -> torch.optim.AdamW:
    """AdamW over the trained weights, without weight decay on norms and biases."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    matrices, others = [one for one in trained if one.ndim >= 2], [one for one in trained if one.ndim < 2]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=BETAS, fused=next(model.parameters()).is_cuda)


def sft_loss(model: Any, stream: Stream) -> Tensor:
    """Mean cross-entropy over the policy tokens; 0 if there are none.

    Logits are computed for these tokens only, and `LOGITS_AT_ONCE` at a time.
    """
    head, hidden_NH, label_N = model.get_output_embeddings(), hidden_before(model, stream), stream.label_N
    rows = max(1, LOGITS_AT_ONCE // head.weight.shape[0])
    if not len(label_N):
        return hidden_NH.sum()
    if len(label_N) <= rows:
        return cross_entropy(head(hidden_NH).float(), label_N)
    parts = [
        checkpoint(_summed_loss, head, hidden_CH, label_C, use_reentrant=False, preserve_rng_state=False)
        for hidden_CH, label_C in zip(torch.split(hidden_NH, rows), torch.split(label_N, rows), strict=True)
    ]
    return torch.stack(parts).sum() / len(label_N)


def _summed_loss(head: Any, hidden_CH: Tensor, label_C: Tensor) -> Tensor:
    return cross_entropy(head(hidden_CH).float(), label_C, reduction="sum")


def sft_batches(
    demos: Sequence[Demo], plan: SftPlan, start: float = 0.0, end: float = 1.0
) -> Iterator[tuple[list[int], float]]:
    """Batches of a run, as rows of `demos`, each with its learning rate. They depend on demonstrations and plan alone.

    `start` (included) and `end` (excluded) select a part of the run: batches before which such a share of the token
    budget was read.
    """
    read = 0
    for rows in endless_batches(demos, plan):
        progress = read / plan.tokens
        if progress >= end:
            return
        if progress >= start:
            yield rows, plan.lr * lr_scale(progress)
        read += sum(len(demos[row].tokens) for row in rows)


def endless_batches(demos: Sequence[Demo], plan: SftPlan) -> Iterator[list[int]]:
    """Batches in random order, epoch after epoch."""
    rng = np.random.default_rng(plan.seed)
    while True:
        yield from _split_batches(rng.permutation(len(demos)), demos, plan.batch_tokens)


def _split_batches(order: NDArray[np.int64], demos: Sequence[Demo], max_tokens: int) -> Iterator[list[int]]:
    """Batches of consecutive rows with at most `max_tokens` tokens together; a longer row is a batch of its own."""
    rows: list[int] = []
    room = max_tokens
    for row in order.tolist():
        length = len(demos[row].tokens)
        if rows and length > room:
            yield rows
            rows, room = [], max_tokens
        rows.append(row)
        room -= length
    if rows:
        yield rows


def lr_scale(progress: float) -> float:
    """The factor on the learning rate after this share of the token budget.

    >>> [round(lr_scale(progress), 3) for progress in (0.025, 0.05, 0.525, 1.0)]
    [0.5, 1.0, 0.55, 0.1]
    """
    if progress < WARMUP:
        return max(progress, 0.002) / WARMUP
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, (progress - WARMUP) / (1 - WARMUP))))
