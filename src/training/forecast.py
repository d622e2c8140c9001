"""The forecast of a run: memory by part, slots and pack size that fit the device, seconds per step, disk.

    memory = weights + trained weights with Adam and gradient + reference + rollout copy + key-value cache
             + the larger of rollout and update (activations, logits, hidden states of the critic)

Sizes follow from the shape of the model and the config; the measured constants are in `costs.yaml`. A run that needs
more memory than the device has gets a smaller pack and then fewer slots: both change speed, not episodes or updates. A
run that does not fit with one slot is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml

from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..engines.packed import LOGITS_AT_ONCE
from ..runtime.device import GB

_BYTES = {torch.float32: 4, torch.bfloat16: 2, torch.float16: 2}


@cache
def costs() -> dict[str, Any]:
    """The measured constants."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("costs.yaml").read_bytes())
    return found


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder that memory and time depend on."""

    hidden: int
    layers: int
    query: int
    """Width of all query heads together."""
    kv: int
    """Width of all key heads together; the values have the same."""
    mlp: int
    vocab: int
    tied: bool

    @classmethod
    def of(cls, config: Any) -> Shape:
        """From a `transformers` config of the Llama and Qwen families."""
        heads = config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // heads
        return cls(
            config.hidden_size,
            config.num_hidden_layers,
            heads * width,
            (config.num_key_value_heads or heads) * width,
            config.intermediate_size,
            config.vocab_size,
            bool(config.tie_word_embeddings),
        )

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of the linear layers of one decoder layer."""
        return {
            "q_proj": (self.hidden, self.query),
            "k_proj": (self.hidden, self.kv),
            "v_proj": (self.hidden, self.kv),
            "o_proj": (self.query, self.hidden),
            "gate_proj": (self.hidden, self.mlp),
            "up_proj": (self.hidden, self.mlp),
            "down_proj": (self.mlp, self.hidden),
        }

    @property
    def linear(self) -> int:
        """Weights of all linear layers of the decoder."""
        return self.layers * sum(rows * columns for rows, columns in self.matrices.values())

    @property
    def embedding(self) -> int:
        """Weights of the embedding, and of the head where it is another matrix."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    def adapters(self, rank: int, targets: tuple[str, ...]) -> int:
        """Weights of LoRA adapters on these layers."""
        return self.layers * rank * sum(sum(self.matrices[name]) for name in targets if name in self.matrices)


@dataclass(frozen=True)
class Memory:
    """Bytes of a run on its device by part, and what was fitted to the device."""

    parts: dict[str, float]
    """Bytes that are held all the time."""
    rollout: float
    """Bytes that only the rollout needs."""
    update: float
    """Bytes that only the update needs."""
    slots: int
    pack_tokens: int

    @property
    def peak(self) -> float:
        return sum(self.parts.values()) + max(self.rollout, self.update)


def forecast_memory(
    config: TrainConfig,
    shape: Shape,
    device: torch.device,
    dtype: torch.dtype,
    targets: tuple[str, ...],
    slots: int | None = None,
    pack_tokens: int | None = None,
) -> Memory:
    """Memory of a run with these slots and this pack size; by default those of the config."""
    constants, size, cuda = costs()["memory"], _BYTES[dtype], device.type == "cuda"
    slots, pack_tokens = slots or config.rollout.slots, pack_tokens or config.optimizer.pack_tokens
    method, room, settings = config.finetune.method, config.rollout.max_tokens, config.optimizer
    full, four_bits = method == "full", method == "qlora"
    everything = shape.linear + shape.embedding
    trained = everything if full else shape.adapters(config.finetune.rank, targets)
    held = 4 if full else size
    parts = {
        "weights": shape.linear * (constants["nf4_bytes"] if four_bits else held) + shape.embedding * held,
        "trained weights and optimizer": trained * (12 + (0 if full else 4)),
        "reference": float(everything * size) if full else trained * 4.0 * (2 if config.warm_start else 0),
    }
    if config.rollout.backend == "cuda" or (config.rollout.backend == "auto" and cuda):
        parts["rollout copy"] = float(shape.linear * size + (shape.vocab * shape.hidden * size if held != size else 0))
        slots_held = slots + 1
    else:
        slots_held = slots
    parts["key-value cache"] = float(slots_held * room * shape.layers * 2 * shape.kv * size)
    if cuda:
        parts["CUDA context and graphs"] = (constants["context_gib"] + constants["graphs_gib"]) * GB
    tokens = max(pack_tokens, room)
    width = 2 * (shape.hidden + shape.query + shape.kv) + 3 * shape.mlp
    kind = "compiled" if cuda and not four_bits else "eager"
    layer = tokens * width * size * constants["activations"][kind]
    if settings.gradient_checkpointing:
        # The input of every layer, and one layer at a time with the gradients inside it.
        activations = tokens * shape.hidden * held * shape.layers + layer * constants["recomputed_layer"]
    else:
        activations = shape.layers * layer
    logits = min(LOGITS_AT_ONCE, tokens * shape.vocab) * 4 * constants["logits"]
    # The critic reads a hidden state per policy token; nearly all tokens of an episode can be of the policy.
    states = config.batch_size * room * shape.hidden * size if config.strategy == "ppo" else 0
    return Memory(parts, 2.0 * states, states + activations + logits, slots, pack_tokens)


def fit(
    config: TrainConfig,
    shape: Shape,
    device: torch.device,
    dtype: torch.dtype,
    targets: tuple[str, ...],
    available: float,
) -> Memory:
    """Memory of the run with as many slots as fit into `available` bytes, at most those of the config.

    The pack shrinks first, down to one whole episode: a smaller one would not need less.
    """
    usable = available * (1 - costs()["memory"]["margin"])
    found = forecast_memory(config, shape, device, dtype, targets)
    smallest = min(found.pack_tokens, config.rollout.max_tokens)
    while found.peak > usable and found.pack_tokens > smallest:
        pack = max(smallest, found.pack_tokens // 2)
        found = forecast_memory(config, shape, device, dtype, targets, found.slots, pack)
    if found.peak > usable and found.slots > 1:
        one = forecast_memory(config, shape, device, dtype, targets, 1, found.pack_tokens)
        per_slot = (found.peak - one.peak) / (found.slots - 1)
        slots = 1 + int(max(0.0, usable - one.peak) / per_slot)
        found = forecast_memory(config, shape, device, dtype, targets, min(slots, found.slots), found.pack_tokens)
    if found.peak > usable:
        raise BadInput(
            f"the run needs {found.peak / GB:.1f} GiB with one rollout slot, and {device.type} has "
            f"{available / GB:.1f}",
            where="rollout.slots",
            remedy=_remedy(config),
        )
    return found


def _remedy(config: TrainConfig) -> str:
    if not config.optimizer.gradient_checkpointing:
        return "set optimizer.gradient_checkpointing: true"
    if config.finetune.method == "full":
        return "set finetune.method: lora, or qlora on CUDA"
    if config.finetune.method == "lora":
        return "set finetune.method: qlora, or lower rollout.max_tokens"
    return "lower rollout.max_tokens, or choose a smaller base_model"
