"""Hugging Face TRL as an engine: its GRPOTrainer and its DPOTrainer, driven by the same job as `pure_pt`.

Episodes, tools, rewards, sampling, schedule and checkpoints are AskGate's; loss and updates are TRL's. A checkpoint is
safetensors and JSON, as with `pure_pt`: nothing of TRL's own is saved or loaded, so no pickle is. All randomness of a
step comes from the seed and the number of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import PrinterCallback, TrainerCallback

from ..core.api import Callback, Strategy
from ..core.errors import BadInput
from ..runtime.seeding import seed_all
from ..strategies.dpo import DPO
from ..strategies.grpo import GRPO
from ..strategies.ppo import PPO
from .base import BaseEngine, Collected, StepTimer, load_weights, lr_scale, make_optimizer, trained_weights
from .job import TrainJob
from .load import no_ppo_in_trl
from .models import is_adapted, load_policy
from .pure_pt import collect, episode_metrics, random_seed

_SHARED_METRICS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "entropy": "entropy",
    "clip_ratio/region_mean": "clip_share",
}
"""Metrics of TRL that `pure_pt` has too, and their names there."""


class TrlPPO(BaseEngine):
    """The engine `trl_ppo`: GRPO and DPO by TRL."""

    strategies = frozenset({"grpo", "dpo"})

    def __init__(self, job: TrainJob) -> None:
        trainer_class = _trainer_class(job.strategy)
        super().__init__(job)
        self._scratch = TemporaryDirectory(prefix="askgate-trl-")
        seed_all(job.seed)
        self.policy = self.learner = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        self.optimizer = make_optimizer(job, self.policy, None)
        constant = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda _: 1.0)
        self.trainer: Any = trainer_class(
            job,
            job.strategy,
            self.policy,
            self._collect,
            self._scratch.name,
            optimizers=(self.optimizer, constant),
            callbacks=[_StepHooks(self)],
        )
        self.trainer.remove_callback(PrinterCallback)
        self.accelerator = self.trainer.accelerator
        self._require_one_process()
        undo_adapter_changes(self.policy)
        self._callbacks: Sequence[Callback] = ()

    def fit(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = callbacks
        for callback in callbacks:
            callback.on_start(self)
        if self.step < self.job.max_steps:
            self.trainer.args.max_steps = (self.job.max_steps - self.step) * self.trainer.updates_per_step
            self.trainer.train()
        for callback in callbacks:
            callback.on_end(self)

    def _collect(self) -> Collected:
        """Makes the batch of this step, when TRL asks for it."""
        self._timer = StepTimer(self.job.device)
        torch.manual_seed(random_seed(self.job.seed, self.step, "trl"))
        with self.accelerator.autocast():
            self._collected = collect(self.job, self.policy, self.step, self._timer)
        return self._collected

    def lr(self) -> float:
        """The learning rate of this step."""
        return self.job.lr * self.guard.lr_scale * lr_scale(self.job.optimizer, self.step, self.job.max_steps)

    def finish_step(self, logs: Mapping[str, float]) -> None:
        """Called after all updates of a step. Metrics that only TRL reports keep their names behind `trl/`."""
        job, collected = self.job, self._collected
        shared = {name: float(logs[trl_name]) for trl_name, name in _SHARED_METRICS.items() if trl_name in logs}
        others = {
            f"trl/{name}": float(value)
            for name, value in logs.items()
            if value is not None and name not in _SHARED_METRICS
        }
        metrics = {**episode_metrics(collected), **others, **shared, **job.strategy.metrics(), **job.sampler.metrics()}
        metrics["lr"] = self.lr()
        result = self._finish_step(collected, metrics, self._timer)
        self.trainer.after_step()
        for callback in self._callbacks:
            callback.on_step(self, result)

    def _reset_to_base(self) -> None:
        """Copies into the tensors that TRL holds already."""
        job = self.job
        seed_all(job.seed)
        fresh = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        load_weights(self.policy, trained_weights(fresh), job.model)
        self.optimizer.state.clear()

    def _after_load(self, state: Mapping[str, Any]) -> None:
        self.trainer.after_step()


class _StepHooks(TrainerCallback):
    """Connects TRL's loop with ours: TRL logs once per step of ours, after its last update."""

    def __init__(self, engine: TrlPPO) -> None:
        self.engine = engine

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        for group in self.engine.optimizer.param_groups:
            group["lr"] = self.engine.lr()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs is not None and "loss" in logs:
            self.engine.finish_step(logs)


def _trainer_class(strategy: Strategy) -> Callable[..., Any]:
    """The trainer for a strategy. TRL brings its own losses, so it runs only strategies that have one there."""
    if isinstance(strategy, PPO):
        raise no_ppo_in_trl()
    if type(strategy) not in (GRPO, DPO):
        raise BadInput(
            f"trl_ppo would run a loss of TRL, not that of {type(strategy).__name__}",
            where="strategy",
            remedy="set engine: pure_pt, or strategy: grpo or dpo",
        )
    if find_spec("trl") is None:
        raise BadInput(
            "TRL is not installed", where="engine", remedy="pip install 'askgate[trl]', or set engine: pure_pt"
        )
    from .trl_trainers import EpisodeDPOTrainer, EpisodeGRPOTrainer

    return EpisodeGRPOTrainer if isinstance(strategy, GRPO) else EpisodeDPOTrainer


def undo_adapter_changes(policy: Any) -> None:
    """Undoes what a TRL trainer did to adapters: a second copy of them as reference, and 16-bit weights.

    Adapters start at zero, so the reference is the model without them; and an update of 1e-5 is lost in 16 bits.
    """
    if is_adapted(policy) and "ref" in policy.peft_config:
        policy.delete_adapter("ref")
    for weight in policy.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()
