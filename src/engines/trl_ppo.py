"""Hugging Face TRL as an engine: its GRPOTrainer and its DPOTrainer, driven by the same job as `pure_pt`.

Episodes, tools, rewards, sampling, schedule and checkpoints are AskGate's; loss and updates are TRL's. A checkpoint is
safetensors and JSON, as with `pure_pt`: nothing of TRL's own is saved or loaded, so no pickle is. All chance in a step
comes from the seed and the number of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
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
from .clock import Clock
from .collect import Collected, chance, collect, episode_figures
from .job import TrainJob
from .learn import checked, optimizer_for
from .models import load_policy, save_policy
from .schedule import lr_share
from .standing import Standing
from .state import learned, put_back
from .trl_parts import settle

_SAME = {"loss": "loss", "grad_norm": "grad_norm", "entropy": "entropy", "clip_ratio/region_mean": "clip_share"}
"""Figures of TRL that `pure_pt` has too."""


class TrlPPO(Standing):
    strategies = frozenset({"grpo", "dpo"})

    def __init__(self, job: TrainJob) -> None:
        made = _trainer_class(job.strategy)
        super().__init__(job)
        self._scratch = TemporaryDirectory(prefix="askgate-trl-")
        seed_all(job.seed)
        self.policy = load_policy(job.model, job.finetune, job.device, job.dtype)
        self.optimizer = optimizer_for(self.policy, None, job.update, job.device)
        steady = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda _: 1.0)
        self.trainer: Any = made(
            job,
            job.strategy,
            self.policy,
            self._collect,
            self._scratch.name,
            optimizers=(self.optimizer, steady),
            callbacks=[_Watch(self)],
        )
        self.trainer.remove_callback(PrinterCallback)
        if self.trainer.accelerator.num_processes > 1:
            raise BadInput("trl_ppo runs in one process", where="accelerate launch", remedy="start it without")
        settle(self.policy)
        self._callbacks: Sequence[Callback] = ()

    def fit(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = callbacks
        for callback in callbacks:
            callback.on_start(self)
        if self.step < self.job.max_steps:
            self.trainer.args.max_steps = (self.job.max_steps - self.step) * self.trainer.updates_a_step
            self.trainer.train()
        for callback in callbacks:
            callback.on_end(self)

    def _collect(self) -> Collected:
        """The batch of this step, when TRL asks for it."""
        self._clock = Clock(self.job.device)
        torch.manual_seed(chance(self.job.seed, self.step, "trl"))
        with self.trainer.accelerator.autocast():
            self._got = collect(self.job, self.policy, self.step, self._clock)
        if not self._got.batch.logp_N.numel():
            raise BadInput(
                "no episode leaves the policy room for a word", where="rollout.max_tokens", remedy="raise it"
            )
        return self._got

    def lr(self) -> float:
        share = lr_share(self.job.update, self.step, self.job.max_steps)
        return self.job.update.lr * self.guard.lr_share * share

    def updated(self, logs: Mapping[str, float]) -> None:
        """All updates of a step are done. What TRL alone reports keeps its name behind `trl/`."""
        job, scaled = self.job, self.trainer.accelerator.scaler is not None
        own = {name: float(logs[theirs]) for theirs, name in _SAME.items() if theirs in logs}
        theirs = {
            f"trl/{name}": float(value) for name, value in logs.items() if value is not None and name not in _SAME
        }
        figures = {**episode_figures(self._got), **theirs, **own, **job.strategy.metrics(), **job.sampler.metrics()}
        figures["lr"] = self.lr()
        checked(figures, self.step + 1, scaled)
        result = self._done(self._got, figures, self._clock)
        self.trainer.after_step()
        for callback in self._callbacks:
            callback.on_step(self, result)

    @property
    def _learner(self) -> Any:
        return self.policy

    @property
    def _scaler(self) -> Any:
        return self.trainer.accelerator.scaler

    def _to_base(self) -> None:
        """Into the tensors that TRL holds already."""
        seed_all(self.job.seed)
        fresh = load_policy(self.job.model, self.job.finetune, self.job.device, self.job.dtype)
        put_back(self.policy, learned(fresh), self.job.model)
        self.optimizer.state.clear()

    def _loaded(self, state: Mapping[str, Any]) -> None:
        self.trainer.after_step()

    def save_model(self, folder: Path) -> None:
        save_policy(self.policy, self.job.model, folder)


class _Watch(TrainerCallback):
    """Where TRL's loop meets ours: it reports once a step, after the last update."""

    def __init__(self, engine: TrlPPO) -> None:
        self.engine = engine

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        for group in self.engine.optimizer.param_groups:
            group["lr"] = self.engine.lr()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs is not None and "loss" in logs:
            self.engine.updated(logs)


def _trainer_class(strategy: Strategy) -> Callable[..., Any]:
    """TRL brings its own losses, so it runs the strategies that have one there, and no other."""
    if isinstance(strategy, PPO):
        raise BadInput(
            "TRL has no PPO any more: PPOTrainer was removed in 1.13; the last one was single-turn, took no reward "
            "function and could not resume",
            where="strategy",
            remedy="set engine: pure_pt for PPO with a critic, or strategy: grpo for the same clipped objective on TRL",
        )
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
    if isinstance(strategy, GRPO):
        from .trl_grpo import Groups

        return Groups
    from .trl_dpo import Pairs

    return Pairs
