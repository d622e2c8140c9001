"""TRL's GRPOTrainer on our episodes. Imports TRL: import this file only where TRL is wanted.

TRL asks a function of ours for a batch of episodes (`rollout_func`): prompt, completion, and which tokens of the
completion the policy said (`env_mask`). The loss, the clipping, the KL term and the updates are TRL's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from ..agents.trajectory import Trajectory
from ..core.errors import BadInput
from ..strategies.grpo import GRPO
from .collect import Collected
from .job import TrainJob
from .trl_parts import common_arguments, tokenizer_for

Collect = Callable[[], Collected]


class Groups(GRPOTrainer):
    """One generation of TRL is one step of ours."""

    def __init__(self, job: TrainJob, strategy: GRPO, policy: Any, collect: Collect, scratch: str, **more: Any) -> None:
        self.strategy, self.collect = strategy, collect
        self.updates_a_step = job.update.epochs * job.update.minibatches
        tokenizer = tokenizer_for(job)
        self.filler = int(tokenizer.pad_token_id)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*'rollout_func'.*experimental", UserWarning)
            super().__init__(
                model=policy,
                reward_funcs=[episode_reward],
                args=_arguments(job, strategy, scratch),
                # What is drawn comes from our sampler: TRL only needs rows to count.
                train_dataset=Dataset.from_dict({"prompt": [""] * (job.batch_size // strategy.group_size)}),
                processing_class=tokenizer,
                rollout_func=lambda prompts, trainer: self._episodes(),
                **more,
            )

    def _episodes(self) -> dict[str, list[Any]]:
        self.got = self.collect()
        rows = [split(one, self.filler) for one in self.got.trajectories]
        return {
            "prompt_ids": [row[0] for row in rows],
            "completion_ids": [row[1] for row in rows],
            "env_mask": [row[2] for row in rows],
            "logprobs": [row[3] for row in rows],
            "reward": self.got.batch.reward_E.tolist(),
        }

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        """TRL's, with what it does not know: the weight of an episode, and that equal rewards teach nothing.

        A weight scales the advantage; TRL has no way to scale the KL term with it.
        """
        made = super()._generate_and_score_completions(inputs)
        said = (made["completion_mask"] * made["tool_mask"]).bool()
        batch = replace(self.got.batch, ref_logp_N=made["ref_per_token_logps"][said])
        targets = self.strategy.targets(batch)
        made["advantages"] = made["advantages"] * batch.weight_E
        made["tool_mask"] = torch.zeros_like(made["tool_mask"])
        made["tool_mask"][said] = targets["teaches_N"].to(made["tool_mask"].dtype)
        return made

    def after_step(self) -> None:
        """The weight of the KL term is the strategy's to adapt."""
        self.beta = self.strategy.kl_coef


def episode_reward(reward: list[float | None], **_: Any) -> list[float | None]:
    """The reward was measured when the episode was made."""
    return reward


def split(one: Trajectory, filler: int) -> tuple[list[int], list[int], list[int], list[float]]:
    """Prompt, completion, whether the policy said it, and how likely it was: up to its last word.

    Where the policy had no room for a word, the completion is one token that nobody said: TRL wants some.
    """
    said = np.flatnonzero(one.policy)
    if not len(said):
        return one.tokens.tolist(), [filler], [0], [0.0]
    first, last = int(said[0]), int(said[-1]) + 1
    return (
        one.tokens[:first].tolist(),
        one.tokens[first:last].tolist(),
        one.policy[first:last].astype(int).tolist(),
        one.logp[first:last].tolist(),
    )


def _arguments(job: TrainJob, strategy: GRPO, scratch: str) -> GRPOConfig:
    if strategy.kl_coef <= 0:
        raise BadInput(
            "without a KL term TRL keeps no reference, and nothing tells how far the policy has gone",
            where="kl_coef",
            remedy="give a number above 0, or set engine: pure_pt",
        )
    part, rest = divmod(job.batch_size, job.update.minibatches)
    if rest:
        raise BadInput(
            f"{job.batch_size} episodes do not make {job.update.minibatches} equal minibatches",
            where="optimizer.minibatches",
            remedy="give a divisor of batch_size, or set engine: pure_pt",
        )
    # TRL fills episodes up to the longest: as many at once as surely fit.
    fits = max(1, job.update.pack_tokens // job.talk.max_tokens)
    at_once = max(size for size in range(1, part + 1) if part % size == 0 and size <= fits)
    return GRPOConfig(
        **common_arguments(job, job.update.minibatches, part // at_once, scratch),
        per_device_train_batch_size=at_once,
        steps_per_generation=job.batch_size // at_once,
        num_generations=strategy.group_size,
        num_iterations=job.update.epochs,
        max_completion_length=job.talk.max_tokens,
        temperature=job.talk.temperature,
        loss_type="dapo",
        scale_rewards="group" if strategy.divide_by_std else "none",
        epsilon=strategy.clip,
        beta=strategy.kl_coef,
        entropy_coef=strategy.entropy_coef,
    )
