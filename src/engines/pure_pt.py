"""Our own engine: episodes, strategy and updates on one machine, by torch and `accelerate` alone.

One step is one batch of episodes and the updates made from it. All chance in a step comes from the seed and the number
of the step, so a run that was cut short goes on bit by bit as if nothing had happened (on a CPU, with the same number
of threads).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from accelerate import Accelerator

from ..core.api import Batch, Callback, StepResult
from ..core.errors import BadInput
from ..core.state import pack_state, unpack_state
from ..runtime.seeding import load_rng_state, rng_state, seed_all
from .clock import Clock
from .collect import Collected, chance, collect, episode_figures
from .critic import fit_critic
from .job import TrainJob
from .learn import checked, learn, optimizer_for
from .models import Critic, frozen_base, load_policy, save_policy
from .packed import Learner, hidden, spoken, streams
from .rollback import Guard
from .schedule import lr_share
from .state import finite, learned, machine, put_back

_log = logging.getLogger(__name__)
_PRECISION = {torch.float32: "no", torch.bfloat16: "bf16", torch.float16: "fp16"}


class PurePT:
    strategies = frozenset({"ppo", "grpo", "dpo"})

    def __init__(self, job: TrainJob) -> None:
        if job.batch_size % job.strategy.group_size:
            raise BadInput(
                f"{job.batch_size} episodes do not make whole groups of {job.strategy.group_size}",
                where="batch_size",
                remedy=f"give a multiple of {job.strategy.group_size}",
            )
        if job.dtype == torch.float16 and job.device.type == "cpu":
            raise BadInput("a CPU does not train in fp16", where="precision", remedy="set precision: fp32")
        self.job, self.step = job, 0
        self.tokens_seen = 0
        """Of all episodes so far, the words of user and tools included."""
        self.guard = Guard(job.update.kl_alert)
        self.accelerator = Accelerator(mixed_precision=_PRECISION[job.dtype], cpu=job.device.type == "cpu")
        if self.accelerator.num_processes > 1:
            raise BadInput("pure_pt runs in one process", where="accelerate launch", remedy="start it without")
        self._build()

    def _build(self) -> None:
        """Everything as it is before the first step."""
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
        warming = self._warming
        self.step += 1
        self.tokens_seen += sum(len(one.tokens) for one in got.trajectories)
        if not warming:
            # The policy stood still, so its distance says nothing about the weight of the penalty.
            job.strategy.after_step(figures)
        job.sampler.observe(got.episodes)
        if self.guard.strayed(figures.get("kl", 0.0)):
            self._go_back(figures["kl"])
        figures["kl_alerts"], figures["rollbacks"] = float(self.guard.alerts), float(self.guard.rollbacks)
        return StepResult(self.step, {**figures, **clock.figures()}, got.episodes)

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

    def _go_back(self, kl: float) -> None:
        """The weights and the optimizer of the last good checkpoint; of the base where there is none yet."""
        folder = self.job.last_good(self.step - self.guard.most)
        _log.warning(
            "step %d: KL %.4g is above %s for the %dth time running; back to %s, learning rate times %g",
            self.step, kl, self.guard.level, self.guard.most, folder or self.job.model, self.guard.lr_factor,
        )  # fmt: skip
        if folder is None:
            self._build()
        else:
            self._take_up(unpack_state(folder), str(folder))

    def save(self, folder: Path) -> None:
        scaler = self.accelerator.scaler
        pack_state(folder, {
            "step": self.step,
            "tokens_seen": self.tokens_seen,
            "weights": finite(learned(self.learner), self.step),
            "optimizer": self.optimizer.state_dict(),
            "scaler": None if scaler is None else scaler.state_dict(),
            "rng": rng_state(),
            "sampler": self.job.sampler.state_dict(),
            "strategy": self.job.strategy.state_dict(),
            "guard": self.guard.state_dict(),
            "machine": machine(),
        })  # fmt: skip

    def load(self, folder: Path) -> None:
        state = unpack_state(folder)
        self._take_up(state, str(folder))
        self.step, self.tokens_seen = int(state["step"]), int(state["tokens_seen"])
        self.job.sampler.load_state_dict(state["sampler"])
        self.job.strategy.load_state_dict(state["strategy"])
        self.guard.load_state_dict(state["guard"])
        load_rng_state(state["rng"])
        if (there := state["machine"]) != (here := machine()):
            _log.warning("%s was saved with %s; with %s the run goes on, but not bit by bit", folder, there, here)

    def _take_up(self, state: Mapping[str, Any], where: str) -> None:
        put_back(self.learner, state["weights"], where)
        self.optimizer.load_state_dict(state["optimizer"])
        if self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(state["scaler"])

    def save_model(self, folder: Path) -> None:
        save_policy(self.policy, self.job.model, folder)
