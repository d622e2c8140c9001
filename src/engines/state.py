"""The state of an engine as a tree of tensors and plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ..checkpoint.state import same_layout
from ..core.defaults import RESUME
from ..core.errors import BadInput


def learned(module: nn.Module) -> dict[str, Tensor]:
    """The weights that learn, each once however many layers share it. What is frozen comes from the base model."""
    return {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}


def finite(weights: dict[str, Tensor], step: int) -> dict[str, Tensor]:
    """A checkpoint with weights that are no numbers would be a place that no run can go on from."""
    for name, weight in weights.items():
        if not torch.isfinite(weight).all():
            raise BadInput(
                f"{name} holds what is no number, so it is not saved",
                where=f"step {step}",
                remedy=f"lower lr or optimizer.critic_lr, then go on with {RESUME} from the checkpoint before",
            )
    return weights


def put_back(module: nn.Module, weights: Mapping[str, Tensor], where: str) -> None:
    """Into the very tensors that the optimizer holds."""
    own = learned(module)
    same_layout(weights, own, where, "weights")
    for name, weight in own.items():
        weight.copy_(weights[name])


def machine() -> dict[str, Any]:
    """What a run must share with another to have the same bits."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
