"""The gradient of a minibatch that is too large for one forward pass, exact for every loss and every packing.

A loss may couple all tokens of a minibatch: it divides by their number, it compares two episodes of a sample. So the
loss is taken once, over all of them. The streams before the last one are read without a graph first; the loss then
gives the gradient at each of their tokens, and a second reading carries it back into the weights. A minibatch that fits
in one stream is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .packed import Learner, Scored, Stream, joined

if TYPE_CHECKING:
    from accelerate import Accelerator

Loss = Callable[[Scored], tuple[Tensor, dict[str, Tensor]]]


def accumulate(
    accelerator: Accelerator, learner: Learner, streams: Sequence[Stream], loss_of: Loss, critic_only: bool = False
) -> dict[str, Tensor]:
    """Adds the gradient of the loss to the weights. Returns the loss (`loss`) and its figures."""
    *others, last = streams
    with torch.no_grad():
        read = [learner(stream, critic_only) for stream in others]
    leaves = [_leaf(part) for part in read]
    loss, figures = loss_of(joined([*leaves, learner(last, critic_only)]))
    if loss.requires_grad:
        accelerator.backward(loss)
        for stream, leaf in zip(others, leaves, strict=True):
            _carry_back(learner(stream, critic_only), leaf)
    return {"loss": loss.detach(), **{name: figure.detach() for name, figure in figures.items()}}


def _leaf(part: Scored) -> Scored:
    value_N = part.value_N
    return Scored(
        part.logp_N.requires_grad_(),
        part.entropy_N.requires_grad_(),
        value_N if value_N is None else value_N.requires_grad_(),
    )


def _carry_back(again: Scored, leaf: Scored) -> None:
    """The gradient that the loss left at the tokens, on to the weights. It is scaled already where a scaler scales."""
    pairs = [
        (x, at.grad)
        for x, at in zip(again, leaf, strict=True)
        if x is not None and at is not None and x.requires_grad and at.grad is not None
    ]
    if pairs:
        torch.autograd.backward([x for x, _ in pairs], [grad for _, grad in pairs])
