"""The rollout backend for CUDA: a merged copy of the weights, a static key-value cache, one captured step.

A step reads a *stream* of tokens and samples the next token of every dialogue in it:

    rows 0 .. R-1        one row per dialogue: the token sampled last, or nothing
    rows R .. R+P-1      openings and replies, in tiles of 16 tokens; a tile belongs to one dialogue

All inputs (tokens, slots, positions, uniform numbers) are one small buffer, so a step is one copy to the device, one
graph replay and one copy back. The token that the previous step sampled is taken from device memory, so the host can
start a step before it has read the tokens of the previous one. There is one CUDA graph per pair of R and P; a step
takes the smallest pair that it fits into, and its unused rows read and write a slot that no dialogue uses.

The copy has fused matrices (query, key and value; gate and up) and adapters merged in. It is refreshed in place at the
start of a rollout. Adapters are never merged into the trained weights themselves: in 16 bits, merging and unmerging
changes them.

On a CPU the same step runs without graphs, compiler and kernels, for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention, silu

from ..core.errors import BadInput
from ..runtime.device import allowed_share
from .attention import unwrap
from .sampling import SampledTokens, require_finite, sample_blocks

REPRODUCIBLE: dict[str, str | int | bool | Callable[..., Any]] = {"deterministic": True}
"""Options of `torch.compile`: it must not choose kernels by timings, which differ from one run to the next."""
TILE = 16
"""Tokens of an opening or reply that one attention program reads together."""
PREFILL = (0, 128, 512, 2048)
"""Sizes of P. Larger ones would delay the dialogues that are in the middle of a turn."""
FREE_SHARE = 0.9
"""Share of the free memory that copy and cache may take. The steps themselves need the rest."""
MIN_ROWS = 8
"""Smallest R. It doubles up to the number of slots; where P is above 0, R is always the number of slots."""

_backends: WeakKeyDictionary[nn.Module, CudaBackend] = WeakKeyDictionary()


def cuda_backend(model: nn.Module, slots: int, room: int, device: torch.device, dtype: torch.dtype) -> CudaBackend:
    """The backend of a model, with its current weights. It is made once and kept as long as the model.

    On a GPU without memory for so many slots it has fewer: episodes do not depend on their number.
    """
    backend = _backends.get(model)
    if backend is None or not backend.fits(model, slots, room, dtype):
        _backends.pop(model, None)
        backend = CudaBackend(model, fitting_slots(model, slots, room, device, dtype), room, device, dtype)
        backend.requested = slots
        _backends[model] = backend
    backend.refresh(model)
    return backend


def fitting_slots(model: nn.Module, slots: int, room: int, device: torch.device, dtype: torch.dtype) -> int:
    """The number of slots that fit into the free memory beside the copy of the weights; at most `slots`."""
    free = free_bytes(device)
    if free is None:
        return slots
    base: Any = unwrap(model)
    layers, size = base.get_decoder().layers, torch.finfo(dtype).bits // 8
    copy = size * sum(
        module.in_features * module.out_features
        for layer in layers
        for module in (*_qkv(layer.self_attn), layer.self_attn.o_proj, *layer.mlp.children())
        if hasattr(module, "in_features")
    )
    per_slot = size * room * len(layers) * 2 * base.config.num_key_value_heads * layers[0].self_attn.head_dim
    fitting = int((FREE_SHARE * free - copy) / per_slot) - 1  # one slot belongs to unused rows
    if fitting < 1:
        raise BadInput(
            f"a copy of the weights and one dialogue of {room} tokens take {(copy + 2 * per_slot) / 2**30:.1f} GiB, "
            f"and {free / 2**30:.1f} are free",
            where="rollout.max_tokens",
            remedy="lower rollout.max_tokens, or set rollout.backend: cpu, which has no copy and is slower",
        )
    return min(slots, fitting)


def free_bytes(device: torch.device) -> int | None:
    """Memory that this process may still allocate on a GPU; None on other devices."""
    if device.type != "cuda":
        return None
    free, total = torch.cuda.mem_get_info(device)
    limit = int(total * allowed_share(device)) - torch.cuda.memory_reserved(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return min(free, limit) + unused


class CudaBackend:
    """Implements `scheduler.Backend` for models of the Llama and Qwen families."""

    ahead, max_prefill = 1, PREFILL[-1]
    tile: int | None = TILE
    min_prefill = 1

    def __init__(self, model: nn.Module, slots: int, room: int, device: torch.device, dtype: torch.dtype) -> None:
        base: Any = unwrap(model)
        self.count, self.room, self.device, self.dtype = slots, room, device, dtype
        self.requested = slots
        """Number of slots that were requested; there may have been memory for fewer."""
        self.lengths = [0] * slots
        self.weights = RolloutWeights(base, room, dtype)
        shape = (slots + 1, base.config.num_key_value_heads, room, self.weights.head_dim)
        # A tensor per layer. Zeros, because masked entries are still multiplied. The last slot belongs to unused rows.
        self.keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in self.weights.layers]
        self.values = [torch.zeros(shape, dtype=dtype, device=device) for _ in self.weights.layers]
        self.sampled = torch.zeros(slots, dtype=torch.long, device=device)
        """The tokens that the last step sampled, by row."""
        self._row_of: dict[int, int] = {}
        """The row of each slot in the last step."""
        self._steps: dict[tuple[int, int, float], Step] = {}
        self._pool = torch.cuda.graph_pool_handle() if device.type == "cuda" else None

    def fits(self, model: nn.Module, slots: int, room: int, dtype: torch.dtype) -> bool:
        """Whether this backend was made for such a rollout, and the model's weights are still where they were."""
        embedding: Any = unwrap(model).get_input_embeddings()
        here = embedding.weight.data_ptr() == self.weights.embedding.data_ptr()
        return here and (self.requested, self.room, self.dtype) == (slots, room, dtype)

    def refresh(self, model: nn.Module) -> None:
        """Copies the model's current weights and forgets all dialogues."""
        self.weights.load(unwrap(model))
        self.lengths = [0] * self.count
        self._row_of = {}

    def copy_prefix(self, slot: int, source: int, start: int, end: int) -> None:
        if source != slot and start < end:
            caches = [*self.keys, *self.values]
            torch._foreach_copy_(
                [cache[slot, :, start:end] for cache in caches], [cache[source, :, start:end] for cache in caches]
            )
        self.lengths[slot] = end

    def start(
        self, pieces: Sequence[tuple[int, Sequence[int]]], temperature: float, uniform_N: np.ndarray | None
    ) -> Callable[[], SampledTokens]:
        tiles = sum(-(-len(tokens) // TILE) for _, tokens in pieces if len(tokens) > 1)
        step = self._step(len(pieces), tiles * TILE, temperature)
        host = step.next_host()
        rows = step.rows
        host.slot[:], host.position[:], host.token[:], host.uniform[:] = self.count, 0, 0, -1.0
        at = rows
        for row, (slot, tokens) in enumerate(pieces):
            start, length = self.lengths[slot], len(tokens)
            if length > 1:
                host.slot[at : at + length] = slot
                host.position[at : at + length] = range(start, start + length)
                host.token[at : at + length] = tokens
                host.last[row] = at + length - 1
                at += -(-length // TILE) * TILE
            else:
                host.slot[row], host.position[row], host.last[row] = slot, start, row
                # A token that the host has not read yet is encoded by its row in the last step.
                host.token[row] = tokens[0] if tokens else -1 - self._row_of[slot]
            self.lengths[slot] = start + max(length, 1)
        if uniform_N is not None:
            host.uniform[: len(pieces)] = uniform_N
        self._row_of = {slot: row for row, (slot, _) in enumerate(pieces)}
        return step.run(host, len(pieces))

    def _step(self, rows: int, prefill: int, temperature: float) -> Step:
        size = MIN_ROWS if prefill == 0 else self.count
        while size < rows:
            size *= 2
        key = (min(size, self.count), min(each for each in PREFILL if each >= prefill), temperature)
        if key not in self._steps:
            self._steps[key] = Step(self, *key)
        return self._steps[key]

    def forward(self, inputs: StepInputs, rows: int, temperature: float) -> tuple[Tensor, Tensor]:
        """One step. Returns token and log-probability, [2, R], and the hidden states, [R, H]."""
        weights = self.weights
        norm, add_norm, gated, sample = _functions(self.device.type == "cuda")
        known_T = inputs.token
        token_T = torch.where(known_T < 0, self.sampled[(-1 - known_T).clamp(min=0)], known_T)
        stream_TH = weights.embedding[token_T].to(weights.stream_dtype)
        normed_TH = norm(stream_TH, weights.layers[0].attention_norm, weights.eps, self.dtype)
        for index, layer in enumerate(weights.layers):
            attended_TH = self._attend(index, layer, linear(normed_TH, layer.qkv, layer.qkv_bias), inputs, rows)
            change_TH = linear(attended_TH, layer.out, layer.out_bias)
            stream_TH, normed_TH = add_norm(stream_TH, change_TH, layer.mlp_norm, weights.eps, self.dtype)
            change_TH = linear(gated(linear(normed_TH, layer.gate_up)), layer.down)
            if index + 1 < len(weights.layers):
                following = weights.layers[index + 1].attention_norm
            else:
                following = weights.norm
                stream_TH, change_TH = stream_TH[inputs.last], change_TH[inputs.last]
            stream_TH, normed_TH = add_norm(stream_TH, change_TH, following, weights.eps, self.dtype)
        logits_RV = linear(normed_TH, weights.head)
        token_R, logp_R = sample(logits_RV, temperature, inputs.uniform)
        self.sampled[:rows].copy_(token_R)
        return torch.stack((token_R.double(), logp_R.double())), normed_TH

    def _attend(self, index: int, layer: Layer, qkv_TW: Tensor, inputs: StepInputs, rows: int) -> Tensor:
        """Writes keys and values of the stream into the cache, and computes the attention of each row over its slot."""
        weights, keys, values = self.weights, self.keys[index], self.values[index]
        total, groups = len(qkv_TW), weights.queries // keys.shape[1]
        norms = None if layer.q_norm is None or layer.k_norm is None else (layer.q_norm, layer.k_norm)
        if self.device.type == "cuda" and weights.kernels is not None:
            weights.kernels.rotate_and_store(
                qkv_TW, norms, weights.eps, weights.cos, weights.sin, keys, values, inputs.slot, inputs.position
            )
            out_TQD = torch.empty(total, weights.queries, weights.head_dim, dtype=self.dtype, device=self.device)
            where = (keys, values, inputs.slot, inputs.position)
            weights.kernels.attend(qkv_TW, out_TQD, *where, 0, rows, 1, layer.scale)
            if total > rows:
                weights.kernels.attend(qkv_TW, out_TQD, *where, rows, (total - rows) // TILE, TILE, layer.scale)
            return out_TQD.flatten(1)
        heads_THD = qkv_TW.view(total, -1, weights.head_dim)
        query, key, value = torch.split(heads_THD, [weights.queries, keys.shape[1], keys.shape[1]], 1)
        if norms is not None:
            query, key = (
                _norm(x, weight, weights.eps, self.dtype) for x, weight in zip((query, key), norms, strict=True)
            )
        cos, sin = weights.cos[inputs.position][:, None], weights.sin[inputs.position][:, None]
        query, key = ((x * cos + _rotate_half(x) * sin).to(self.dtype) for x in (query, key))
        keys[inputs.slot, :, inputs.position] = key
        values[inputs.slot, :, inputs.position] = value
        seen = torch.arange(self.room, device=self.device) <= inputs.position[:, None]
        out = scaled_dot_product_attention(
            query.view(total, -1, groups, weights.head_dim), keys[inputs.slot], values[inputs.slot],
            attn_mask=seen[:, None, None], scale=layer.scale,
        )  # fmt: skip
        return out.reshape(total, -1)


@dataclass(frozen=True)
class StepInputs:
    """The inputs of a step, as views of one buffer; `T` = R + P rows, `R` samples."""

    token: Any
    """A token, or -1 - row for the one that the last step sampled in that row."""
    slot: Any
    position: Any
    last: Any
    """For each sample, the row of the stream from which its token is predicted."""
    uniform: Any

    @classmethod
    def of(cls, buffer: Any, rows: int, prefill: int, float64: Any) -> StepInputs:
        total = rows + prefill
        token, slot, position = (buffer[i * total : (i + 1) * total] for i in range(3))
        last = buffer[3 * total : 3 * total + rows]
        return cls(token, slot, position, last, buffer[3 * total + rows :].view(float64))


class Step:
    """A step of fixed size: its input buffers and, on CUDA, its graph."""

    def __init__(self, backend: CudaBackend, rows: int, prefill: int, temperature: float) -> None:
        self.backend, self.rows, self.temperature = backend, rows, temperature
        size = 3 * (rows + prefill) + 2 * rows
        cuda = backend.device.type == "cuda"
        # Two buffers of each kind on the host: one is filled while the other one is still being copied.
        self._buffers = [torch.zeros(size, dtype=torch.long, pin_memory=cuda) for _ in range(2)]
        self._host = [StepInputs.of(each.numpy(), rows, prefill, np.float64) for each in self._buffers]
        self._out = [torch.zeros((2, rows), dtype=torch.float64, pin_memory=cuda) for _ in range(2)]
        self._turn = 0
        self._device_buffer = torch.zeros(size, dtype=torch.long, device=backend.device)
        self._inputs = StepInputs.of(self._device_buffer, rows, prefill, torch.float64)
        self._graph = self._capture() if cuda else None

    def next_host(self) -> StepInputs:
        """The input buffer to fill for the next run."""
        self._turn = 1 - self._turn
        return self._host[self._turn]

    def run(self, host: StepInputs, count: int) -> Callable[[], SampledTokens]:
        """Starts the step. Returns a function that waits for its first `count` samples."""
        self._device_buffer.copy_(self._buffers[self._turn], non_blocking=True)
        if self._graph is not None:
            self._graph.replay()
        else:
            self._sampled, self._hidden = self._forward()
        # The next step may reuse this memory.
        hidden_RH = self._hidden[:count].clone()
        out = self._out[self._turn]
        out.copy_(self._sampled, non_blocking=True)
        done: Any = torch.cuda.Event() if self._graph is not None else None  # type: ignore[no-untyped-call]
        if done is not None:
            done.record()

        def wait() -> SampledTokens:
            if done is not None:
                done.synchronize()
            tokens, logps = out.numpy()[:, :count]
            require_finite(logps)
            return SampledTokens(tokens.astype(np.int64).tolist(), logps.tolist(), hidden_RH)

        return wait

    def _forward(self) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.backend.device.type, enabled=False):
            return self.backend.forward(self._inputs, self.rows, self.temperature)

    def _capture(self) -> torch.cuda.CUDAGraph:
        """Captures the step. The runs before it compile the kernels; they use only the slot of unused rows."""
        self._inputs.slot.fill_(self.backend.count)
        self._inputs.uniform.fill_(-1.0)
        kept = self.backend.sampled.clone()
        stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._forward()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.backend._pool):
            self._sampled, self._hidden = self._forward()
        self.backend.sampled.copy_(kept)
        return graph


@dataclass
class Layer:
    """Weights of one decoder layer in the rollout copy."""

    attention_norm: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    out: Tensor
    out_bias: Tensor | None
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor
    scale: float


class RolloutWeights:
    """A copy of a model's weights in the layout and the number format of the rollout.

    Embedding and norms are not copied but shared with the model, and so is the head if it has this number format.
    """

    def __init__(self, base: Any, room: int, dtype: torch.dtype) -> None:
        config, decoder, head = base.config, base.get_decoder(), base.get_output_embeddings()
        require_supported(base)
        self.eps = float(config.rms_norm_eps)
        self.head_dim, self.queries = int(decoder.layers[0].self_attn.head_dim), int(config.num_attention_heads)
        self.embedding = decoder.embed_tokens.weight.detach()
        self.norm = decoder.norm.weight.detach()
        self.layers = [_empty_layer(layer, dtype) for layer in decoder.layers]
        self.owns_head = is_adapted(head) or head.weight.dtype != dtype
        self.head = _empty([head], dtype) if self.owns_head else head.weight.detach()
        self.stream_dtype = self.embedding.dtype
        """Type of the residual stream, as in training: that of the embedding."""
        device = self.embedding.device
        positions_1L = torch.arange(room, device=device)[None]
        cos_1LD, sin_1LD = decoder.rotary_emb(self.embedding[:1], positions_1L)
        self.cos, self.sin = cos_1LD[0].contiguous(), sin_1LD[0].contiguous()
        self.kernels: Any = None
        if device.type == "cuda":
            from . import kernels

            self.kernels = kernels if kernels.is_supported(self.head_dim) else None

    def load(self, base: Any) -> None:
        """Copies the current weights of the model, in place."""
        with torch.autocast(self.embedding.device.type, enabled=False):
            for module, own in zip(base.get_decoder().layers, self.layers, strict=True):
                attention, mlp = module.self_attn, module.mlp
                _copy_merged(own.qkv, own.qkv_bias, _qkv(attention))
                _copy_merged(own.out, own.out_bias, [attention.o_proj])
                _copy_merged(own.gate_up, None, [mlp.gate_proj, mlp.up_proj])
                _copy_merged(own.down, None, [mlp.down_proj])
            if self.owns_head:
                _copy_merged(self.head, None, [base.get_output_embeddings()])


def require_supported(base: Any) -> None:
    """Refuses models whose layers this module does not compute."""
    config, decoder = base.config, base.get_decoder()
    reason = None
    if any(getattr(layer.self_attn, "sliding_window", None) for layer in decoder.layers):
        reason = "the model has layers with a sliding window"
    elif getattr(config, "mlp_bias", False) or config.hidden_act != "silu":
        reason = "the model's MLP has biases or another activation than silu"
    elif config.rope_parameters["rope_type"] in ("dynamic", "longrope"):
        reason = "the model's rotary embedding changes with the length"
    elif not isinstance(decoder.embed_tokens, nn.Embedding):
        reason = "the embedding has an adapter"
    if reason:
        raise BadInput(f"no CUDA rollout: {reason}", where=config.model_type, remedy="set rollout.backend: cpu")


def is_adapted(module: Any) -> bool:
    """Whether `peft` has put an adapter around this layer."""
    return hasattr(module, "base_layer")


def merged_weight(module: Any) -> Tensor:
    """The weight of a linear layer with its adapters added, in float32; the weight itself where it has none."""
    weight: Tensor = (module.base_layer if is_adapted(module) else module).weight
    if hasattr(weight, "quant_state"):
        from bitsandbytes.functional import dequantize_4bit

        weight = dequantize_4bit(weight.data, weight.quant_state)
    if not is_adapted(module) or module.disable_adapters:
        return weight.detach()
    deltas = [module.get_delta_weight(name).float() for name in module.active_adapters if name in module.lora_A]
    return sum(deltas, weight.detach().float())


def _qkv(attention: Any) -> list[Any]:
    return [attention.q_proj, attention.k_proj, attention.v_proj]


def _empty_layer(module: Any, dtype: torch.dtype) -> Layer:
    attention, mlp = module.self_attn, module.mlp
    has_norms = hasattr(attention, "q_norm")
    return Layer(
        attention_norm=module.input_layernorm.weight.detach(),
        qkv=_empty(_qkv(attention), dtype),
        qkv_bias=_empty_bias(_qkv(attention), dtype),
        q_norm=attention.q_norm.weight.detach() if has_norms else None,
        k_norm=attention.k_norm.weight.detach() if has_norms else None,
        out=_empty([attention.o_proj], dtype),
        out_bias=_empty_bias([attention.o_proj], dtype),
        mlp_norm=module.post_attention_layernorm.weight.detach(),
        gate_up=_empty([mlp.gate_proj, mlp.up_proj], dtype),
        down=_empty([mlp.down_proj], dtype),
        scale=float(attention.scaling),
    )


def _empty(modules: Sequence[Any], dtype: torch.dtype) -> Tensor:
    """An empty matrix for the weights of several linear layers, one below the other."""
    rows = sum(module.out_features for module in modules)
    device = next(modules[0].parameters()).device
    return torch.empty(rows, modules[0].in_features, dtype=dtype, device=device)


def _empty_bias(modules: Sequence[Any], dtype: torch.dtype) -> Tensor | None:
    if modules[0].bias is None:
        return None
    return torch.empty(sum(module.out_features for module in modules), dtype=dtype, device=modules[0].bias.device)


def _copy_merged(weight: Tensor, bias: Tensor | None, modules: Sequence[Any]) -> None:
    sizes = [module.out_features for module in modules]
    for part, module in zip(torch.split(weight, sizes), modules, strict=True):
        part.copy_(merged_weight(module))
    if bias is not None:
        for part, module in zip(torch.split(bias, sizes), modules, strict=True):
            part.copy_(module.bias.detach())


def _norm(x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    """RMS norm, rounded where `transformers` rounds."""
    scaled = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return (weight * scaled.to(x.dtype)).to(dtype)


def _add_norm(x: Tensor, change: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    x = x + change
    return x, _norm(x, weight, eps, dtype)


def _gated(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.chunk(2, -1)
    return silu(gate) * up


def _rotate_half(x: Tensor) -> Tensor:
    low, high = x.chunk(2, -1)
    return torch.cat((-high, low), -1)


@cache
def _functions(compiled: bool) -> tuple[Any, ...]:
    """The parts of a step between matrix products and attention, each compiled into a kernel or two."""
    functions = (_norm, _add_norm, _gated, sample_blocks)
    if not compiled:
        return functions
    return tuple(torch.compile(each, options=REPRODUCIBLE) for each in functions)
