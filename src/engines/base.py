"""Base of the engines `pure_pt` and `trl_ppo`: run state, checkpoints, rollback on high KL, timing, learning rate."""

from __future__ import annotations

import logging
import math
import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from askgate_env.types import Episode

from .. import __version__
from ..agents.trajectory import Trajectory
from ..checkpoint.state import pack_state, require_same_layout, unpack_state
from ..config.train_config import OptimizerSection
from ..core.api import Batch, StepResult
from ..core.defaults import NO_RESUME, RESUME
from ..core.errors import BadInput
from .distributed import full_on_rank_0, ranks, sharded_like, sharded_state
from .job import TrainJob, require_whole_groups
from .models import save_policy
from .serving import write_serving

_log = logging.getLogger(__name__)

ROLLBACK_AFTER = 3
"""Number of consecutive KL alerts that trigger a rollback."""
ROLLBACK_LR_FACTOR = 0.5
"""Factor on the learning rate for each rollback."""
_MB = 2**20
_UNKNOWN_VERSION = "a version that did not write its number into checkpoints"
_SAVED_KEYS = ("step", "tokens_seen", "weights", "optimizer", "scaler", "sampler", "strategy", "guard", "machine")


@dataclass(frozen=True)
class CollectedEpisodes:
    """The episodes of one step with their rewards, as `collect` returns them."""

    trajectories: Sequence[Trajectory]
    episodes: Sequence[Episode]
    """The episodes of the trajectories, with their rewards."""
    batch: Batch
    """The same episodes as flat tensors, still without `ref_logp_N`."""
    hidden_NH: Tensor | None = None
    """The hidden state before each policy token: the input of the critic."""


class BaseEngine(ABC):
    """Base class of engines. Subclasses own the model and take the steps."""

    accelerator: Any
    optimizer: Any
    policy: Any
    """The language model, as `load_policy` returns it."""
    learner: Any
    """The module that holds all trained weights: the policy, and the critic where there is one."""

    def __init__(self, job: TrainJob) -> None:
        require_whole_groups(job.batch_size, job.strategy.group_size)
        self.job, self.step, self.ranks = job, 0, ranks()
        self.tokens_seen = 0
        """Tokens of all demonstrations and episodes so far, those of user and tools included."""
        self.guard = KLGuard(job.kl_alert)

    @abstractmethod
    def _reset_to_base(self) -> None:
        """Sets weights and optimizer to their state before the first step of the strategy."""

    def _extra_state(self) -> dict[str, Any]:
        """Further state of this engine that a checkpoint must hold."""
        return {}

    @abstractmethod
    def _after_load(self, state: Mapping[str, Any]) -> None:
        """Called when all of `_SAVED_KEYS` is loaded. `state` also holds what `_extra_state` returned."""

    def _finish_step(
        self, collected: CollectedEpisodes, metrics: dict[str, float], timer: StepTimer, adapt: bool = True
    ) -> StepResult:
        """Counts the step, lets strategy (if `adapt`) and sampler adapt, and rolls back after too many KL alerts."""
        self.step += 1
        self._refuse_not_finite(metrics)
        self.tokens_seen += sum(len(trajectory.tokens) for trajectory in collected.trajectories)
        if adapt:
            self.job.strategy.after_step(metrics)
        self.job.sampler.observe(collected.episodes)
        if self.guard.record(metrics.get("kl", 0.0)):
            self._roll_back(metrics["kl"])
        metrics["kl_alerts"], metrics["rollbacks"] = float(self.guard.alerts), float(self.guard.rollbacks)
        return StepResult(self.step, {**metrics, **timer.metrics()}, collected.episodes)

    def _refuse_not_finite(self, metrics: Mapping[str, float]) -> None:
        for name in ("loss", "grad_norm", "critic_grad_norm"):
            # An fp16 scaler itself skips updates that are not finite.
            if not self.accelerator.scaler and not math.isfinite(metrics.get(name, 0.0)):
                raise BadInput(
                    f"{name} is {metrics[name]}",
                    where=f"step {self.step}",
                    remedy=f"lower lr or optimizer.critic_lr, then resume with {RESUME}; the last checkpoint is whole",
                )

    def _roll_back(self, kl: float) -> None:
        """Restores weights and optimizer of the last good checkpoint; where there is none, those before the first step
        of the strategy."""
        folder = self.ranks.on_rank_0(lambda: self.job.last_good(self.step - ROLLBACK_AFTER))
        _log.warning(
            "step %d: KL is %.4g, above %s for %d steps in a row; rolled back to %s, learning rate times %g",
            self.step, kl, self.guard.level, ROLLBACK_AFTER, folder or self.job.model, ROLLBACK_LR_FACTOR,
        )  # fmt: skip
        if folder is None:
            self._reset_to_base()
        else:
            self._restore(unpack_state(folder), str(folder))

    def save(self, folder: Path) -> None:
        state = self.state()
        for name, weight in state["weights"].items():
            if not torch.isfinite(weight).all():  # no run could resume from such a checkpoint
                raise BadInput(
                    f"{name} is not finite, so the checkpoint is not saved",
                    where=f"step {self.step}",
                    remedy=f"lower lr or optimizer.critic_lr, then resume with {RESUME} from the checkpoint before",
                )
        pack_state(folder, state)

    def state(self) -> dict[str, Any]:
        """The content of a checkpoint. It does not depend on the number of ranks."""
        self.ranks.announce("state")
        state = {
            "version": __version__,
            "step": self.step,
            "tokens_seen": self.tokens_seen,
            "weights": trained_weights(self.learner),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.accelerator.scaler.state_dict() if self.accelerator.scaler else None,
            "sampler": self.job.sampler.state_dict(),
            "strategy": self.job.strategy.state_dict(),
            "guard": self.guard.state_dict(),
            "machine": self._machine(),
        }
        return cast(dict[str, Any], full_on_rank_0({**state, **self._extra_state()}))

    def load(self, folder: Path) -> None:
        self.ranks.announce("load", folder)
        state = unpack_state(folder)
        # A missing entry gets no default: the resumed run would not be the run that was saved.
        if missing := [name for name in (*_SAVED_KEYS, *self._extra_state()) if name not in state]:
            version = state.get("version", _UNKNOWN_VERSION)
            raise BadInput(
                f"has no {missing[0]}: it was saved by {version}, and this is {__version__}",
                where=str(folder),
                remedy=f"resume with the version that saved it, or start a new run without {NO_RESUME}",
            )
        self._restore(state, str(folder))
        self.step, self.tokens_seen = int(state["step"]), int(state["tokens_seen"])
        self.job.sampler.load_state_dict(state["sampler"])
        self.job.strategy.load_state_dict(state["strategy"])
        self.guard.load_state_dict(state["guard"])
        self._after_load(state)
        saved, current = state["machine"], self._machine()
        if saved != current:
            _log.warning("%s was saved with %s; with %s the run is not the same bit by bit", folder, saved, current)

    def _machine(self) -> dict[str, Any]:
        return {**machine(), "ranks": self.ranks.world} if self.ranks.distributed else machine()

    def save_model(self, folder: Path) -> None:
        save_policy(self.policy, self.job.model, folder, self.sharded_weights())
        limits = self.job.rollout
        write_serving(folder, self.job.model, limits.tools, native=limits.actions == "native")

    def sharded_weights(self) -> dict[str, Tensor] | None:
        """The unsharded weights of the policy, on rank 0; None if it is not sharded."""
        return None

    def _restore(self, state: Mapping[str, Any], where: str) -> None:
        load_weights(self.learner, state["weights"], where)
        self.optimizer.load_state_dict(sharded_state(state["optimizer"], self.optimizer))
        if self.accelerator.scaler:
            self.accelerator.scaler.load_state_dict(state["scaler"])


class KLGuard:
    """Counts consecutive steps whose KL divergence is above a level, and demands a rollback at `ROLLBACK_AFTER`.

    A rollback restores weights and optimizer of the last good checkpoint and lowers the learning rate for the rest of
    the run. Step count and sampler are not rolled back: the same samples again would lead to the same high KL.
    """

    def __init__(self, level: float | None) -> None:
        """Without a level no step is an alert."""
        self.level, self.alerts, self.rollbacks = level, 0, 0

    def record(self, kl: float) -> bool:
        """Counts a step with this KL divergence; NaN is an alert. Returns whether the run must be rolled back."""
        self.alerts = 0 if self.level is None or kl <= self.level else self.alerts + 1
        if self.alerts < ROLLBACK_AFTER:
            return False
        self.alerts = 0
        self.rollbacks += 1
        return True

    @property
    def lr_scale(self) -> float:
        """The factor on the learning rate after the rollbacks so far."""
        return float(ROLLBACK_LR_FACTOR**self.rollbacks)

    def state_dict(self) -> dict[str, Any]:
        return {"alerts": self.alerts, "rollbacks": self.rollbacks}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.alerts, self.rollbacks = int(state["alerts"]), int(state["rollbacks"])


class StepTimer:
    """Seconds spent in each part of a step, and the peak memory. Waits for the GPU at the end of each part."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: dict[str, float] = {}
        self._start = self._now()
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = self._now()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + self._now() - start

    def metrics(self) -> dict[str, float]:
        """`time/PART` and `time/step` in seconds; `memory/peak_mb` of this step (GPU) or of the process (CPU)."""
        parts = {f"time/{name}": seconds for name, seconds in self.seconds.items()}
        return {**parts, "time/step": self._now() - self._start, "memory/peak_mb": self._peak_bytes() / _MB}

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
        return time.perf_counter()

    def _peak_bytes(self) -> float:
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def make_optimizer(job: TrainJob, policy: nn.Module, critic: nn.Module | None) -> Any:
    """AdamW with the policy's trained weights in the first group and the critic's in the second."""
    groups: list[dict[str, Any]] = [{"params": [weight for weight in policy.parameters() if weight.requires_grad]}]
    if critic is not None:
        groups.append({"params": [*critic.parameters()]})
    fused = job.device.type in ("cpu", "cuda")
    return torch.optim.AdamW(groups, lr=job.lr, weight_decay=0.0, fused=fused)


def lr_scale(optimizer: OptimizerSection, step: int, max_steps: int) -> float:
    """The factor on the learning rate at a step: a linear warm-up, then the schedule.

    >>> [lr_scale(OptimizerSection(warmup_steps=2, schedule="linear"), step, 6) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    if step < optimizer.warmup_steps:
        return (step + 1) / optimizer.warmup_steps
    progress = (step - optimizer.warmup_steps) / max(max_steps - optimizer.warmup_steps, 1)
    if optimizer.schedule == "linear":
        return 1 - progress
    return (1 + math.cos(math.pi * progress)) / 2 if optimizer.schedule == "cosine" else 1.0


def trained_weights(module: nn.Module) -> dict[str, Tensor]:
    """Weights with gradients, each once even if layers share it. Frozen weights come from the base model."""
    return {name: weight.detach() for name, weight in module.named_parameters() if weight.requires_grad}


def load_weights(module: nn.Module, weights: Mapping[str, Tensor], where: str) -> None:
    """Copies weights in place, into the tensors that the optimizer holds."""
    targets = trained_weights(module)
    require_same_layout(weights, targets, where)
    for name, weight in targets.items():
        weight.copy_(sharded_like(weights[name], weight))


def machine() -> dict[str, Any]:
    """Properties of the machine that two runs must share to be equal bit by bit."""
    return {
        "torch": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
