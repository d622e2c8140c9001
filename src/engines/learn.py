"""The updates that a batch of episodes leads to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from ..core.api import Batch, Strategy, Targets
from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..strategies.flat import take
from .clock import Clock
from .job import Update
from .packed import Learner, Scored, Spoken, streams
from .schedule import minibatches
from .update import Loss, accumulate

if TYPE_CHECKING:
    from accelerate import Accelerator


def optimizer_for(policy: Any, critic: torch.nn.Module | None, update: Update, device: torch.device) -> Any:
    """The policy's weights in the first group, the critic's in the second."""
    groups: list[dict[str, Any]] = [{"params": [weight for weight in policy.parameters() if weight.requires_grad]}]
    if critic is not None:
        groups.append({"params": [*critic.parameters()], "weight_decay": 0.0})
    fused = device.type in ("cpu", "cuda")
    return torch.optim.AdamW(groups, lr=update.lr, weight_decay=update.weight_decay, fused=fused)


def learn(
    accelerator: Accelerator,
    learner: Learner,
    optimizer: Any,
    strategy: Strategy,
    update: Update,
    spoken: Sequence[Spoken],
    batch: Batch,
    targets: Targets,
    dice: np.random.Generator,
    critic_only: bool,
    clock: Clock,
) -> dict[str, float]:
    """Figures are means over the updates, each counting by its tokens. `logp_gap` alone is of the first one: how far
    rollout and training are apart before anything was learned."""
    seen: list[dict[str, Tensor]] = []
    counts: list[int] = []
    for _ in range(update.epochs):
        for rows in minibatches(batch.group_E, update.minibatches, dice):
            part, aims = take(batch, targets, rows)
            packs = streams([spoken[row] for row in rows.tolist()], update.pack_tokens, batch.logp_N.device)
            if not packs:
                continue
            with clock.part("forward_backward"):
                figures = accumulate(accelerator, learner, packs, _loss(strategy, part, aims), critic_only)
            with clock.part("optimizer"):
                figures |= apply(accelerator, optimizer, update.max_grad_norm)
            seen.append(figures)
            counts.append(len(part.logp_N))
    return {**means(seen, counts), "logp_gap": float(seen[0]["logp_gap"])}


def _loss(strategy: Strategy, part: Batch, aims: Targets) -> Loss:
    def loss_of(now: Scored) -> tuple[Tensor, dict[str, Tensor]]:
        loss, figures = strategy.loss(now.logp_N, now.entropy_N, now.value_N, part, aims)
        return loss, {**figures, "logp_gap": (now.logp_N.detach() - part.logp_N).abs().mean()}

    return loss_of


def apply(accelerator: Accelerator, optimizer: Any, max_norm: float) -> dict[str, Tensor]:
    """One step of the optimizer. Policy and critic are clipped apart: a critic far off must not slow the policy.

    Returns the norms before they were clipped.
    """
    accelerator.unscale_gradients()
    names = ("grad_norm", "critic_grad_norm")
    norms = {
        name: clip_grad_norm_(group["params"], max_norm)
        for name, group in zip(names, optimizer.param_groups, strict=False)
    }
    optimizer.step()
    optimizer.zero_grad()
    return norms


def means(seen: Sequence[Mapping[str, Tensor]], counts: Sequence[int]) -> dict[str, float]:
    """One transfer from the device for all figures of a step."""
    names = [*seen[0]]
    # The norm of a group without gradients is a number of the host's, wherever the weights are.
    device = seen[0]["loss"].device
    rows = [torch.stack([figures[name].float().to(device) for name in names]) for figures in seen]
    table = torch.stack(rows).cpu().double()
    share = torch.tensor(counts, dtype=torch.float64) / sum(counts)
    return dict(zip(names, (share @ table).tolist(), strict=True))


def checked(figures: Mapping[str, float], step: int, scaled: bool) -> None:
    """Weights that are no numbers any more must not be trained on, nor saved. A scaler skips such updates itself."""
    for name in ("loss", "grad_norm", "critic_grad_norm"):
        if not scaled and not math.isfinite(figures.get(name, 0.0)):
            raise BadInput(
                f"{name} is {figures[name]}",
                where=f"step {step}",
                remedy=f"lower lr or optimizer.critic_lr, then go on with {RESUME}; the last checkpoint is whole",
            )
