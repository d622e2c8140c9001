"""The forecast of a run: memory by part, slots and pack size that fit, seconds per step, disk, cost of the judge.

    memory = weights + trained weights with Adam and gradient + reference + rollout copy + key-value cache
             + the larger of rollout and update (activations, logits, hidden states of the critic)

Sizes follow from the shape of the model and the config. The constants in `costs.yaml` are measured, or estimated
where it says so. A run that needs more memory than the device has gets a smaller pack and then fewer slots: both
change the speed, not episodes or updates. A run that does not fit with one slot is refused. `askgate rc1 --plan`
prints the forecast, and so does every run.
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
"""Samples of a pool whose demonstrations say how long episodes are."""
_BYTES = {torch.float32: 4, torch.bfloat16: 2, torch.float16: 2}


@cache
def costs() -> dict[str, Any]:
    """The constants of `costs.yaml`."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("costs.yaml").read_bytes())
    return found


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
    held, warm = 4 if full else size, 4 if config.warm_start else 0
    world = ranks().world
    share = world if full else 1  # full fine-tuning is sharded over the ranks
    parts = {
        "weights": (shape.linear * (constants["nf4_bytes"] if four_bits else held) + shape.embedding * held) / share,
        "trained weights and optimizer": trained * (12 + (0 if full else 4)) / share,
        # With a warm start also its weights; adapters are swapped with them in place.
        "reference": float(everything * (size + warm / share)) if full else trained * 2.0 * warm,
    }
    if full and world > 1:
        parts["unsharded policy"] = float(shape.linear * size + shape.embedding * held)
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
    states = config.batch_size / world * room * shape.hidden * size if config.strategy == "ppo" else 0
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


@dataclass(frozen=True)
class EpisodeTokens:
    """Mean tokens of an episode by part, thoughts left out."""

    opening: float
    turns: float
    action: float
    """Tokens that the policy says in a turn."""
    reply: float
    """Tokens of the user's or tool's reply after a turn."""

    @classmethod
    def of_pool(cls, pool: Path, renderer: Renderer) -> EpisodeTokens:
        """Means over the demonstrations of the first samples of a pool; estimates where it has none."""
        demos = []
        for sample in islice(read_records(pool, Sample), SAMPLES):
            system = Env(sample, len(sample.dialogue), TOOLS).system()
            tokens, policy = demo_tokens(sample, renderer, thoughts=False, system=system)
            said_turns = sum(turn.by == "assistant" for turn in sample.dialogue)
            demos.append((policy.index(True), said_turns, sum(policy), len(tokens)))
        if not demos:
            return cls.usual()
        opening, turns, said, whole = map(fmean, zip(*demos, strict=True))
        return cls(opening, turns, said / turns, (whole - opening - said) / turns)

    @classmethod
    def usual(cls) -> EpisodeTokens:
        """Estimated means, for a run whose pool is not built yet."""
        return cls(**costs()["episode"])


@dataclass(frozen=True)
class Speed:
    """What the device does in a second: bytes of a plain copy, operations of a plain matrix product."""

    copy: float
    product: float


@dataclass(frozen=True)
class Forecast:
    """Needs of a run. Times hold if every thought takes all of `rollout.think_tokens`."""

    memory: Memory
    available: float
    """Bytes of the device."""
    device: str
    rollout_s: float
    """Seconds of the rollout of a step."""
    update_s: float
    """Seconds of reference and updates of a step."""
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
        """The forecast of what is left after these steps of the seeds, `warm_steps` of each in the warm start."""
        warm = sum(min(step, warm_steps) for step in done)
        rest = sum(max(0, step - warm_steps) for step in done)
        warm_s = self.warm_s * (1 - warm / self.warm_steps) if self.warm_steps else 0.0
        judged = round(self.judged * (1 - rest / self.steps)) if self.steps else 0
        return replace(self, steps=self.steps - rest, warm_steps=self.warm_steps - warm, warm_s=warm_s, judged=judged)

    def rows(self, calls: str = "") -> list[tuple[str, str]]:
        """The table, as pairs of name and text. `calls`: calls and cost of the judge, in words."""
        memory = self.memory
        parts = {**memory.parts, "rollout": memory.rollout, "update": memory.update}
        listed = ", ".join(f"{name} {value / GB:.1f}" for name, value in parts.items() if value >= 0.05 * GB)
        step = self.rollout_s + self.update_s
        warm = f", {self.warm_steps:,} of them warm start ({duration(self.warm_s)})" if self.warm_steps else ""
        left = self.steps + self.warm_steps
        judge = calls or f"{self.judged:,} episodes"
        return [
            ("memory", f"{memory.peak / GB:.1f} of {self.available / GB:.1f} GiB on {self.device}: {listed}"),
            ("fitted", f"{memory.slots} rollout slots, packs of {memory.pack_tokens:,} tokens"),
            ("a step", f"{duration(step)}: rollout {duration(self.rollout_s)}, update {duration(self.update_s)}"),
            ("all steps", f"{duration(self.seconds)} for {left:,} step{'s' * (left != 1)}{warm}"),
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
    constants = costs()["seconds"]
    cuda, rollout = "rollout copy" in memory.parts, config.rollout
    turn = (rollout.think_tokens or 0) + min(config.rollout_len, episode.action)
    whole = episode.opening + episode.turns * (turn + episode.reply)
    length = min(whole, rollout.max_tokens)
    said = episode.turns * turn * length / whole
    passes = -(-config.batch_size // memory.slots) * said
    episode_s = constants["cuda_episode_ms"] / 1e3 if cuda else 0.0
    if cuda:
        cached = memory.slots * length / 2 * shape.layers * 2 * shape.kv * _BYTES[dtype]
        read = (shape.linear + shape.vocab * shape.hidden) * _BYTES[dtype] + cached
        pass_s = read / (speed.copy * constants["decode_bandwidth"]) + shape.layers * constants["decode_layer_us"] / 1e6
    else:
        operations = 2 * memory.slots * (shape.linear + shape.vocab * shape.hidden)
        pass_s = operations / (speed.product * constants["matmul"]) + shape.layers * constants["cpu_layer_us"] / 1e6
    share = constants["matmul_eager" if config.finetune.method == "qlora" else "matmul"]
    rate: float = speed.product * share
    forward = 2 * (shape.linear + shape.vocab * shape.hidden * said / length) + 2 * length * shape.query * shape.layers
    backward = forward * (2 if config.finetune.method == "full" else 1)
    learn = forward + backward + (forward if config.optimizer.gradient_checkpointing else 0)
    tokens = config.batch_size * length
    read_s = tokens * forward * (1 - said / length) / rate
    if device.type == "cpu" and config.engine == "pure_pt":
        # Episodes of a group share the tokens of their beginning (`engines/packed.py`).
        group = make_strategy(config).group_size
        tokens *= (1 + (group - 1) * constants["own_tokens"]) / group
    several = 1 if tokens > memory.pack_tokens * config.optimizer.minibatches else 0

    def spent(count: float, per_token: float, passes: int, at_once: float) -> float:
        """Seconds to read `count` tokens, `at_once` in a stream, with this many operations per token and passes per
        stream. With a small model a GPU waits for the host, which starts the kernels of every layer."""
        starts = ceil(count / at_once) * passes * shape.layers if device.type == "cuda" else 0
        host_s: float = starts * constants["cuda_layer_us"] / 1e6
        return max(count * per_token / rate, host_s)

    settings, pack = config.optimizer, memory.pack_tokens
    learn_passes = (
        4 if settings.gradient_checkpointing else 3
    )  # a backward pass starts twice the kernels of a forward pass
    again = spent(tokens, learn + several * forward, learn_passes + several, min(pack, tokens / settings.minibatches))
    update = spent(tokens, forward, 1, pack) + settings.epochs * again
    seeds, warm = len(config.seeds), config.warm_start
    warm_steps = min(config.steps, config.warm_steps)
    steps = (config.steps - warm_steps) * seeds
    return Forecast(
        memory=memory,
        available=available,
        device=device.type,
        rollout_s=passes * pass_s + read_s + config.batch_size * episode_s,
        update_s=update,
        steps=steps,
        warm_steps=warm_steps * seeds,
        warm_s=seeds * spent(warm.tokens, learn, learn_passes, min(pack, warm.batch_tokens)) if warm else 0.0,
        judged=round(steps * config.batch_size * config.reward.live_share) if config.live_mode else 0,
        disk=disk,
    )


def judge_calls(profile: Profile) -> dict[str, int]:
    """Dialogues that the judge scores, by stage; training has a forecast of its own."""
    sizes = profile.sizes
    return {
        "probe": sizes.probe,
        "score": sizes.scored,
        "calibration": sizes.calibration_live,
        "shadow": sizes.live,
        "round1 and round2": 2 * sizes.fresh,
    }


def priced(dialogues: int, environment: Mapping[str, str], profile: Profile) -> str:
    """Dialogues, calls and cost in words, by the estimated tokens of a call (`costs.yaml`) and the prices of the judge.
    The cost is left out where no judge is chosen or its prices are not known."""
    votes, tokens = scoring_of(profile).votes, costs()["judge"]
    calls, most = dialogues * votes.k, dialogues * votes.k_max
    told = f"{dialogues:,} dialogues, {calls:,} calls ({most:,} at most)"
    try:
        provider = settings_for({**environment, "SCORER_API_KEY": "not-read"}, scoring_of(profile)).provider
    except BadInput:
        return told
    usd, usd_most = (provider.cost(n * tokens["tokens_in"], n * tokens["tokens_out"]) for n in (calls, most))
    money = f"about ${usd:,.2f} (${usd_most:,.2f} at most)" if usd is not None else "cost not known"
    return f"{told}, {money} by {provider.name}"
