"""Hugging Face TRL as an engine: its GRPOTrainer and its DPOTrainer, driven by the same job as `pure_pt`.

Episodes, tools, rewards, sampling, schedule and checkpoints are AskGate's; loss, clipping, KL term and updates are
TRL's. A checkpoint is safetensors and JSON, as with `pure_pt`; TRL's own checkpoints, which contain pickles, are never
written or read. All randomness of a step comes from the seed and the step number.

GRPOTrainer calls a function of ours (`rollout_func`) for a batch of episodes: prompt, completion, and the mask of
policy tokens in the completion (`env_mask`). DPOTrainer reads pairs from a dataset, so here each step makes its own
pairs when the trainer prepares its inputs; the log-probabilities of the frozen base come with the pairs (TRL calls them
precomputed).
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import torch
from datasets import Dataset
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, PrinterCallback, TrainerCallback
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from ..agents.trajectory import Trajectory
from ..core.api import Callback
from ..core.errors import BadInput
from ..runtime.seeding import seed_all
from ..strategies.dpo import DPO, best_worst_pairs
from ..strategies.flat_layout import segment_sum
from ..strategies.grpo import GRPO
from .base import BaseEngine, CollectedEpisodes, StepTimer, load_weights, lr_scale, make_optimizer, trained_weights
from .collect import collect, derive_seed, episode_metrics, reference_logprobs
from .job import TrainJob
from .models import frozen_base, is_adapted, load_policy

_SHARED_METRICS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "entropy": "entropy",
    "clip_ratio/region_mean": "clip_share",
}
"""Metrics of TRL that `pure_pt` has too, and their names there."""
Collect = Callable[[], CollectedEpisodes]
SHARE = "share"
"""Key in the inputs of a pair: the pair's share of its update."""


class TrlEngine(BaseEngine):
    """The engine `trl_ppo`: GRPO and DPO by TRL."""

    strategies = frozenset({"grpo", "dpo"})
    refusals: ClassVar = {
        "ppo": (
            "TRL has no PPO any more: PPOTrainer was removed in 1.13; the last one was single-turn, took no reward "
            "function and could not resume",
            "set engine: pure_pt for PPO with a critic, or strategy: grpo for the same clipped objective on TRL",
        )
    }

    def __init__(self, job: TrainJob) -> None:
        if type(job.strategy) not in (GRPO, DPO):  # TRL brings its own losses
            raise BadInput(
                f"trl_ppo would run a loss of TRL, not that of {type(job.strategy).__name__}",
                where="strategy",
                remedy="set engine: pure_pt, or strategy: grpo or dpo",
            )
        if job.rollout.thoughts == "drop":
            raise BadInput(
                "this engine trains on whole episodes, not on segments of them",
                where="rollout.thoughts",
                remedy="set engine: pure_pt, or rollout.thoughts: keep",
            )
        super().__init__(job)
        self._scratch = TemporaryDirectory(prefix="askgate-trl-")
        seed_all(job.seed)
        self.policy = self.learner = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        self.optimizer = make_optimizer(job, self.policy, None)
        constant = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda _: 1.0)
        trainer: Any = EpisodeGRPOTrainer if isinstance(job.strategy, GRPO) else EpisodeDPOTrainer
        self.trainer: Any = trainer(
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
        self._undo_adapter_changes()
        self._callbacks: Sequence[Callback] = ()

    def _undo_adapter_changes(self) -> None:
        """Undoes what TRL did to adapters: a second copy of them as reference, and 16-bit weights.

        Adapters start at zero, so the reference is the model without them; and an update of 1e-5 is lost in 16 bits.
        """
        if is_adapted(self.policy) and "ref" in self.policy.peft_config:
            self.policy.delete_adapter("ref")
        for weight in self.policy.parameters():
            if weight.requires_grad:
                weight.data = weight.data.float()

    def fit(self, callbacks: Sequence[Callback]) -> None:
        self._callbacks = callbacks
        for callback in callbacks:
            callback.on_start(self)
        if self.step < self.job.max_steps:
            self.trainer.args.max_steps = (self.job.max_steps - self.step) * self.trainer.updates_per_step
            self.trainer.train()
        for callback in callbacks:
            callback.on_end(self)

    def _collect(self) -> CollectedEpisodes:
        """Collects the episodes of this step, when TRL asks for a batch."""
        self._timer = StepTimer(self.job.device)
        torch.manual_seed(derive_seed(self.job.seed, self.step, "trl"))
        with self.accelerator.autocast():
            self._collected = collect(self.job, self.policy, self.step, self._timer)
        return self._collected

    def lr(self) -> float:
        """The learning rate of this step."""
        return self.job.lr * self.guard.lr_scale * lr_scale(self.job.optimizer, self.step, self.job.max_steps)

    def finish_step(self, logs: Mapping[str, float]) -> None:
        """Called after all updates of a step. Metrics that only TRL reports get the prefix `trl/`."""
        job, collected = self.job, self._collected
        shared = {name: float(logs[trl_name]) for trl_name, name in _SHARED_METRICS.items() if trl_name in logs}
        others = {
            f"trl/{name}": float(value)
            for name, value in logs.items()
            if value is not None and name not in _SHARED_METRICS
        }
        metrics = {**episode_metrics(collected), **others, **shared, **job.strategy.metrics()}
        metrics["lr"] = self.lr()
        result = self._finish_step(collected, metrics, self._timer)
        self.trainer.after_step()
        for callback in self._callbacks:
            callback.on_step(self, result)

    def _reset_to_base(self) -> None:
        """Copies the base into the tensors that TRL holds already."""
        job = self.job
        seed_all(job.seed)
        fresh = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        load_weights(self.policy, trained_weights(fresh), job.model)
        self.optimizer.state.clear()

    def _after_load(self, state: Mapping[str, Any]) -> None:
        self.trainer.after_step()


class _StepHooks(TrainerCallback):
    """Connects TRL's loop with ours: TRL logs once per step of ours, after its last update."""

    def __init__(self, engine: TrlEngine) -> None:
        self.engine = engine

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        for group in self.engine.optimizer.param_groups:
            group["lr"] = self.engine.lr()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs is not None and "loss" in logs:
            self.engine.finish_step(logs)


class EpisodeGRPOTrainer(GRPOTrainer):
    """GRPOTrainer in which one generation is one step of ours."""

    def __init__(self, job: TrainJob, strategy: GRPO, policy: Any, collect: Collect, scratch: str, **more: Any) -> None:
        self.strategy, self.collect = strategy, collect
        self.updates_per_step = job.optimizer.epochs * job.optimizer.minibatches
        tokenizer = tokenizer_for(job)
        self.filler = int(tokenizer.pad_token_id)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*'rollout_func'.*experimental", UserWarning)
            super().__init__(
                model=policy,
                reward_funcs=[episode_reward],
                args=_grpo_arguments(job, strategy, scratch),
                # Samples come from our sampler: TRL only needs rows to count.
                train_dataset=Dataset.from_dict({"prompt": [""] * (job.batch_size // strategy.group_size)}),
                processing_class=tokenizer,
                rollout_func=lambda prompts, trainer: self._episodes(),
                **more,
            )

    def _episodes(self) -> dict[str, list[Any]]:
        self.collected = self.collect()
        rows = [split(trajectory, self.filler) for trajectory in self.collected.trajectories]
        prompt_ids, completion_ids, masks, logprobs = map(list, zip(*rows, strict=True))
        return {
            "prompt_ids": prompt_ids,
            "completion_ids": completion_ids,
            "env_mask": masks,
            "logprobs": logprobs,
            "reward": self.collected.batch.reward_E.tolist(),
        }

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        """Applies the weights of episodes, and leaves groups of equal rewards out of the loss, as our GRPO does.

        A weight scales the advantage only: TRL has no way to scale the KL term with it.
        """
        scored = super()._generate_and_score_completions(inputs)
        mask = (scored["completion_mask"] * scored["tool_mask"]).bool()
        batch = replace(self.collected.batch, ref_logp_N=scored["ref_per_token_logps"][mask])
        targets = self.strategy.targets(batch)
        scored["advantages"] = scored["advantages"] * batch.weight_E
        scored["tool_mask"] = torch.zeros_like(scored["tool_mask"])
        scored["tool_mask"][mask] = targets["teaches_N"].to(scored["tool_mask"].dtype)
        return scored

    def after_step(self) -> None:
        """Passes the KL coefficient, which the strategy adapts, on to TRL."""
        self.beta = self.strategy.kl_coef


def episode_reward(reward: list[float | None], **_: Any) -> list[float | None]:
    """The reward function for TRL, which logs its name. `collect` has computed the rewards already."""
    return reward


def split(trajectory: Trajectory, filler: int) -> tuple[list[int], list[int], list[int], list[float]]:
    """Prompt, completion up to the last policy token, mask of its policy tokens, and their log-probabilities.

    Without a policy token the completion is one filler token outside the mask: TRL requires one.
    """
    policy = np.flatnonzero(trajectory.policy)
    if not len(policy):
        return trajectory.tokens.tolist(), [filler], [0], [0.0]
    start, end = int(policy[0]), int(policy[-1]) + 1
    return (
        trajectory.tokens[:start].tolist(),
        trajectory.tokens[start:end].tolist(),
        trajectory.policy[start:end].astype(int).tolist(),
        trajectory.logp[start:end].tolist(),
    )


def _grpo_arguments(job: TrainJob, strategy: GRPO, scratch: str) -> GRPOConfig:
    if strategy.kl_coef <= 0:
        raise BadInput(
            "without a KL term TRL keeps no reference, and the KL divergence is not measured",
            where="kl_coef",
            remedy="give a number above 0, or set engine: pure_pt",
        )
    minibatches = job.optimizer.minibatches
    minibatch_size, rest = divmod(job.batch_size, minibatches)
    if rest:
        raise BadInput(
            f"{job.batch_size} episodes cannot be split into {minibatches} equal minibatches",
            where="optimizer.minibatches",
            remedy="give a divisor of batch_size, or set engine: pure_pt",
        )
    # TRL pads episodes to the longest of a pass: as many per pass as fit even if all have the maximum length.
    fitting = max(1, job.optimizer.pack_tokens // job.rollout.max_tokens)
    per_pass = max(size for size in range(1, minibatch_size + 1) if minibatch_size % size == 0 and size <= fitting)
    return GRPOConfig(
        **common_arguments(job, minibatches, minibatch_size // per_pass, scratch),
        per_device_train_batch_size=per_pass,
        steps_per_generation=job.batch_size // per_pass,
        num_generations=strategy.group_size,
        num_iterations=job.optimizer.epochs,
        max_completion_length=job.rollout.max_tokens,
        temperature=job.rollout.temperature,
        loss_type="dapo",
        scale_rewards="group" if strategy.divide_by_std else "none",
        epsilon=strategy.clip,
        beta=strategy.kl_coef,
        entropy_coef=strategy.entropy_coef,
    )


class EpisodeDPOTrainer(DPOTrainer):
    """DPOTrainer on pairs of our episodes, one pair at a time: TRL's loss is a plain mean, and our pairs have weights.

    A step has as many slots for pairs as it has groups. A group of equal rewards makes no pair and leaves its slot
    empty.
    """

    def __init__(self, job: TrainJob, strategy: DPO, policy: Any, collect: Collect, scratch: str, **more: Any) -> None:
        if job.rollout.temperature != 1:
            raise BadInput(
                f"episodes are sampled at temperature {job.rollout.temperature}, TRL's DPO scores them at 1",
                where="rollout.temperature",
                remedy="set it to 1.0, or set engine: pure_pt",
            )
        self.job, self.strategy, self.collect = job, strategy, collect
        groups = job.batch_size // strategy.group_size
        self.minibatches = min(job.optimizer.minibatches, groups)
        self.slots = -(-groups // self.minibatches)
        self.updates_per_step = job.optimizer.epochs * self.minibatches
        self.frozen = frozen_base(policy, job.dtype)
        self.waiting: deque[dict[str, Any]] = deque()
        super().__init__(
            model=policy,
            args=DPOConfig(
                **common_arguments(job, self.minibatches, self.slots, scratch),
                per_device_train_batch_size=1,
                beta=strategy.beta,
                loss_type=["sigmoid"],
                max_length=None,
                precompute_ref_log_probs=True,
            ),
            # Samples come from our sampler: TRL only needs rows to count.
            train_dataset=Dataset.from_dict({"prompt": [""] * (self.updates_per_step * self.slots)}),
            data_collator=lambda rows: {},
            processing_class=tokenizer_for(job),
            **more,
        )

    def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
        return dataset

    def _precompute_ref_logps(self, dataset: Any, *_: Any) -> Any:
        return dataset

    def _prepare_inputs(self, inputs: Any) -> Any:
        if not self.waiting:
            self.waiting.extend(self._pairs_of_step())
        return super()._prepare_inputs(self.waiting.popleft())

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        share = inputs.pop(SHARE)
        if not inputs:
            return 0.0 * next(weight for weight in model.parameters() if weight.requires_grad).sum()
        trl_loss: Any = super().compute_loss
        return share * trl_loss(model, inputs, return_outputs, num_items_in_batch)

    def after_step(self) -> None:
        """Does nothing: DPO has no weight to adapt."""

    def _pairs_of_step(self) -> Iterator[dict[str, Any]]:
        """The pairs of a step in the order in which the updates read them. An empty slot has a share of 0."""
        job, collected = self.job, self.collect()
        with self.accelerator.autocast():
            ref_logp_N = reference_logprobs(self.frozen, collected.trajectories, job)
        batch = replace(collected.batch, ref_logp_N=ref_logp_N)
        self.strategy.targets(batch)
        ref_logp_E = segment_sum(ref_logp_N, batch.episode_N, job.batch_size)
        better, worse = (rows.tolist() for rows in best_worst_pairs(batch.reward_E, batch.group_E))
        pairs = [
            padded_pair(collected.trajectories[b], collected.trajectories[w])
            | {"ref_chosen_logps": ref_logp_E[b : b + 1], "ref_rejected_logps": ref_logp_E[w : w + 1]}
            for b, w in zip(better, worse, strict=True)
        ]
        weights = torch.minimum(batch.weight_E[better], batch.weight_E[worse]).tolist()
        for _ in range(job.optimizer.epochs):
            order = torch.randperm(len(pairs)).numpy()
            for part in np.array_split(order, self.minibatches):
                # TRL divides by the number of slots; the update is the mean over the pairs.
                for row in part.tolist():
                    yield {**pairs[row], SHARE: weights[row] * self.slots / len(part)}
                yield from ({SHARE: 0.0} for _ in range(self.slots - len(part)))


def padded_pair(better: Trajectory, worse: Trajectory) -> dict[str, Tensor]:
    """Two rows, the better one first, padded to the longer. The completion mask has the policy tokens only."""
    tokens = [torch.from_numpy(one.tokens.astype(np.int64)) for one in (better, worse)]
    rows = {
        "input_ids": tokens,
        "attention_mask": [torch.ones_like(row) for row in tokens],
        "completion_mask": [torch.from_numpy(one.policy.astype(np.int64)) for one in (better, worse)],
    }
    return {name: pad_sequence(pair, batch_first=True) for name, pair in rows.items()}


def common_arguments(job: TrainJob, minibatches: int, backward_passes: int, scratch: str) -> dict[str, Any]:
    """Arguments of both trainers. TRL logs once per step of ours and saves nothing: the engine does checkpoints,
    schedule and reports. `backward_passes`: number of backward passes per update."""
    updates_per_step = job.optimizer.epochs * minibatches
    return {
        "output_dir": scratch,
        "use_cpu": job.device.type == "cpu",
        "seed": job.seed,
        "bf16": job.dtype == torch.bfloat16,
        "fp16": job.dtype == torch.float16,
        "learning_rate": job.lr,
        "max_grad_norm": job.optimizer.grad_clip,
        "max_steps": job.max_steps * updates_per_step,
        "gradient_accumulation_steps": backward_passes,
        "gradient_checkpointing": False,
        "disable_dropout": True,
        "logging_strategy": "steps",
        "logging_steps": updates_per_step,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "dataloader_pin_memory": False,
    }


def tokenizer_for(job: TrainJob) -> Any:
    """The model's tokenizer with the end and pad tokens that TRL requires; the renderer knows what ends a turn."""
    tokenizer: Any = AutoTokenizer.from_pretrained(job.model)
    if tokenizer.eos_token_id is None:
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(min(job.renderer.stop_ids))
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer
