"""What a training config may say. The keys that the work orders check stand at the top level, as they write them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ..core.defaults import MIX
from ..core.paths import GATED_CHECKPOINTS, LOCAL_CHECKPOINTS, seed_folder
from ..core.types import TASKS, Task
from .misfit import Misfit
from .schema import FilePath, Section
from .sections import (
    LLAMACPP,
    NO_ROLLOUTS,
    BuildSection,
    CheckpointSection,
    EvalSection,
    FinetuneSection,
    Listed,
    OptimizerSection,
    RewardSection,
    RolloutLimits,
    RolloutSection,
    SamplingSection,
    Share,
    WatchSection,
    sums_to_one,
)

LOCAL_STEPS = 2000
"""A run that no gate has seen stays small."""
DeviceName = Literal["cuda", "mps", "cpu"]
Precision = Literal["auto", "fp32", "fp16", "bf16"]


def _plain(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("an option is a number, a text, true or false")
    return value


OwnClass = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
Option = Annotated[bool | int | float | str, BeforeValidator(_plain)]


class TrainConfig(Section):
    """`configs/{train_local,quickstart,ppo_trial,ppo_scale}.yaml`."""

    profile: Literal["local", "quickstart", "rc1"]
    """`local` runs ungated through `src.core.launch`; the others want a ticket and go through `train.ppo_runner`."""
    simulate: bool = False
    live_mode: bool = False
    """Live-scored dimensions take part in the reward, for `reward.live_share` of the episodes."""

    base_model: str = Field(min_length=1)
    """A folder, or a name on the hub."""
    engine: str = Field(default="pure_pt", min_length=1)
    """`pure_pt`, `trl_ppo`, or your own as `package.module:Class`."""
    strategy: str = Field(default="ppo", min_length=1)
    """`ppo`, `grpo`, `dpo`, or your own as `package.module:Class`."""
    strategy_options: dict[str, Option] = Field(default_factory=dict)
    """Arguments of the strategy beside `clip`, `kl_coef` and `target_kl`."""
    callbacks: Annotated[tuple[OwnClass, ...], Listed] = ()
    """Your own, as `package.module:Class`, made without arguments. They stand after ours, before the checkpoints."""
    finetune: FinetuneSection = FinetuneSection()

    datasets: dict[Task, Share] = Field(default=MIX)
    seed_pool: FilePath
    shadow_set: FilePath
    build: BuildSection | None = None
    priority_sampling: SamplingSection = SamplingSection()

    steps: int = Field(ge=1, le=10_000_000)
    """Also `max_steps`."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(strict=False, min_length=1)]
    batch_size: int = Field(default=32, ge=1, le=65_536)
    """Episodes in a step."""
    rollout_len: int = Field(default=128, ge=1, le=131_072)
    """Tokens of one turn of the policy, most."""
    lr: float = Field(default=1e-5, gt=0, le=1)
    clip: float = Field(default=0.2, gt=0, lt=1)
    kl_coef: float = Field(default=0.02, ge=0, le=10)
    """Weight of the KL penalty at the start; it adapts towards `target_kl`."""
    target_kl: float | None = Field(default=0.03, gt=0, le=10)
    """null: the weight stays as it is."""
    kl_alert: float = Field(default=0.2, gt=0, le=100)
    """A step above it is a breach; three in a row go back to the last good checkpoint."""
    rollout: RolloutSection = RolloutSection()
    optimizer: OptimizerSection = OptimizerSection()

    use_overclar_penalty: bool = True
    reward: RewardSection = RewardSection()
    watch: WatchSection = WatchSection()
    """What stops a run that hacks its reward."""

    device_pref: Annotated[tuple[DeviceName, ...], Field(strict=False, min_length=1)] = ("cuda", "mps", "cpu")
    precision: Precision = "auto"
    """`auto`: cuda bf16, mps fp16, cpu fp32."""
    checkpoint: CheckpointSection = CheckpointSection()
    eval: EvalSection = EvalSection()

    def rollout_limits(self, tools: tuple[str, ...]) -> RolloutLimits:
        """The limits of a rollout. `tools` are those that the pool was built for."""
        return RolloutLimits(**self.rollout.model_dump(), max_new_tokens=self.rollout_len, tools=tools)

    @model_validator(mode="before")
    @classmethod
    def _one_name_for_steps(cls, found: Any) -> Any:
        if isinstance(found, dict) and "max_steps" in found:
            if "steps" in found:
                raise Misfit("max_steps", "steps stands there too, and they are the same setting")
            found = {("steps" if key == "max_steps" else key): value for key, value in found.items()}
        return found

    @field_validator("engine")
    @classmethod
    def _with_gradients(cls, engine: str) -> str:
        if engine in LLAMACPP:
            raise ValueError(NO_ROLLOUTS)
        return engine

    @field_validator("simulate")
    @classmethod
    def _never_simulated(cls, simulate: bool) -> bool:
        if simulate:
            raise ValueError("nothing here simulates; it must be false")
        return simulate

    @field_validator("datasets")
    @classmethod
    def _whole_mix(cls, datasets: dict[Task, float]) -> dict[Task, float]:
        sums_to_one(datasets.values())
        return datasets

    @field_validator("seeds")
    @classmethod
    def _different(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed stands twice")
        return seeds

    @model_validator(mode="after")
    def _local_stays_small(self) -> Self:
        if self.profile == "local" and self.steps > LOCAL_STEPS:
            raise Misfit("steps", f"{self.steps} steps; a run with profile local takes at most {LOCAL_STEPS}")
        return self

    @model_validator(mode="after")
    def _live_is_meant(self) -> Self:
        if self.live_mode and not self.reward.live_share:
            raise Misfit("reward.live_share", "live_mode is on, and a share of 0 asks no judge")
        return self

    @model_validator(mode="after")
    def _turn_fits_episode(self) -> Self:
        if self.rollout_len >= self.rollout.max_tokens:
            raise Misfit("rollout_len", f"a turn of {self.rollout_len} tokens does not fit into rollout.max_tokens")
        return self

    @model_validator(mode="after")
    def _control_learns_as_a_whole(self) -> Self:
        if self.eval.control and self.finetune.method != "full":
            raise Misfit(
                "eval.control", f"the control is for finetune.method: full, and this is {self.finetune.method}"
            )
        return self

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(task for task in TASKS if self.datasets.get(task, 0) > 0)

    @property
    def several_seeds(self) -> bool:
        return len(self.seeds) > 1

    @property
    def checkpoint_root(self) -> Path:
        """`checkpoints/local` or `checkpoints/rc1`: gated runs of all profiles share one folder."""
        return LOCAL_CHECKPOINTS if self.profile == "local" else GATED_CHECKPOINTS

    def checkpoints(self, seed: int) -> Path:
        """Checkpoint folder of one seed."""
        return seed_folder(self.checkpoint_root, seed, self.seeds)
