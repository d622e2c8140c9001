"""What an engine is given: one run, taken apart into plain values and the parts that it drives.

The command (`cli/train_parts.py`) reads the config and fills a `TrainJob` in; an engine, ours or a user's own, is made
from it and from nothing else: `Engine(job)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..core.api import Strategy
from ..core.episode import Episode
from ..core.types import Level, Sample
from ..rollout.limits import Talk

if TYPE_CHECKING:
    import torch

    from ..agents.render import Renderer


class Reward(Protocol):
    """The reward of an episode taken apart by term; the terms sum to what is trained on."""

    def __call__(
        self, episode: Episode, sample: Sample, judged: Mapping[str, float] | None = None
    ) -> dict[str, float]: ...


class Judged(Protocol):
    """What a judge said of an episode."""

    @property
    def scores(self) -> Mapping[str, float]: ...

    @property
    def weight(self) -> float:
        """How much the episode counts: less where the votes disagree."""
        ...


JudgeShare = Callable[[int, Sequence[Episode]], Mapping[int, Judged]]
"""Of a step's episodes, those that a judge scored, by their place. The same again for a step that is taken again."""


class Drawn(Protocol):
    """A sample as the sampler hands it out."""

    @property
    def sample(self) -> Sample: ...

    @property
    def level(self) -> Level | None: ...

    @property
    def weight(self) -> float: ...


class Draws(Protocol):
    """Where samples come from, step by step. Its whole memory is in its state, so that a resumed run draws the same."""

    def draw(self, step: int, count: int) -> Sequence[Drawn]: ...

    def observe(self, episodes: Sequence[Episode]) -> None: ...

    def metrics(self) -> dict[str, float]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class Finetune:
    """Which weights learn."""

    method: Literal["full", "lora", "qlora"] = "full"
    rank: int = 16
    alpha: float = 32.0
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Modules that get an adapter, already trimmed to the memory that is there (`runtime/memory.py`)."""


@dataclass(frozen=True)
class Update:
    """How a batch of episodes becomes steps of the optimizer."""

    lr: float = 1e-5
    critic_lr: float = 1e-3
    weight_decay: float = 0.0
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup_steps: int = 0
    epochs: int = 1
    minibatches: int = 1
    """Parts that a batch is cut into, whole groups each; one optimizer step for each part of each epoch."""
    pack_tokens: int = 8192
    """Most tokens in one forward pass. Memory depends on it, results do not. A minibatch with more is read twice."""
    max_grad_norm: float = 1.0
    critic_hidden: int = 128
    critic_reaches_trunk: bool = False
    """Whether the error of the values also moves the policy's own layers."""
    critic_epochs: int = 0
    """Times that the critic goes over a batch by itself, beside the updates that it shares with the policy."""
    critic_warmup_steps: int = 0
    """Steps in which only the critic learns."""
    kl_alert: float | None = None
    """A KL divergence above this is an alert; three of them running roll the run back."""


@dataclass(frozen=True)
class TrainJob:
    """One run of one seed."""

    model: str
    """A folder or a hub id that `transformers` reads."""
    renderer: Renderer
    strategy: Strategy
    sampler: Draws
    reward: Reward
    seed: int
    max_steps: int
    batch_size: int
    """Episodes in a step; a whole number of groups."""
    device: torch.device
    dtype: torch.dtype
    """What is computed in. Weights that learn are always kept in float32."""
    finetune: Finetune = field(default_factory=Finetune)
    talk: Talk = field(default_factory=Talk)
    update: Update = field(default_factory=Update)
    judge: JudgeShare | None = None
    """None: no episode is scored live."""
    last_good: Callable[[int], Path | None] = lambda before: None
    """Newest folder that `Engine.save` wrote below that step and whose weights are not known to breach; None where
    there is none. A step's KL is that of the weights before it, so `n` alerts up to step `s` are of the weights of
    `s - n` on."""
