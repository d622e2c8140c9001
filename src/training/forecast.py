"""The forecast of a run: memory by part, slots and pack size that fit, seconds per step, disk, cost of the judge.

    memory = weights + trained weights with Adam and gradient + reference + rollout copy + key-value cache
             + the larger of rollout and update (activations, logits, hidden states of the critic)

Sizes follow from the shape of the model and the config. The constants in `costs.yaml` are measured, or marked there as
estimates. A run that needs more memory than the device has gets a smaller pack and then fewer slots: both change the
speed, not episodes or updates. A run that does not fit with one slot is refused. `askgate rc1 --plan` prints the
forecast, and every run logs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import yaml
from transformers import AutoConfig

from askgate_env.actions import TOOLS
from askgate_env.env import Env
from askgate_env.types import Sample

from ..agents.render import Renderer
from ..config.profile import Profile, scoring_of
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.jsonl import read_records
from ..core.model_files import require_weights
from ..data.collate import demo_tokens
from ..engines.distributed import ranks
from ..engines.packed import LOGITS_AT_ONCE
from ..rollout.attention import FAMILIES, require_supported
from ..runtime.device import GB
from ..runtime.progress import duration
from ..scoring.providers import settings_for
from .components import make_strategy

SAMPLES = 64
"""Number of samples of a pool whose demonstrations are measured to estimate the length of episodes."""
_BYTES = {torch.float32: 4, torch.bfloat16: 2, torch.float16: 2}


@cache
def costs() -> dict[str, Any]:
    """The constants of `costs.yaml`."""
    constants: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("costs.yaml").read_bytes())
    return constants


def trainable_config(model: str) -> Any:
    """The `transformers` config of a model. Refuses a model that cannot be trained, and a folder without weights."""
    try:
        config = AutoConfig.from_pretrained(model)
    except (OSError, ValueError, KeyError) as error:
        what = f"is no model that can be trained ({str(error).splitlines()[0]})"
        remedy = f"name a model of type {', '.join(sorted(FAMILIES))}"
        raise BadInput(what, where=model, remedy=remedy) from None
    require_supported(config, model)
    if Path(model).is_dir():
        require_weights(Path(model))
    return config


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder on which memory and time depend."""

    hidden: int
    layers: int
    query: int
    """Width of all query heads together."""
    kv: int
    """Width of all key heads together; that of the value heads is the same."""
    mlp: int
    vocab: int
    tied: bool
    """Whether embedding and head are one matrix."""

    @classmethod
    def of(cls, config: Any) -> Shape:
        """The shape in a `transformers` config of the Llama and Qwen families."""
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
        """Input and output width of the linear layers of one decoder layer."""
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
        """Number of weights in all linear layers of the decoder."""
        return self.layers * sum(rows * columns for rows, columns in self.matrices.values())

    @property
    def embedding(self) -> int:
        """Number of weights in the embedding, and in the head if it is a matrix of its own."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    def adapters(self, rank: int, targets: tuple[str, ...]) -> int:
        """Number of weights in LoRA adapters on these layers."""
        return self.layers * rank * sum(sum(self.matrices[name]) for name in targets if name in self.matrices)


@dataclass(frozen=True)
class Memory:
    """Memory that a run needs on its device, with these slots and this pack size."""

    parts: dict[str, float]
    """Bytes that are held all the time, by part."""
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
    all_weights = shape.linear + shape.embedding
    trained = all_weights if full else shape.adapters(config.finetune.rank, targets)
    held = 4 if full else size  # bytes of a weight: trained ones are in float32
    linear_held = constants["nf4_bytes"] if four_bits else held
    trained_bytes = 12 if full else 16  # gradient and Adam's two moments; adapters are not part of "weights"
    warm = 4 if config.warm_start else 0
    world = ranks().world
    share = world if full else 1  # full fine-tuning is sharded over the ranks
    parts = {
        "weights": (shape.linear * linear_held + shape.embedding * held) / share,
        "trained weights and optimizer": trained * trained_bytes / share,
        # A copy of the model and, with a warm start, its resulting weights; adapters are swapped with those in place.
        "reference": float(all_weights * (size + warm / share)) if full else trained * 2.0 * warm,
    }
    if full and world > 1:
        parts["unsharded policy"] = float(shape.linear * size + shape.embedding * held)
    if config.rollout.backend == "cuda" or (config.rollout.backend == "auto" and cuda):
        head = 0 if held == size else shape.vocab * shape.hidden * size  # shared if it has the same number format
        parts["rollout copy"] = float(shape.linear * size + head)
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
    # The critic reads a hidden state per policy token. At most, all tokens of an episode are policy tokens.
    states = config.batch_size / world * room * shape.hidden * size if config.strategy == "ppo" else 0
    return Memory(parts, 2.0 * states, states + activations + logits, slots, pack_tokens)


def fit_memory(
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
    memory = forecast_memory(config, shape, device, dtype, targets)
    smallest = min(memory.pack_tokens, config.rollout.max_tokens)
    while memory.peak > usable and memory.pack_tokens > smallest:
        pack = max(smallest, memory.pack_tokens // 2)
        memory = forecast_memory(config, shape, device, dtype, targets, memory.slots, pack)
    if memory.peak > usable and memory.slots > 1:
        one_slot = forecast_memory(config, shape, device, dtype, targets, 1, memory.pack_tokens)
        per_slot = (memory.peak - one_slot.peak) / (memory.slots - 1)
        slots = 1 + int(max(0.0, usable - one_slot.peak) / per_slot)
        memory = forecast_memory(config, shape, device, dtype, targets, min(slots, memory.slots), memory.pack_tokens)
    if memory.peak > usable:
        raise BadInput(
            f"the run needs {memory.peak / GB:.1f} GiB with one rollout slot, and {device.type} has "
            f"{available / GB:.1f}",
            where="rollout.slots",
            remedy=_memory_remedy(config),
        )
    return memory


def _memory_remedy(config: TrainConfig) -> str:
    if not config.optimizer.gradient_checkpointing:
        return "set optimizer.gradient_checkpointing: true"
    if config.finetune.method == "full":
        return "set finetune.method: lora, or qlora on CUDA"
    if config.finetune.method == "lora":
        return "set finetune.method: qlora, or lower rollout.max_tokens"
    return "lower rollout.max_tokens, or choose a smaller base_model"


@dataclass(frozen=True)
class EpisodeTokens:
    """Mean length of an episode without thoughts, by part."""

    opening: float
    """Tokens of the opening prompt."""
    turns: float
    action: float
    """Policy tokens per turn."""
    reply: float
    """Tokens of the user's or tool's reply after a turn."""

    @classmethod
    def of_pool(cls, pool: Path, renderer: Renderer) -> EpisodeTokens:
        """Means over the demonstrations of the first samples of a pool; `usual` if the pool is empty."""
        demos = []
        for sample in islice(read_records(pool, Sample), SAMPLES):
            system = Env(sample, len(sample.dialogue), TOOLS).system()
            tokens, policy = demo_tokens(sample, renderer, thoughts=False, system=system)
            policy_turns = sum(turn.by == "assistant" for turn in sample.dialogue)
            demos.append((policy.index(True), policy_turns, sum(policy), len(tokens)))
        if not demos:
            return cls.usual()
        opening, turns, policy_tokens, length = map(fmean, zip(*demos, strict=True))
        return cls(opening, turns, policy_tokens / turns, (length - opening - policy_tokens) / turns)

    @classmethod
    def usual(cls) -> EpisodeTokens:
        """Estimates, for a run whose pool is not built yet."""
        return cls(**costs()["episode"])


@dataclass(frozen=True)
class Speed:
    """Measured speed of a device (`runtime.device.measure_speed`)."""

    copy: float
    """Bytes per second of a plain copy."""
    product: float
    """Operations per second of a plain matrix product."""


@dataclass(frozen=True)
class Forecast:
    """Memory, time and disk space that a run needs. Times assume that every thought takes `rollout.think_tokens`."""

    memory: Memory
    available: float
    """Bytes of memory that the device has."""
    device: str
    rollout_s: float
    """Seconds of the rollout of a step."""
    update_s: float
    """Seconds of the reference pass and the updates of a step."""
    steps: int
    """Steps of the strategy, all seeds together."""
    warm_steps: int
    """Steps of all warm starts."""
    warm_s: float
    """Seconds of all warm starts."""
    judged: int
    """Episodes that the judge scores."""
    disk: float
    """Bytes of checkpoints and logs."""

    @property
    def seconds(self) -> float:
        return self.warm_s + self.steps * (self.rollout_s + self.update_s)

    def after(self, done: Sequence[int], warm_steps: int) -> Forecast:
        """The forecast of the rest of a run. `done`: steps done, by seed; `warm_steps`: those of one warm start."""
        warm_done = sum(min(step, warm_steps) for step in done)
        strategy_done = sum(max(0, step - warm_steps) for step in done)
        return replace(
            self,
            steps=self.steps - strategy_done,
            warm_steps=self.warm_steps - warm_done,
            warm_s=self.warm_s * (1 - warm_done / self.warm_steps) if self.warm_steps else 0.0,
            judged=round(self.judged * (1 - strategy_done / self.steps)) if self.steps else 0,
        )

    def rows(self, calls: str = "") -> list[tuple[str, str]]:
        """The forecast as a table: pairs of name and text. `calls`: calls and cost of the judge (`priced`)."""
        memory = self.memory
        parts = {**memory.parts, "rollout": memory.rollout, "update": memory.update}
        bytes_by_part = ", ".join(f"{name} {value / GB:.1f}" for name, value in parts.items() if value >= 0.05 * GB)
        step = self.rollout_s + self.update_s
        warm = f", {self.warm_steps:,} of them warm start ({duration(self.warm_s)})" if self.warm_steps else ""
        steps = self.steps + self.warm_steps
        judge = calls or f"{self.judged:,} episodes"
        return [
            ("memory", f"{memory.peak / GB:.1f} of {self.available / GB:.1f} GiB on {self.device}: {bytes_by_part}"),
            ("fitted", f"{memory.slots} rollout slots, packs of {memory.pack_tokens:,} tokens"),
            ("a step", f"{duration(step)}: rollout {duration(self.rollout_s)}, update {duration(self.update_s)}"),
            ("all steps", f"{duration(self.seconds)} for {steps:,} {'step' if steps == 1 else 'steps'}{warm}"),
            *([("judge", judge)] if calls or self.judged else []),
            ("disk", f"{self.disk / GB:.1f} GiB"),
        ]


def forecast_run(
    config: TrainConfig,
    shape: Shape,
    memory: Memory,
    device: torch.device,
    dtype: torch.dtype,
    available: float,
    speed: Speed,
    disk: float,
    episode: EpisodeTokens,
) -> Forecast:
    """The forecast of all seeds of a config, with the slots and the pack size of `memory`."""
    constants, limits, optimizer = costs()["seconds"], config.rollout, config.optimizer
    # Tokens of a mean episode, and how many of them the policy samples.
    turn_tokens = (limits.think_tokens or 0) + min(config.rollout_len, episode.action)
    unlimited = episode.opening + episode.turns * (turn_tokens + episode.reply)
    length = min(unlimited, limits.max_tokens)
    policy_tokens = episode.turns * turn_tokens * length / unlimited

    # Decoding: a pass samples one token in each slot. On a GPU memory bandwidth limits it, on a CPU arithmetic.
    decode_passes = ceil(config.batch_size / memory.slots) * policy_tokens
    weights = shape.linear + shape.vocab * shape.hidden
    if "rollout copy" in memory.parts:
        cached = memory.slots * length / 2 * shape.layers * 2 * shape.kv * _BYTES[dtype]
        read = weights * _BYTES[dtype] + cached
        pass_s = read / (speed.copy * constants["decode_bandwidth"]) + shape.layers * constants["decode_layer_us"] / 1e6
        episode_s = constants["cuda_episode_ms"] / 1e3
    else:
        operations = 2 * memory.slots * weights
        pass_s = operations / (speed.product * constants["matmul"]) + shape.layers * constants["cpu_layer_us"] / 1e6
        episode_s = 0.0

    # Operations per token of an episode. A frozen base needs no gradients of its weights: half of the backward pass.
    forward = 2 * (shape.linear + shape.vocab * shape.hidden * policy_tokens / length)
    forward += 2 * length * shape.query * shape.layers
    backward = forward * (2 if config.finetune.method == "full" else 1)
    learn = forward + backward + (forward if optimizer.gradient_checkpointing else 0)
    rate: float = speed.product * constants["matmul_eager" if config.finetune.method == "qlora" else "matmul"]

    def compute_s(tokens: float, per_token: float, passes: int, stream_tokens: float) -> float:
        """Seconds for so many operations per token, in this many passes through each stream of `stream_tokens`. With a
        small model a GPU waits for the host, which starts the kernels of every layer."""
        starts = ceil(tokens / stream_tokens) * passes * shape.layers if device.type == "cuda" else 0
        host_s: float = starts * constants["cuda_layer_us"] / 1e6
        return max(tokens * per_token / rate, host_s)

    tokens, pack = config.batch_size * length, memory.pack_tokens
    prefill_s = tokens * forward * (1 - policy_tokens / length) / rate
    if device.type == "cpu" and config.engine == "pure_pt":
        # Episodes of a group share the tokens of their beginning (`engines/packed.py`).
        group = make_strategy(config).group_size
        tokens *= (1 + (group - 1) * constants["own_tokens"]) / group
    # A minibatch of several streams is scored once without a graph before its gradients (`packed.backward`).
    extra_passes = 1 if tokens > pack * optimizer.minibatches else 0
    # A backward pass starts twice the kernels of a forward pass.
    learn_passes = 4 if optimizer.gradient_checkpointing else 3
    reference_s = compute_s(tokens, forward, 1, pack)
    epoch_s = compute_s(
        tokens, learn + extra_passes * forward, learn_passes + extra_passes, min(pack, tokens / optimizer.minibatches)
    )
    seeds, warm = len(config.seeds), config.warm_start
    warm_steps = min(config.steps, config.warm_steps)
    steps = (config.steps - warm_steps) * seeds
    return Forecast(
        memory=memory,
        available=available,
        device=device.type,
        rollout_s=decode_passes * pass_s + prefill_s + config.batch_size * episode_s,
        update_s=reference_s + optimizer.epochs * epoch_s,
        steps=steps,
        warm_steps=warm_steps * seeds,
        warm_s=seeds * compute_s(warm.tokens, learn, learn_passes, min(pack, warm.batch_tokens)) if warm else 0.0,
        judged=round(steps * config.batch_size * config.reward.live_share) if config.live_mode else 0,
        disk=disk,
    )


def judge_calls(profile: Profile) -> dict[str, int]:
    """Number of dialogues that the judge scores, by stage. Training is not among them: it has a forecast of its own."""
    sizes = profile.sizes
    return {
        "probe": sizes.probe,
        "score": sizes.scored,
        "calibration": sizes.calibration_live,
        "shadow": sizes.live,
        "round1 and round2": 2 * sizes.fresh,
    }


def priced(dialogues: int, environment: Mapping[str, str], profile: Profile) -> str:
    """A text with dialogues, calls and cost, by the estimated tokens of a call (`costs.yaml`) and the judge's prices.
    The cost is left out if no judge is chosen or its prices are not known."""
    votes, tokens = scoring_of(profile).votes, costs()["judge"]
    calls, max_calls = dialogues * votes.k, dialogues * votes.k_max
    text = f"{dialogues:,} dialogues, {calls:,} calls ({max_calls:,} at most)"
    try:
        provider = settings_for({**environment, "SCORER_API_KEY": "not-read"}, scoring_of(profile)).provider
    except BadInput:
        return text
    usd, max_usd = (provider.cost(n * tokens["tokens_in"], n * tokens["tokens_out"]) for n in (calls, max_calls))
    cost = f"about ${usd:,.2f} (${max_usd:,.2f} at most)" if usd is not None else "cost not known"
    return f"{text}, {cost} by {provider.name}"
