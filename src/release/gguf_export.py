"""Writes a model of `transformers` as a GGUF file for llama.cpp.

Three parts: load the model (adapters merged), describe its architecture (sizes, norms, positions), write its tensors
under the names, in the order and in the number formats of llama.cpp. A model that llama.cpp would compute differently
from `transformers` is refused.

F16 and Q8_0 are written by the library `gguf`. It cannot make the formats of Q4_K_M, and xllamacpp has no Python call
for them; the function of llama.cpp that makes them is in its shared library, and is called there.
"""

from __future__ import annotations

import ctypes
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
from gguf.quants import quantize
from numpy.typing import NDArray
from safetensors import SafetensorError

from ..checkpoint.seal import Damaged, read_seal
from ..core.errors import BadInput
from ..core.files import atomic_write, shipped, written
from ..core.model_files import (
    ADAPTER,
    explain_tokenizer_errors,
    find_policy,
    may_be_on_hub,
    name_model,
    read_once,
    require_weights,
)
from .gguf_tokenizer import exported_tokenizer, write_vocabulary

log = logging.getLogger(__name__)

FAMILIES: Mapping[str, gguf.MODEL_ARCH] = {"qwen3": gguf.MODEL_ARCH.QWEN3, "llama": gguf.MODEL_ARCH.LLAMA}
"""Architecture in llama.cpp by `model_type` in config.json."""
Kind = Literal["f16", "q8_0", "q4_k_m"]
FILE_TYPES: Mapping[Kind, gguf.LlamaFileType] = {
    "f16": gguf.LlamaFileType.MOSTLY_F16,
    "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
    "q4_k_m": gguf.LlamaFileType.MOSTLY_Q4_K_M,
}
FUNCTIONS = "askgate.functions"
"""Key in the GGUF file with the names of the functions that the policy calls."""
_TYPES = gguf.GGMLQuantizationType
_F32, _F16, _Q8_0 = _TYPES.F32, _TYPES.F16, _TYPES.Q8_0
LOGITS = ("token_embd.weight", "output.weight")
BLOCK, SUPER_BLOCK = 32, 256
"""Number of values that share one scale, in Q8_0 and Q5_0 and in the K formats."""
_LAYER = re.compile(r"blk\.(\d+)\.(attn_v|ffn_down)\.weight")
"""Tensors that Q4_K_M stores in six bits in some of the layers."""


def load_merged(folder: Path, adapter: Path | None) -> Any:
    """The model with its adapters merged into the weights.

    Merging is done in float32: 16 bits would round a small adapter away. Without an adapter the weights keep their
    stored type.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.utils import logging as transformers_logging

    from ..rollout.attention import require_supported

    if (folder / ADAPTER).exists():
        raise BadInput("these are adapters, not a model", where=str(folder), remedy="name their base instead")
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    remedy = "name a folder with config.json and safetensors"
    with _explained("no model can be loaded", folder, remedy), read_once(folder) as files:
        require_supported(AutoConfig.from_pretrained(files), str(folder))
        require_weights(folder)
        model: Any = AutoModelForCausalLM.from_pretrained(files, dtype=torch.float32 if adapter else "auto")
    if adapter is None:
        return model.eval()
    from peft import PeftModel

    if not (adapter / ADAPTER).exists():
        raise BadInput(f"there is no {ADAPTER}", where=str(adapter), remedy="name a folder that PEFT has saved")
    with suppress(Damaged):  # adapters from elsewhere have no seal
        if read_seal(adapter).marks.get("config", {}).get("finetune", {}).get("method") == "qlora":
            log.warning(
                "%s: trained on a base of 4 bits and merged into the base as it is stored, which rounds its weights "
                "less: the merged model may say other words than the run that was measured; `askgate eval --model` "
                "measures it",
                adapter,
            )
    remedy = "name the base that they were trained on with --model"
    with _explained("the adapters do not fit the model", adapter, remedy):
        return PeftModel.from_pretrained(model, str(adapter)).merge_and_unload().eval()


def load_tokenizer(folder: Path, adapter: Path | None = None) -> Any:
    """The tokenizer that was saved with the adapters, else that of the model."""
    from transformers import AutoTokenizer

    if adapter is not None and (adapter / "tokenizer_config.json").exists():
        folder = adapter
    with explain_tokenizer_errors(folder):
        return AutoTokenizer.from_pretrained(folder)


@contextmanager
def _explained(what: str, where: Path, remedy: str) -> Iterator[None]:
    """Turns the errors that a library raises for files it cannot use into BadInput."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, SafetensorError) as error:
        raise BadInput(f"{what} ({str(error).splitlines()[0]})", where=str(where), remedy=remedy) from error


def write_gguf(model: Any, tokenizer: Any, out: Path, kind: Kind, name: str, functions: Sequence[str] = ()) -> None:
    """Writes the file. The same model gives the same bytes; the file appears only when it is complete.

    `functions`: names of the functions that the policy calls, so that readers of the file can offer them; none if it
    writes tags.
    """
    architecture = family(model.config)
    rows = model.get_input_embeddings().weight.shape[0]
    exported = exported_tokenizer(tokenizer, rows)
    found = tensors(model, kind)
    with atomic_write(out) as handle:
        writer = gguf.GGUFWriter(written(handle), gguf.MODEL_ARCH_NAMES[architecture])
        try:
            writer.add_type("model")
            writer.add_name(name)
            writer.add_file_type(FILE_TYPES[kind])
            writer.add_quantization_version(2)
            if functions:
                writer.add_array(FUNCTIONS, list(functions))
            write_shape(writer, model.config)
            write_vocabulary(writer, tokenizer, exported, rows)
            for one in found:
                stored = gguf.quant_shape_to_byte_shape(tuple(one.source.shape), one.type)
                writer.add_tensor_info(one.name, stored, np.dtype(np.uint8), math.prod(stored), raw_dtype=one.type)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            for one in found:
                writer.write_tensor_data(one.data())
        finally:
            writer.close()


def policy_folders(given: Path, adapter: Path | None = None) -> tuple[Path, Path | None]:
    """Folders of model and adapters: a folder of the user, a shipped one (`models/tiny`), or a model of the hub."""
    folder = shipped(given)
    if not folder.is_dir() and not may_be_on_hub(folder):
        remedy = name_model(given, "name a folder with config.json and safetensors")
        raise BadInput("no such folder", where=str(given), remedy=remedy)
    return find_policy(str(given), adapter)


def family(config: Any) -> gguf.MODEL_ARCH:
    """The architecture in llama.cpp. Refuses a model that llama.cpp would compute differently."""
    if config.model_type not in FAMILIES:
        what = f"models of type {config.model_type} are not exported"
        remedy = f"use a model of the families {', '.join(FAMILIES)}"
        raise BadInput(what, where="config.json: model_type", remedy=remedy)
    _refuse(config.hidden_act != "silu", "hidden_act", f"is {config.hidden_act}, and llama.cpp computes silu")
    slides = "sliding_attention" in (config.to_dict().get("layer_types") or [])
    _refuse(slides, "layer_types", "has sliding-window layers, which llama.cpp does not have for this family")
    return FAMILIES[config.model_type]


def write_shape(writer: gguf.GGUFWriter, config: Any) -> None:
    """Writes sizes, norms and positions of the network."""
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
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    match rope["rope_type"]:
        case "default" | "llama3":
            # Llama 3 scales each frequency separately; that is a tensor, see `rope_factors`.
            pass
        case "linear":
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(rope["factor"])
        case "yarn":
            known = {"rope_type", "rope_theta", "factor", "original_max_position_embeddings"}
            _refuse(bool(set(rope) - known), "rope_parameters", f"has yarn settings beside {', '.join(sorted(known))}")
            writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
            writer.add_rope_scaling_factor(rope["factor"])
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        case other:
            _refuse(True, "rope_parameters", f"is of type {other}, which is not exported")


def head_width(config: Any) -> int:
    return int(config.to_dict().get("head_dim") or config.hidden_size // config.num_attention_heads)


def rope_factors(config: Any) -> NDArray[np.float32] | None:
    """Divisors of the rotary frequencies of Llama 3; None for other models."""
    rope = config.rope_parameters
    if rope["rope_type"] != "llama3":
        return None
    width, old = head_width(config), rope["original_max_position_embeddings"]
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    wavelength = 2 * math.pi * rope["rope_theta"] ** (np.arange(0, width, 2) / width)
    # 1 for wavelengths within the original context, `factor` for long ones, and a linear ramp between.
    smooth = np.clip((old / wavelength - low) / (high - low), 0, 1)
    factors: NDArray[np.float32] = (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)
    return factors


def _refuse(wrong: bool, key: str, why: str) -> None:
    if wrong:
        raise BadInput(why, where=f"config.json: {key}", remedy="export another model, or evaluate it with PyTorch")


@dataclass(frozen=True)
class Tensor:
    """A tensor under its name in llama.cpp."""

    name: str
    source: Any
    """A torch tensor, converted only when it is written."""
    type: gguf.GGMLQuantizationType
    heads: int | None = None
    """Number of heads whose rows are reordered for rotary positions; None: rows stay as they are."""

    def data(self) -> NDArray[Any]:
        numbers: NDArray[np.float32] = self.source.detach().float().cpu().numpy()
        if self.heads is not None:
            numbers = in_pairs(numbers, self.heads)
        if self.type in (_TYPES.Q4_K, _TYPES.Q6_K):
            return quantize_k(np.ascontiguousarray(numbers), self.type, self.name)
        with np.errstate(over="ignore"):
            made = quantize(np.ascontiguousarray(numbers), self.type)
        if self.type == _F16 and not np.isfinite(made).all():
            raise BadInput("has values beyond F16", where=self.name, remedy="export with --type q8_0, or another model")
        return made


def tensors(model: Any, kind: Kind) -> list[Tensor]:
    """All weights of a causal language model. Tied embeddings are listed once."""
    import torch

    config = model.config
    names = gguf.get_tensor_name_map(family(config), config.num_hidden_layers)
    weights = model.state_dict()
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    paired = {".q_proj.": config.num_attention_heads, ".k_proj.": config.num_key_value_heads}
    made = []
    for name, weight in weights.items():
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if new is None:
            remedy = "merge adapters with --adapter; other additions to the model are not exported"
            raise BadInput(f"llama.cpp has no tensor for {name}", where="model", remedy=remedy)
        heads = next((count for part, count in paired.items() if part in name), None)
        stored = _stored_as(new, weight, config, kind)
        made.append(Tensor(new, weight, stored, heads if config.model_type == "llama" else None))
    factors = rope_factors(config)
    if factors is not None:
        made.append(Tensor("rope_freqs.weight", torch.from_numpy(factors), _F32))
    return made


def in_pairs(rows: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Reorders rows for rotary positions: `transformers` pairs i with i + width/2, llama.cpp's Llama 2i with 2i + 1."""
    split = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return split.swapaxes(1, 2).reshape(rows.shape)


def _stored_as(name: str, weight: Any, config: Any, kind: Kind) -> gguf.GGMLQuantizationType:
    """The number format of a tensor.

    Norms and biases are small and stay in F32. With q8_0 the output layer stays in F16, because 8 bits there would
    change the choice of tokens directly. Q4_K_M is llama.cpp's mixture: six bits for the logits and for half of the
    layers' values and down projections, four for the rest. Rows whose length is no multiple of 256 get Q8_0 and Q5_0
    instead.
    """
    if weight.dim() == 1:
        return _F32
    if kind == "f16" or weight.shape[-1] % BLOCK:
        return _F16
    if kind == "q8_0":
        return _F16 if name in LOGITS else _Q8_0
    layer, layers = _LAYER.fullmatch(name), config.num_hidden_layers
    makes_logits = name == LOGITS[not config.tie_word_embeddings]
    six_bits = makes_logits or (layer is not None and _more_bits(int(layer[1]), layers))
    if weight.shape[-1] % SUPER_BLOCK == 0:
        return _TYPES.Q6_K if six_bits else _TYPES.Q4_K
    return _Q8_0 if six_bits else _TYPES.Q5_0


def _more_bits(layer: int, layers: int) -> bool:
    """Whether Q4_K_M has six bits for values and down projection of a layer.

    >>> [layer for layer in range(16) if _more_bits(layer, 16)]
    [0, 1, 4, 7, 10, 13, 14, 15]
    """
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def quantize_k(rows: NDArray[np.float32], kind: gguf.GGMLQuantizationType, name: str) -> NDArray[np.uint8]:
    """A matrix in a K format, by llama.cpp's own function."""
    if not np.isfinite(rows).all():
        raise BadInput("has values that are no numbers", where=name, remedy="export another model")
    count, width = rows.reshape(-1, rows.shape[-1]).shape
    made = np.empty(gguf.quant_shape_to_byte_shape((count, width), kind), dtype=np.uint8)
    size = _quantize_chunk()(kind, rows.ctypes.data, made.ctypes.data, 0, count, width, None)
    if size != made.nbytes:
        raise BadInput(f"llama.cpp made {size} bytes, not {made.nbytes}", where=name, remedy="export with --type q8_0")
    return made.reshape(*rows.shape[:-1], made.shape[-1])


@cache
def _quantize_chunk() -> Any:
    """`ggml_quantize_chunk` of the shared library of xllamacpp: type, numbers, result, start, rows, width, weights."""
    from xllamacpp import xllamacpp

    try:
        found = ctypes.CDLL(xllamacpp.__file__).ggml_quantize_chunk
    except (AttributeError, OSError):
        remedy = "export with --type f16, then run llama.cpp's own llama-quantize"
        what = "this xllamacpp does not export llama.cpp's quantization"
        raise BadInput(what, where="--type", remedy=remedy) from None
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    found.argtypes, found.restype = [ctypes.c_int, pointer, pointer, count, count, count, pointer], ctypes.c_size_t
    return found
