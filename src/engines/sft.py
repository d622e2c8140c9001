"""Ordinary supervised fine-tuning on demonstrations: how `models/tiny` is made, and the control that stands beside PPO.

Only what the policy says is learned; what user and tools say is read. Sequences lie end to end without padding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .packed import Stream, hidden, streams

Progress = Callable[[int, float], None]
"""Told after every update: tokens read since the last call, loss."""


@dataclass(frozen=True)
class Demo:
    """A demonstration as tokens, and which of them the policy said."""

    tokens: NDArray[np.int32]
    policy: NDArray[np.bool_]


@dataclass(frozen=True)
class SftPlan:
    tokens: int
    """Read in all, user and tool tokens included; the demonstrations are gone through as often as that takes."""
    lr: float
    batch_tokens: int
    seed: int
    warmup: float = 0.05
    """Share of the budget over which the learning rate rises; after that it falls as a cosine to a tenth."""
    weight_decay: float = 0.1
    max_norm: float = 1.0
    betas: tuple[float, float] = (0.9, 0.95)


def fine_tune(
    model: Any, demos: Sequence[Demo], plan: SftPlan, progress: Progress = lambda read, loss: None
) -> dict[str, float]:
    """Trains `model` in place, where it is and in its own precision (bf16 arithmetic on CUDA)."""
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(
        groups(model, plan.weight_decay), lr=plan.lr, betas=plan.betas, fused=device.type == "cuda"
    )
    arithmetic = torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()
    model.train()
    read, losses = 0, []
    for rows in endless(demos, plan):
        for group in optimizer.param_groups:
            group["lr"] = plan.lr * rate(read / plan.tokens, plan.warmup)
        (stream,) = streams([demos[row] for row in rows], plan.batch_tokens, device)
        with arithmetic:
            loss = policy_loss(model, stream)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.max_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        now = sum(len(demos[row].tokens) for row in rows)
        read += now
        losses.append(loss.detach())
        progress(now, float(losses[-1]) if len(losses) % 20 == 0 else math.nan)
        if read >= plan.tokens:
            break
    model.eval()
    tail = torch.stack(losses[-max(1, len(losses) // 20) :]).float().mean()
    return {"tokens": float(read), "updates": float(len(losses)), "loss": float(tail)}


def policy_loss(model: Any, stream: Stream) -> Tensor:
    """Mean cross-entropy over the policy's tokens; logits are computed for those only."""
    logits_NV = model.get_output_embeddings()(hidden(model, stream)).float()
    return torch.nn.functional.cross_entropy(logits_NV, stream.said_N)


def endless(demos: Sequence[Demo], plan: SftPlan) -> Iterator[list[int]]:
    """Batches of like length in random order, epoch after epoch."""
    random = np.random.default_rng(plan.seed)
    lengths = np.array([len(demo.tokens) for demo in demos])
    while True:
        # Like lengths together: an accelerator pads inside attention. Noise keeps the same ones from always meeting.
        order = np.argsort(lengths * random.uniform(0.9, 1.1, len(lengths)), kind="stable")
        batches = list(_cut(order, lengths, plan.batch_tokens))
        for place in random.permutation(len(batches)):
            yield batches[place]


def _cut(order: NDArray[np.int64], lengths: NDArray[np.int64], most: int) -> Iterator[list[int]]:
    rows: list[int] = []
    longest = 0
    for row in order.tolist():
        longest = max(longest, int(lengths[row]))
        if rows and longest * (len(rows) + 1) > most:
            yield rows
            rows, longest = [], int(lengths[row])
        rows.append(row)
    if rows:
        yield rows


def rate(done: float, warmup: float) -> float:
    """Share of the full learning rate when that share of the budget is spent.

    >>> [round(rate(done, 0.1), 2) for done in (0.05, 0.1, 0.55, 1.0)]
    [0.5, 1.0, 0.55, 0.1]
    """
    if done < warmup:
        return max(done, 0.002) / warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, (done - warmup) / (1 - warmup))))


def groups(model: torch.nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices decay; norms and biases do not."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [one for one in learned if one.ndim >= 2], "weight_decay": weight_decay},
        {"params": [one for one in learned if one.ndim < 2], "weight_decay": 0.0},
    ]
