"""One forward pass over many sequences of different lengths, packed end to end into a single stream.

`transformers` would pad a batch to its longest sequence and compute the padding. Here the stream has no padding: every
layer but attention works token by token anyway, and an *attention plan* decides which tokens attend to which. The plan
is passed as a keyword through the model's own forward, so the model's code is unchanged.

Array names carry their shape: `T` tokens of the stream, `N` chosen ones, `H` the model's width, `V` its vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from ..core.errors import BadInput

NAME = "askgate_packed"
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types whose logits are the plain output of the head, and whose layers pass keywords on to attention."""


class AttentionPlan(Protocol):
    """Decides which tokens of a stream attend to which, and computes attention accordingly."""

    positions_1T: Tensor
    """Position of each token in its own sequence."""

    def attend(self, module: Any, query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
        """Attention from [1, heads, T, width] to [1, T, heads, width]. `module` is the model's attention layer."""
        ...


def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    plan: AttentionPlan | None = None,
    sliding_window: int | None = None,
    **rest: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attention by a plan; without a plan ordinary attention, so that the model also works outside of packed passes."""
    if plan is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, dropout, scaling, **rest)
    if sliding_window is not None:
        raise BadInput("the model has layers with a sliding window", remedy="choose a model with full attention")
    return plan.attend(module, query, key, value, scaling, dropout), None


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


@runtime_checkable
class PeftWrapper(Protocol):
    """The wrapper that `peft` puts around a model. The adapters are in the layers of the model inside."""

    def get_base_model(self) -> PreTrainedModel: ...


def unwrap(model: nn.Module) -> PreTrainedModel:
    """The causal language model inside a wrapper, set to attention by plan."""
    base = model.get_base_model() if isinstance(model, PeftWrapper) else model
    if not isinstance(base, PreTrainedModel) or base.config.model_type not in FAMILIES:
        kind = base.config.model_type if isinstance(base, PreTrainedModel) else type(base).__name__
        raise BadInput(f"no packed forward for a model of type {kind}", remedy=f"use one of {sorted(FAMILIES)}")
    if base.config._attn_implementation != NAME:
        base.set_attn_implementation(NAME)
    return base


def require_supported(config: Any, where: str) -> None:
    """Refuses the `transformers` config of a model that has no packed forward, before its weights are loaded."""
    if config.model_type not in FAMILIES:
        remedy = f"name a model of type {', '.join(sorted(FAMILIES))}"
        raise BadInput(f"models of type {config.model_type} are not supported", where=where, remedy=remedy)
    kinds = getattr(config, "layer_types", None)
    has_window = "sliding_attention" in kinds if kinds else bool(getattr(config, "sliding_window", None))
    if has_window:
        what = "the model has layers with a sliding window"
        raise BadInput(what, where=where, remedy="choose a model with full attention")


def hidden_states(base: Any, tokens_T: Tensor, plan: AttentionPlan) -> Tensor:
    """The last hidden states of the stream, [T, H]. `base` comes from `unwrap`."""
    if len(tokens_T) != plan.positions_1T.shape[1]:
        raise ValueError(f"the plan is for {plan.positions_1T.shape[1]} tokens, the stream has {len(tokens_T)}")
    # `transformers` passes a 4-d mask on instead of computing one. The plan ignores it.
    unread = torch.empty((1, 1, 1, 1), device=tokens_T.device)
    out = base.get_decoder()(
        input_ids=tokens_T[None], attention_mask=unread, position_ids=plan.positions_1T, use_cache=False, plan=plan
    )
    hidden: Tensor = out.last_hidden_state[0]
    return hidden


def upload(tensor: Tensor, device: torch.device) -> Tensor:
    """Copies a tensor to the device, from pinned memory: else the host would wait for all queued work of the GPU."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class SegmentPlan:
    """The attention plan of training: whole sequences, each causal within itself.

    On CUDA in 16 bits flash attention takes the packed stream as it is. On a GPU in 32 bits attention (and nothing
    else) is padded: that is faster than many small kernels. On a CPU, `paths` allows sequences to share tokens: a path
    has the positions in the stream of all tokens of a sequence, of which the last `lengths` ones are not shared with an
    earlier sequence.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        device: torch.device,
        padded: bool | None = None,
        paths: Sequence[NDArray[np.int64]] | None = None,
    ) -> None:
        self.lengths = list(lengths)
        self.padded = device.type != "cpu" if padded is None else padded
        sizes = torch.tensor(self.lengths)
        starts = sizes.cumsum(0) - sizes
        position_T = torch.arange(int(sizes.sum())) - starts.repeat_interleave(sizes)
        self.path_P = None
        """Positions in the stream of all keys that are read, sequence by sequence; None: no tokens are shared."""
        if paths is not None:
            self.path_P = torch.from_numpy(np.concatenate(paths))
            self.path_lengths = [len(path) for path in paths]
            shared = [whole - own for whole, own in zip(self.path_lengths, self.lengths, strict=True)]
            position_T += torch.tensor(shared).repeat_interleave(sizes)
            self.shared_lengths = shared
            self.masks: dict[torch.dtype, list[Tensor | None]] = {}
        self.longest = max(self.lengths)
        self.limit = max(1024, 1 << (self.longest - 1).bit_length())
        """Bound on the lengths for flash attention. A power of two, because a compiled layer is compiled again for
        another bound."""
        self.positions_1T = upload(position_T[None], device)
        if device.type == "cuda":
            self.ends = upload(torch.cat((torch.zeros(1), sizes.cumsum(0))).to(torch.int32), device)
        if self.padded:
            # One row per sequence, padded at its end with arbitrary tokens, which no other token attends to.
            row_T = torch.arange(len(self.lengths)).repeat_interleave(sizes)
            self.cells_T = upload(row_T * self.longest + position_T, device)
            cells = (starts[:, None] + torch.arange(self.longest)).clamp(max=len(position_T) - 1)
            self.tokens_SL = upload(cells, device)

    def attend(self, module: Any, query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float) -> Tensor:
        # Under autocast the norms of a float32 model return float32 queries; the values have the autocast dtype.
        if value.is_cuda and value.dtype in (torch.bfloat16, torch.float16) and value.shape[-1] % 8 == 0:
            q, k, v = (x[0].transpose(0, 1).to(value.dtype) for x in (query, key, value))
            out: Tensor = torch.ops.aten._flash_attention_forward(
                q, k, v, self.ends, self.ends, self.limit, self.limit, dropout, True, False, scale=scale
            )[0]
            return out[None]
        if self.path_P is not None:
            # In float32, because the gradients of all sequences are summed here.
            read = (x.float().index_select(2, self.path_P).to(x.dtype) for x in (key, value))
            keys, values = (torch.split(x, self.path_lengths, 2) for x in read)
            rows = zip(torch.split(query, self.lengths, 2), keys, values, self._masks(value.dtype), strict=True)
            pieces = [_causal(q, k, v, scale, dropout, mask) for q, k, v, mask in rows if q.shape[2]]
            return torch.cat(pieces, 2).transpose(1, 2)
        if not self.padded:
            parts = zip(*(torch.split(x, self.lengths, 2) for x in (query, key, value)), strict=True)
            return torch.cat([_causal(q, k, v, scale, dropout) for q, k, v in parts], 2).transpose(1, 2)
        q, k, v = (x[0].transpose(0, 1)[self.tokens_SL].transpose(1, 2) for x in (query, key, value))
        return _causal(q, k, v, scale, dropout).transpose(1, 2).flatten(0, 1)[self.cells_T][None]

    def _masks(self, dtype: torch.dtype) -> list[Tensor | None]:
        """Additive masks of the sequences that begin with shared tokens. All layers use the same tensors, which they
        keep for the backward pass."""
        if dtype not in self.masks:
            self.masks[dtype] = [
                torch.full((own, start + own), -torch.inf, dtype=dtype).triu(start + 1) if start else None
                for own, start in zip(self.lengths, self.shared_lengths, strict=True)
            ]
        return self.masks[dtype]


def _causal(
    query: Tensor, key: Tensor, value: Tensor, scale: float, dropout: float, mask: Tensor | None = None
) -> Tensor:
    return scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=mask is None, scale=scale, dropout_p=dropout, enable_gqa=True
    )
