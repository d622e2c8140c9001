"""The training loop, written with PyTorch and `accelerate` alone.

    in the first `warm_start.steps` steps: AdamW updates on the cross-entropy of demonstrations (`sft.py`)
    in each further step:                               # samples, trajectories and rewards: `collect.py`
        samples      = sampler.draw(step)               # `batch_size / group_size` prompts, `group_size` episodes each
        trajectories = rollout(policy, samples)         # dialogues with simulated user and tools, in parallel slots
        rewards      = reward(episode)                  # outcome, dimensions, over-clarification penalty
        ref_logprobs = frozen start on the same tokens  # for the KL penalty: the warm start, or else the base
        targets      = strategy.targets(batch)          # advantages and returns (PPO, GRPO) or pairs (DPO)
        for epoch, minibatch: AdamW step on strategy.loss(...)
        callbacks: evaluate, log, save a checkpoint

The losses are in `strategies/ppo.py`, `grpo.py` and `dpo.py`. All randomness of a step comes from the seed and the
number of the step, so an interrupted run resumes bit by bit as if nothing had happened (on a CPU, with the same number
of threads). Run it with `askgate train --config configs/train_local.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch import Tensor

from ..agents.trajectory import Trajectory
from ..core.api import Batch, Callback, StepResult, Targets
from ..core.errors import BadInput
from ..runtime.seeding import backward_strictly, load_rng_state, rng_state, seed_all
from ..strategies.flat_layout import take
from .base import BaseEngine, StepTimer, load_weights, lr_scale, make_optimizer, trained_weights
from .collect import collect, derive_seed, episode_metrics, reference_logprobs, token_traces
from .distributed import full_on_rank_0, refresh_rollout_copy, rollout_copy, shard, sharded_like
from .job import TrainJob
from .models import (
    Critic,
    Frozen,
    compile_layers,
    frozen_adapters,
    frozen_base,
    frozen_model,
    is_adapted,
    load_policy,
    recompute_layers,
)
from .packed import Entropy, Learner, Stream, TokenScores, backward, pack
from .sft import MAX_NORM, Demo, sft_batches, sft_loss, sft_optimizer

_PRECISION = {torch.float32: "no", torch.bfloat16: "bf16", torch.float16: "fp16"}
CRITIC_MINIBATCH = 512
"""Tokens per update when the critic trains alone."""


class PurePT(BaseEngine):
    """The engine `pure_pt`: one process and one device, or several of each under torchrun (`distributed.py`)."""

    strategies = frozenset({"ppo", "grpo", "dpo"})
    warm_starts = True
    several_processes = True

    def __init__(self, job: TrainJob) -> None:
        if job.dtype == torch.float16 and job.device.type == "cpu":
            raise BadInput("a CPU does not train in fp16", where="precision", remedy="set precision: fp32")
        super().__init__(job)
        self.is_sharded = self.ranks.world > 1 and job.finetune.method == "full"
        if self.ranks.world > 1:
            self._refuse_settings_of_one_process()
        self.accelerator = Accelerator(mixed_precision=_PRECISION[job.dtype], cpu=job.device.type == "cpu")
        self.warm_steps = job.warm_start.steps if job.warm_start else 0
        self.warm_weights: dict[str, Tensor] | None = None
        """Trained weights of the policy after the warm start, once it is complete."""
        self._demonstrations: Sequence[Demo] = ()
        self.frozen: Frozen | None = None
        self._reset_to_base()

    def fit(self, callbacks: Sequence[Callback]) -> None:
        for callback in callbacks:
            callback.on_start(self)
        while self.step < self.job.max_steps:
            result = self.take_step()
            for callback in callbacks:  # evaluation, logs, checkpoints
                callback.on_step(self, result)
        for callback in callbacks:
            callback.on_end(self)

    def take_step(self) -> StepResult:
        """One step of the strategy (roll out a batch of episodes, update on it), or one of the warm start before it."""
        self.ranks.announce("take_step")
        result = self._warm_step() if self.step < self.warm_steps else self._strategy_step()
        self._refresh_policy()
        return result

    def _strategy_step(self) -> StepResult:
        job, timer = self.job, StepTimer(self.job.device)
        collected = collect(job, self.policy, self.step, timer, self.learner.critic, self.ranks)
        batch, trajectories = collected.batch, collected.trajectories
        if self.frozen:
            with timer.part("reference"), self.accelerator.autocast():
                local_ref_logp_N = reference_logprobs(self.frozen, self.ranks.local(trajectories), job)
                batch = replace(batch, ref_logp_N=self.ranks.gather_tokens(local_ref_logp_N, batch.episode_N))
        targets = job.strategy.targets(batch)
        lr = self._set_learning_rate()
        # The policy is not updated while the critic warms up, nor if no episode of the batch has a signal for it.
        has_critic, teaches_E = self.learner.critic is not None, targets.get("teaches_E")
        critic_warmup = has_critic and self.step - self.warm_steps < job.optimizer.critic_warmup_steps
        critic_only = critic_warmup or (has_critic and teaches_E is not None and not teaches_E.any())
        update_metrics: dict[str, float] = {}
        # An update of the critic alone is left to `_train_critic`, if that runs: it needs no pass through the policy.
        if not (critic_only and job.optimizer.critic_epochs):
            update_metrics = self._update(trajectories, batch, targets, timer, critic_only)
        if collected.hidden_NH is not None and job.optimizer.critic_epochs and "return_N" in targets:
            with timer.part("critic"):
                self._train_critic(collected.hidden_NH.float(), targets["return_N"], batch)
        metrics = {**episode_metrics(collected), **update_metrics, "lr": lr, **job.strategy.metrics()}
        # While the critic warms up, the policy does not change, and its KL is no reason to adapt the KL coefficient.
        result = self._finish_step(collected, metrics, timer, adapt=not critic_warmup)
        return replace(result, tokens=token_traces(trajectories, batch, job.renderer))

    def _warm_step(self) -> StepResult:
        """One of the equal parts of the SFT on demonstrations. After the last one the strategy starts."""
        warm, timer = self.job.warm_start, StepTimer(self.job.device)
        assert warm is not None
        demos = self._demonstrations = self._demonstrations or warm.demonstrations()
        start, end = self.step / warm.steps, (self.step + 1) / warm.steps
        metrics: list[dict[str, Tensor]] = []
        token_counts: list[int] = []
        with timer.part("sft"):
            for rows, lr in sft_batches(demos, warm.plan, start, end):
                for group in self.optimizer.param_groups:
                    group["lr"] = lr
                streams = self._local_streams(demos, rows, min(warm.plan.batch_tokens, self.job.optimizer.pack_tokens))
                policy_tokens = sum(int(demos[row].policy.sum()) for row in rows)
                passes = partial(self._sft_backward, streams, policy_tokens)
                loss = backward_strictly(passes, self.optimizer.zero_grad)
                self.accelerator.unscale_gradients()
                weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
                metrics.append({"loss": self.ranks.sum(loss), "grad_norm": self.ranks.clip(weights, MAX_NORM)})
                self.optimizer.step()
                self.optimizer.zero_grad()
                token_counts.append(sum(len(demos[row].tokens) for row in rows))
        self.step += 1
        self.tokens_seen += sum(token_counts)
        means = weighted_means(metrics, token_counts) | {"lr": lr} if metrics else {}
        self._refuse_not_finite(means)
        if self.step == self.warm_steps:
            weights_now = trained_weights(self.learner.policy)
            self._start_strategy({name: weight.clone() for name, weight in weights_now.items()})
        means |= {"sft_tokens": float(sum(token_counts)), "sft_updates": float(len(metrics))}
        return StepResult(self.step, {**means, **timer.metrics()}, [])

    def _sft_backward(self, streams: Sequence[Stream], policy_tokens: int) -> Tensor:
        """Adds the gradients of these streams of a batch. Returns their share of the batch's loss.

        `policy_tokens` is their number in the whole batch: the mean over it does not depend on how it is split.
        """
        loss = torch.zeros((), device=self.job.device)
        for stream in streams:
            with self.accelerator.autocast():
                part = self.learner.call(sft_loss, stream) * (len(stream.label_N) / policy_tokens)
            self.accelerator.backward(part)
            loss += part.detach()
        return loss

    def _start_strategy(self, warm_weights: dict[str, Tensor]) -> None:
        """Makes the result of the warm start the reference, and makes a new optimizer for the strategy."""
        job, self.warm_weights, self._demonstrations = self.job, warm_weights, ()
        if job.strategy.reference and is_adapted(self.policy):
            self.frozen = frozen_adapters(self.policy, warm_weights)
        elif job.strategy.reference:
            policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
            load_weights(policy, warm_weights, "warm start")
            self.frozen = frozen_model(policy, job.dtype)
        self._set_optimizer(make_optimizer(job, self.learner.policy, self.learner.critic))

    def _set_optimizer(self, optimizer: Any) -> None:
        self.accelerator.free_memory()
        self.optimizer = self.accelerator.prepare(optimizer)

    def _set_learning_rate(self) -> float:
        """Sets the rates of policy and critic for this step. Returns the policy's."""
        job = self.job
        scale = lr_scale(job.optimizer, self.step - self.warm_steps, job.max_steps - self.warm_steps)
        rates = (job.lr * self.guard.lr_scale * scale, job.optimizer.critic_lr * scale)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            group["lr"] = rate
        return rates[0]

    def _update(
        self, trajectories: Sequence[Trajectory], batch: Batch, targets: Targets, timer: StepTimer, critic_only: bool
    ) -> dict[str, float]:
        """Updates on a batch: `epochs` times over it, `minibatches` updates each. Returns their metrics.

        Without a critic, episodes without signal (`teaches_E` is False) are left out, and a minibatch of such episodes
        makes no update. Metrics are means over the updates, weighted by their tokens. Only `logp_gap*` are of
        the first update: the difference between rollout and training before anything was learned.
        """
        settings = self.job.optimizer
        rng = np.random.default_rng(derive_seed(self.job.seed, self.step, "minibatches"))
        metrics: list[dict[str, Tensor]] = []
        token_counts: list[int] = []
        # A critic learns from every episode.
        teaches_E = targets.get("teaches_E") if self.learner.critic is None else None
        for _ in range(settings.epochs):
            for rows in split_minibatches(batch.group_E, settings.minibatches, rng):
                divisor = None
                if teaches_E is not None:
                    divisor = int(torch.isin(batch.episode_N, rows).sum())
                    rows = rows[teaches_E[rows]]
                part, part_targets = take(replace(batch, divisor=divisor), targets, rows)
                streams = self._local_streams(trajectories, rows.tolist(), settings.pack_tokens)
                if not streams:
                    continue
                with timer.part("forward_backward"):
                    passes = partial(self._backward, streams, part, part_targets, critic_only)
                    update_metrics = backward_strictly(passes, self.optimizer.zero_grad)
                with timer.part("optimizer"):
                    update_metrics |= self._optimizer_step()
                metrics.append(update_metrics)
                token_counts.append(len(part.logp_N))
        if not metrics:  # no episode of this step has a signal
            return {}
        first = {name: float(value) for name, value in metrics[0].items() if name.startswith("logp_gap")}
        return {**weighted_means(metrics, token_counts), **first}

    def _local_streams(
        self, episodes: Sequence[Demo | Trajectory], rows: Sequence[int], pack_tokens: int
    ) -> list[Stream]:
        """This rank's share of these rows, packed; every rank has the same number of streams."""
        streams = pack([episodes[row] for row in self.ranks.local(rows)], pack_tokens, self.job.device)
        return self.ranks.pad_streams(streams, self.job.device)

    def _backward(
        self, streams: Sequence[Stream], part: Batch, targets: Targets, critic_only: bool
    ) -> dict[str, Tensor]:
        """Adds the gradients of a minibatch of episodes. Returns its metrics."""

        def loss(scores: TokenScores) -> tuple[Tensor, dict[str, Tensor]]:
            value, metrics = self.job.strategy.loss(scores.logp_N, scores.entropy_N, scores.value_N, part, targets)
            return value, {**metrics, **logp_gap(scores.logp_N.detach(), part.logp_N)}

        gather = partial(self.ranks.gather_scores, part.episode_N)
        return backward(self.accelerator, self.learner, streams, loss, critic_only, gather)

    def _optimizer_step(self) -> dict[str, Tensor]:
        """Clips the gradients and updates the weights. Returns the gradient norms before clipping.

        Policy and critic are clipped separately: large gradients of the critic must not scale down the policy's.
        """
        self.accelerator.unscale_gradients()
        names = ("grad_norm", "critic_grad_norm")
        norms = {
            name: self.ranks.clip(group["params"], self.job.optimizer.grad_clip)
            for name, group in zip(names, self.optimizer.param_groups, strict=False)
        }
        self.optimizer.step()
        self.optimizer.zero_grad()
        return norms

    def _train_critic(self, hidden_NH: Tensor, return_N: Tensor, batch: Batch) -> None:
        """Fits the critic to the returns for `critic_epochs` more epochs, on hidden states kept from the rollout.

        This costs little: the critic is a small head, and no pass through the policy is needed.
        """
        rng = np.random.default_rng(derive_seed(self.job.seed, self.step, "critic"))
        weight_N = batch.weight_E[batch.episode_N]
        # `hidden_NH` has the tokens of this rank only: `local_row_N` is the row of such a token in it.
        is_local_N = batch.episode_N % self.ranks.world == self.ranks.rank
        local_row_N = is_local_N.cumsum(0) - 1
        for _ in range(self.job.optimizer.critic_epochs):
            order = torch.from_numpy(rng.permutation(len(return_N))).to(return_N.device)
            for rows in torch.split(order, CRITIC_MINIBATCH):
                total_weight = weight_N[rows].sum().clamp(min=1e-8)
                if self.ranks.world > 1:
                    rows = rows[is_local_N[rows]]
                error = self.learner.critic(hidden_NH[local_row_N[rows]]) - return_N[rows]
                self.accelerator.backward(0.5 * (weight_N[rows] * error**2).sum() / total_weight)
                self.ranks.sum_gradients(self.learner.critic.parameters())
                self.optimizer.step()
                self.optimizer.zero_grad()

    def _reset_to_base(self) -> None:
        job = self.job
        seed_all(job.seed)
        policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        self.policy = rollout_copy(policy, job.dtype) if self.is_sharded else policy
        # With a warm start the reference is its result.
        self.frozen = frozen_base(policy, job.dtype) if job.strategy.reference and not self.warm_steps else None
        critic = Critic(policy.config.hidden_size) if job.strategy.critic else None
        if job.device.type == "cuda" and job.finetune.method != "qlora":
            compile_layers(policy)
        if job.optimizer.gradient_checkpointing:
            recompute_layers(policy)
        entropy: Entropy = "trained" if getattr(job.strategy, "entropy_coef", 1.0) else "reported"
        learner = Learner(policy, critic, job.rollout.temperature, entropy=entropy)
        self.accelerator.free_memory()
        # Evaluation mode: autocast only, and no DDP around it.
        self.learner = self.accelerator.prepare_model(learner, evaluation_mode=self.ranks.distributed)
        if self.is_sharded:
            shard(self.learner, job.device, job.dtype)
        if job.warm_start:
            self._set_optimizer(sft_optimizer(policy, job.warm_start.plan.lr))
        else:
            self._set_optimizer(make_optimizer(job, policy, critic))
        if self.warm_weights is not None:
            load_weights(policy, self.warm_weights, "warm start")
            self._start_strategy(self.warm_weights)
            self._refresh_policy()

    def _refresh_policy(self) -> None:
        """Copies the current weights into the rollout copy of a sharded policy."""
        if self.is_sharded:
            refresh_rollout_copy(self.policy, self.learner.policy)

    def sharded_weights(self) -> dict[str, Tensor] | None:
        if not self.is_sharded:
            return None
        self.ranks.announce("sharded_weights")
        return cast(dict[str, Tensor], full_on_rank_0(trained_weights(self.learner.policy)))

    def _refuse_settings_of_one_process(self) -> None:
        """Refuses settings that do not work with several processes."""
        job, world = self.job, self.ranks.world
        if job.dtype == torch.float16:
            what, where, remedy = "fp16 trains in one process only", "precision", "set precision: bf16 or fp32"
        elif job.rollout.backend == "vllm":
            what, where = "vLLM servers take adapters from one training process only", "rollout.backend"
            remedy = "start it without torchrun, or set rollout.backend: auto"
        elif self.is_sharded and job.device.type == "cuda" and dist.get_backend() == "gloo":
            what, where = "processes that share a GPU cannot shard a model: gloo has no all_gather there", "torchrun"
            remedy = "start one process per GPU, or set finetune.method: lora"
        elif job.batch_size < world:
            what, where = f"{job.batch_size} episodes are fewer than {world} processes", "batch_size"
            remedy = f"raise it to {world} at least, or start fewer processes"
        else:
            return
        raise BadInput(what, where=where, remedy=remedy)

    def _restore(self, state: Mapping[str, Any], where: str) -> None:
        """Ends the warm start first if the checkpoint is of a later step: the strategy has an optimizer of its own."""
        if self.warm_steps:
            weights = state["warm_start"]
            if weights is not None and self.warm_weights is None:
                current = trained_weights(self.learner.policy)
                loaded = {name: sharded_like(weight, current[name]) for name, weight in weights.items()}
                self._start_strategy({name: weight.to(self.job.device) for name, weight in loaded.items()})
        super()._restore(state, where)
        self._refresh_policy()

    def _extra_state(self) -> dict[str, Any]:
        return {"rng": rng_state(), **({"warm_start": self.warm_weights} if self.warm_steps else {})}

    def _after_load(self, state: Mapping[str, Any]) -> None:
        load_rng_state(state["rng"])


def logp_gap(logp_N: Tensor, rollout_logp_N: Tensor) -> dict[str, Tensor]:
    """How far the log-probabilities of training are from those of the rollout: mean, 99th percentile and maximum."""
    gap_N = (logp_N - rollout_logp_N).abs()
    return {
        "logp_gap": gap_N.mean(),
        "logp_gap_p99": gap_N.sort().values[max(0, round(0.99 * len(gap_N)) - 1)],
        "logp_gap_max": gap_N.max(),
    }


def split_minibatches(group_E: Tensor, count: int, rng: np.random.Generator) -> list[Tensor]:
    """Splits a batch at random into `count` parts of whole groups. Row numbers rise within a part."""
    groups = torch.unique(group_E)
    shuffled = groups[torch.from_numpy(rng.permutation(len(groups))).to(groups.device)]
    return [torch.isin(group_E, part).nonzero()[:, 0] for part in shuffled.tensor_split(min(count, len(groups)))]


def weighted_means(metrics: Sequence[Mapping[str, Tensor]], counts: Sequence[int]) -> dict[str, float]:
    """Means of all metrics over the updates of a step, with a single transfer from the device."""
    names = [*metrics[0]]
    # The norm of a group without gradients is on the CPU, wherever the weights are.
    device = metrics[0]["loss"].device
    rows = [torch.stack([update[name].float().to(device) for name in names]) for update in metrics]
    table = torch.stack(rows).cpu().double()
    share = torch.tensor(counts, dtype=torch.float64) / sum(counts)
    return dict(zip(names, (share @ table).tolist(), strict=True))
