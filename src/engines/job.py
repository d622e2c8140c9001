"""The job of an engine: one training run of one seed, with its settings and the parts that the engine drives.

`make_engine` in `training/components.py` makes a `TrainJob` from the config. Every engine, built-in or a user's own, is
constructed from it alone: `Engine(job)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from askgate_env.types import Episode, Level, Sample

from ..config.train_config import FinetuneSection, OptimizerSection, RolloutLimits
from ..core.api import Strategy
from ..core.errors import BadInput

if TYPE_CHECKING:
    import torch

    from askgate_env.reward import TrainingReward

    from ..agents.render import Renderer
    from ..reward.live_share import LiveScore
    from .sft import Demo, SftPlan


LiveJudge = Callable[[int, Sequence[Episode]], Mapping[int, "LiveScore"]]
"""Judge scores by batch index for some episodes of a step. Deterministic: a replayed step gets the same scores."""


@dataclass(frozen=True)
class Drawn:
    """A sample that was drawn for a batch, with its level and its origin."""

    sample: Sample
    level: Level | None = None
    weight: float = 1.0
    """Weight of its episodes: below 1 where the judge's score of the sample is unstable."""
    origin: Literal["pool", "low", "fresh"] = "pool"


class PromptSampler(Protocol):
    """Draws the samples of each step. `state_dict` is its whole state, so a resumed run draws the same."""

    def draw(self, step: int, count: int) -> Sequence[Drawn]: ...

    def observe(self, episodes: Sequence[Episode]) -> None: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class WarmStart:
    """SFT on demonstrations in the first `steps` of a run. The strategy starts from its result, which is also the
    reference of the KL penalty."""

    steps: int
    plan: SftPlan
    demonstrations: Callable[[], Sequence[Demo]]


@dataclass(frozen=True)
class TrainJob:
    """One training run of one seed."""

    model: str
    """Folder or hub id of the base model."""
    renderer: Renderer
    strategy: Strategy
    sampler: PromptSampler
    reward: TrainingReward
    seed: int
    max_steps: int
    batch_size: int
    """Episodes per step; a multiple of the strategy's group size."""
    device: torch.device
    dtype: torch.dtype
    """Type of the arithmetic. Trained weights are always kept in float32."""
    rollout: RolloutLimits
    lr: float = 1e-5
    optimizer: OptimizerSection = field(default_factory=OptimizerSection)
    finetune: FinetuneSection = field(default_factory=FinetuneSection)
    lora_targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    """Modules that get an adapter: `runtime.device.lora_targets` chooses them by the memory of the device."""
    kl_alert: float | None = None
    """A KL divergence above this is an alert; three alerts in a row roll the run back. None: never."""
    judge: LiveJudge | None = None
    """None: no episode is scored live."""
    warm_start: WarmStart | None = None
    """None: the strategy starts from the base."""
    last_good: Callable[[int], Path | None] = lambda before: None
    """Newest checkpoint below a step whose weights are not known to breach `kl_alert`; None where there is none. The KL
    of a step is measured before its update, so `n` alerts up to step `s` concern the weights from step `s - n` on."""


def require_whole_groups(batch_size: int, group_size: int) -> None:
    if batch_size % group_size:
        raise BadInput(
            f"{batch_size} episodes cannot be split into groups of {group_size}",
            where="batch_size",
            remedy=f"give a multiple of {group_size}",
        )
