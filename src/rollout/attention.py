"""One forward pass over many sequences of different lengths, laid end to end in a single stream.

`transformers` would pad a batch to its longest sequence and compute the padding. Here the stream has no padding: every
layer but attention works token by token anyway, and attention is told by a *plan* which tokens see which. The plan
travels as a keyword through the model's own forward, so the model's code stays as its authors wrote it.

Array names carry their shape: `T` tokens of the stream, `N` chosen ones, `H` the model's width, `V` its vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from ..core.errors import BadInput

NAME = "askgate_packed"
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Decoders whose logits are the head's output and nothing more, and whose layers hand keywords on to attention."""


class Plan(Protocol):
    """Which tokens of a stream see which."""

    positions_1T: Tensor
    """The place of each token in its own sequence."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
        """From [1, heads, T, width] to [1, T, heads, width]."""
        ...


def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    plan: Plan | None = None,
    sliding_window: int | None = None,
    **rest: Any,
) -> tuple[Tensor, Tensor | None]:
    """Without a plan it is the ordinary attention, so that a model set to it still works everywhere else."""
    if plan is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout, scaling, **rest)
    if sliding_window is not None:
        raise BadInput("the model has layers with a sliding window", remedy="choose a model with full attention")
    return plan.attend(module.layer_idx, query, key, value, scaling, dropout), None


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


@runtime_checkable
class Wrapped(Protocol):
    """What `peft` puts around a model; its adapters live in the layers of the model inside."""

    def get_base_model(self) -> PreTrainedModel: ...


def inner(model: nn.Module) -> PreTrainedModel:
    """The causal model inside, set to attention by plan."""
    base = model.get_base_model() if isinstance(model, Wrapped) else model
    if not isinstance(base, PreTrainedModel) or base.config.model_type not in FAMILIES:
        kind = base.config.model_type if isinstance(base, PreTrainedModel) else type(base).__name__
        raise BadInput(f"no packed forward for a model of type {kind}", remedy=f"use one of {sorted(FAMILIES)}")
    if base.config._attn_implementation != NAME:
        base.set_attn_implementation(NAME)
    return base


def hidden_states(base: Any, tokens_T: Tensor, plan: Plan) -> Tensor:
    """The last hidden states of the stream, [T, H]. `base` comes from `inner`."""
    # A mask of four dimensions is handed on as it is: no mask is computed, and a plan does not look at it.
    unread = torch.empty((1, 1, 1, 1), device=tokens_T.device)
    out = base.get_decoder()(
        input_ids=tokens_T[None], attention_mask=unread, position_ids=plan.positions_1T, use_cache=False, plan=plan
    )
    hidden: Tensor = out.last_hidden_state[0]
    return hidden


class Segments:
    """Whole sequences, each causal within itself: the training forward.

    An accelerator would rather compute some padding in attention, and nowhere else, than start many small kernels.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device, padded: bool | None = None) -> None:
        self.lengths = list(lengths)
        self.padded = device.type != "cpu" if padded is None else padded
        sizes = torch.tensor(self.lengths)
        starts = sizes.cumsum(0) - sizes
        place_T = torch.arange(int(sizes.sum())) - starts.repeat_interleave(sizes)
        self.positions_1T = place_T[None].to(device)
        if self.padded:
            # A row for each sequence, filled up at its end with some token: what is last is seen by nobody.
            longest = max(self.lengths)
            row_T = torch.arange(len(self.lengths)).repeat_interleave(sizes)
            self.cells_T = (row_T * longest + place_T).to(device)
            cells = (starts[:, None] + torch.arange(longest)).clamp(max=len(place_T) - 1)
            self.tokens_SL = cells.to(device)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
        if not self.padded:
            pieces = zip(*(torch.split(x, self.lengths, 2) for x in (query, key, value)), strict=True)
            return torch.cat([_causal(q, k, v, scale, dropout) for q, k, v in pieces], 2).transpose(1, 2)
        q, k, v = (x[0].transpose(0, 1)[self.tokens_SL].transpose(1, 2) for x in (query, key, value))
        return _causal(q, k, v, scale, dropout).transpose(1, 2).flatten(0, 1)[self.cells_T][None]


def _causal(query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
    return scaled_dot_product_attention(
        query, key, value, is_causal=True, scale=scale, dropout_p=dropout, enable_gqa=True
    )


def packed_forward(
    model: nn.Module, tokens_T: Tensor, lengths: Sequence[int], at_N: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Logits [N, V] and last hidden states [N, H] at the places `at_N` of the stream, or at all of them.

    `tokens_T` holds sequences of the given lengths end to end; none sees another. Where few places are wanted, the
    head, which is the dearest layer of a small model, works on those alone. Logits at a token are those of the token
    that follows it.
    """
    if sum(lengths) != len(tokens_T) or min(lengths, default=0) < 1:
        raise ValueError(f"{len(tokens_T)} tokens do not make sequences of {list(lengths)}")
    base: Any = inner(model)
    hidden = hidden_states(base, tokens_T, Segments(lengths, tokens_T.device))
    if at_N is not None:
        hidden = hidden[at_N]
    return base.get_output_embeddings()(hidden), hidden
