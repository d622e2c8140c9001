"""Tensors under the names, in the order and in the number formats that llama.cpp reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, get_tensor_name_map, quant_shape_to_byte_shape
from gguf.quants import quantize
from numpy.typing import NDArray

from ..core.errors import BadInput
from .gguf_shape import family, rope_factors

Kind = Literal["f16", "q8_0"]
FILE_TYPES: Mapping[Kind, LlamaFileType] = {"f16": LlamaFileType.MOSTLY_F16, "q8_0": LlamaFileType.MOSTLY_Q8_0}
_F32, _F16, _Q8_0 = GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.Q8_0
LOGITS = ("token_embd.weight", "output.weight")
BLOCK = 32
"""Numbers that share a scale in Q8_0."""


@dataclass(frozen=True)
class Tensor:
    name: str
    source: Any
    """Of `torch`; it becomes numbers only when its turn to be written comes."""
    type: GGMLQuantizationType
    heads: int | None = None
    """Rows come in halves by head and are laid in pairs."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.source.shape)

    def data(self) -> NDArray[Any]:
        numbers: NDArray[np.float32] = self.source.detach().float().cpu().numpy()
        if self.heads is not None:
            numbers = in_pairs(numbers, self.heads)
        with np.errstate(over="ignore"):
            made = quantize(np.ascontiguousarray(numbers), self.type)
        if self.type == _F16 and not np.isfinite(made).all():
            raise BadInput(
                "holds numbers that F16 cannot", where=self.name, remedy="export with --type q8_0, or another model"
            )
        return made


def tensors(model: Any, kind: Kind) -> list[Tensor]:
    """All weights of a causal language model; tied embeddings once."""
    import torch

    config = model.config
    names = get_tensor_name_map(family(config), config.num_hidden_layers)
    weights = model.state_dict()
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    made = [_tensor(name, _renamed(names, name), weight, config, kind) for name, weight in weights.items()]
    factors = rope_factors(config)
    if factors is not None:
        made.append(Tensor("rope_freqs.weight", torch.from_numpy(factors), _F32))
    return made


def write_tensors(writer: GGUFWriter, found: list[Tensor]) -> None:
    """Header and all numbers, one tensor at a time."""
    for tensor in found:
        stored = quant_shape_to_byte_shape(tensor.shape, tensor.type)
        writer.add_tensor_info(tensor.name, stored, np.dtype(np.uint8), math.prod(stored), raw_dtype=tensor.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in found:
        writer.write_tensor_data(tensor.data())


def in_pairs(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """`transformers` turns dimension i of a head with i + half of it, llama.cpp's Llama turns 2i with 2i + 1."""
    split = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return split.swapaxes(1, 2).reshape(rows.shape)


def _tensor(name: str, new: str, weight: Any, config: Any, kind: Kind) -> Tensor:
    heads = None
    if config.model_type == "llama":
        if ".q_proj." in name:
            heads = config.num_attention_heads
        elif ".k_proj." in name:
            heads = config.num_key_value_heads
    return Tensor(new, weight, _stored_as(new, weight, kind), heads)


def _stored_as(name: str, weight: Any, kind: Kind) -> GGMLQuantizationType:
    """Norms and biases are few and stay exact. What the logits come out of stays in F16: there eight bits go straight
    into the choice of a token."""
    if weight.dim() == 1:
        return _F32
    return _Q8_0 if kind == "q8_0" and weight.shape[-1] % BLOCK == 0 and name not in LOGITS else _F16


def _renamed(names: Any, name: str) -> str:
    found = names.get_name(name, try_suffixes=(".weight", ".bias"))
    if found is None:
        raise BadInput(
            f"llama.cpp has no place for the tensor {name}",
            where="model",
            remedy="merge adapters with --adapter; other additions to the model are not exported",
        )
    return str(found)
