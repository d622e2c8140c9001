"""What llama.cpp has to know of a network beside its weights: sizes, norms, positions. Anything that it would
compute otherwise than `transformers` does is refused, not approximated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gguf import MODEL_ARCH, GGUFWriter, RopeScalingType
from numpy.typing import NDArray

from ..core.errors import BadInput

FAMILIES: Mapping[str, MODEL_ARCH] = {"qwen3": MODEL_ARCH.QWEN3, "llama": MODEL_ARCH.LLAMA}
"""By `model_type` in config.json."""


def family(config: Any) -> MODEL_ARCH:
    if config.model_type not in FAMILIES:
        raise BadInput(
            f"models of type {config.model_type} are not exported",
            where="config.json: model_type",
            remedy=f"use a model of the families {', '.join(FAMILIES)}",
        )
    _refuse(config.hidden_act != "silu", "hidden_act", f"is {config.hidden_act}, and llama.cpp computes silu")
    slides = "sliding_attention" in (config.to_dict().get("layer_types") or [])
    _refuse(slides, "layer_types", "has layers that see a sliding window, which llama.cpp has not for this family")
    return FAMILIES[config.model_type]


def write_shape(writer: GGUFWriter, config: Any) -> None:
    width = head_width(config)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(width)
    writer.add_value_length(width)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_dimension_count(width)
    _write_positions(writer, config)


def head_width(config: Any) -> int:
    return int(config.to_dict().get("head_dim") or config.hidden_size // config.num_attention_heads)


def _write_positions(writer: GGUFWriter, config: Any) -> None:
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    match rope["rope_type"]:
        case "default" | "llama3":
            # Llama 3 turns each frequency by a factor of its own: a tensor, see `rope_factors`.
            pass
        case "linear":
            writer.add_rope_scaling_type(RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(rope["factor"])
        case "yarn":
            known = {"rope_type", "rope_theta", "factor", "original_max_position_embeddings"}
            _refuse(bool(set(rope) - known), "rope_parameters", f"has settings of yarn beside {', '.join(known)}")
            writer.add_rope_scaling_type(RopeScalingType.YARN)
            writer.add_rope_scaling_factor(rope["factor"])
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        case other:
            _refuse(True, "rope_parameters", f"is of type {other}, which is not exported")


def rope_factors(config: Any) -> NDArray[np.float32] | None:
    """What Llama 3 divides the frequency of each pair of dimensions by; None where there is no such thing."""
    rope = config.rope_parameters
    if rope["rope_type"] != "llama3":
        return None
    width, old = head_width(config), rope["original_max_position_embeddings"]
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    wavelength = 2 * math.pi * rope["rope_theta"] ** (np.arange(0, width, 2) / width)
    # 1 for waves short enough to have been seen whole, `factor` for long ones, and a slope between them.
    smooth = np.clip((old / wavelength - low) / (high - low), 0, 1)
    factors: NDArray[np.float32] = (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)
    return factors


def _refuse(wrong: bool, key: str, why: str) -> None:
    if wrong:
        raise BadInput(why, where=f"config.json: {key}", remedy="export another model, or evaluate it with PyTorch")
