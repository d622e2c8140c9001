"""Our own engine: episodes, strategy and updates on one machine, by torch and `accelerate` alone.

One step is one batch of episodes and the updates made from it. All chance in a step comes from the seed and the number
of the step, so a run that was cut short goes on bit by bit as if nothing had happened (on a CPU, with the same number
of threads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from accelerate import Accelerator

from ..core.api import Batch, Callback, StepResult
from ..core.errors import BadInput
from ..runtime.seeding import load_rng_state, rng_state, seed_all
from .clock import Clock
from .collect import Collected, chance, collect, episode_figures
from .critic import fit_critic
from .job import TrainJob
from .learn import checked, learn, optimizer_for
from .models import Critic, frozen_base, load_policy, save_policy
from .packed import Learner, hidden, spoken, streams
from .schedule import lr_share
from .standing import Standing

_PRECISION = {torch.float32: "no", torch.bfloat16: "bf16", torch.float16: "fp16"}


class PurePT(Standing):
    strategies = frozenset({"ppo", "grpo", "dpo"})

    def __init__(self, job: TrainJob) -> None:
        if job.dtype == torch.float16 and job.device.type == "cpu":
            raise BadInput("a CPU does not train in fp16", where="precision", remedy="set precision: fp32")
        super().__init__(job)
        self.accelerator = Accelerator(mixed_precision=_PRECISION[job.dtype], cpu=job.device.type == "cpu")
        if self.accelerator.num_processes > 1:
            raise BadInput("pure_pt runs in one process", where="accelerate launch", remedy="start it without")
        self._to_base()

    def _to_base(self) -> None:
        """Also the frozen base and the critic."""
        job = self.job
        seed_all(job.seed)
        policy = load_policy(job.model, job.finetune, job.device, job.dtype)
        self.frozen = frozen_base(policy, job.dtype) if job.strategy.reference else None
        critic = Critic(policy.config.hidden_size, job.update.critic_hidden) if job.strategy.critic else None
        learner = Learner(policy, critic, job.talk.temperature, job.update.critic_reaches_trunk)
        optimizer = optimizer_for(policy, critic, job.update, job.device)
        self.accelerator.free_memory()
        self.learner, self.optimizer = self.accelerator.prepare(learner, optimizer)

    @property
    def policy(self) -> Any:
        return cast(Learner, self.accelerator.unwrap_model(self.learner, keep_fp32_wrapper=True)).policy

    @property
    def _learner(self) -> Learner:
        return cast(Learner, self.learner)

    @property
    def _scaler(self) -> Any:
        return self.accelerator.scaler

    @property
    def _warming(self) -> bool:
        """Only the critic learns in the step that comes."""
        return self.learner.critic is not None and self.step < self.job.update.critic_warmup_steps

    def fit(self, callbacks: Sequence[Callback]) -> None:
        for callback in callbacks:
            callback.on_start(self)
        while self.step < self.job.max_steps:
            result = self.take_step()
            for callback in callbacks:
                callback.on_step(self, result)
        for callback in callbacks:
            callback.on_end(self)

    def take_step(self) -> StepResult:
        job, clock = self.job, Clock(self.job.device)
        got = collect(job, self.policy, self.step, clock, self.learner.critic)
        figures = {**episode_figures(got), **self._learn(got, self._judged(got, clock), clock)}
        figures |= {**job.strategy.metrics(), **job.sampler.metrics()}
        # While it warms up the policy stands still, so its distance says nothing about the weight of the penalty.
        return self._done(got, figures, clock, adapts=not self._warming)

    def _judged(self, got: Collected, clock: Clock) -> Batch:
        """The batch with what the frozen base says of it."""
        job, batch = self.job, got.batch
        packs = streams(got.trajectories, job.update.pack_tokens, job.device)
        if not packs:
            raise BadInput(
                "no episode leaves the policy room for a word", where="rollout.max_tokens", remedy="raise it"
            )
        with torch.no_grad(), self.accelerator.autocast():
            if self.frozen is not None:
                with clock.part("reference"), self.frozen() as base:
                    read = [(hidden(base, one), one.said_N) for one in packs]
                    logp = [spoken(base, hidden_NH, said_N, job.talk.temperature)[0] for hidden_NH, said_N in read]
                    batch = replace(batch, ref_logp_N=torch.cat(logp))
        return batch

    def _learn(self, got: Collected, batch: Batch, clock: Clock) -> dict[str, float]:
        job, update = self.job, self.job.update
        share = lr_share(update, self.step, job.max_steps)
        rates = (update.lr * self.guard.lr_share, update.critic_lr)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            group["lr"] = rate * share
        targets = job.strategy.targets(batch)
        figures = learn(
            self.accelerator,
            self.learner,
            self.optimizer,
            job.strategy,
            update,
            got.trajectories,
            batch,
            targets,
            np.random.default_rng(chance(job.seed, self.step, "minibatches")),
            self._warming,
            clock,
        )
        checked(figures, self.step + 1, self.accelerator.scaler is not None)
        if got.hidden_NH is not None and update.critic_epochs and "return_N" in targets:
            with clock.part("critic"):
                fit_critic(
                    self.accelerator,
                    self.learner.critic,
                    self.optimizer,
                    got.hidden_NH.float(),
                    targets["return_N"],
                    batch.weight_E[batch.episode_N],
                    update.critic_epochs,
                    np.random.default_rng(chance(job.seed, self.step, "critic")),
                )
        return {**figures, "lr": rates[0] * share}

    def _more_state(self) -> dict[str, Any]:
        return {"rng": rng_state()}

    def _loaded(self, state: Mapping[str, Any]) -> None:
        load_rng_state(state["rng"])

    def save_model(self, folder: Path) -> None:
        save_policy(self.policy, self.job.model, folder)
