"""TRL's DPOTrainer on pairs of our own episodes. Imports TRL: import this file only where TRL is wanted.

TRL's trainer reads pairs from a dataset. Here each step makes its own: as GRPOTrainer does, the batch is made when the
trainer prepares its inputs. The log-probabilities of the frozen base come along with the pairs (TRL calls that
precomputed), so they are the same that the KL divergence is measured by.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from torch import Tensor
from trl.trainer.dpo_config import DPOConfig
from trl.trainer.dpo_trainer import DPOTrainer

from ..agents.trajectory import Trajectory
from ..core.errors import BadInput
from ..strategies.dpo import DPO, pairs_of
from ..strategies.flat import segment_sum
from .collect import Collected
from .job import TrainJob
from .models import frozen_base
from .packed import hidden, spoken, streams
from .trl_parts import common_arguments, tokenizer_for

Collect = Callable[[], Collected]
SHARE = "share"
"""How much of an update a pair makes up; travels with its tokens."""


class Pairs(DPOTrainer):
    """One pair at a time, because TRL's loss is a plain mean and pairs have weights.

    A step has as many places as it has groups; a group of equal rewards makes no pair and leaves its place empty.
    """

    def __init__(self, job: TrainJob, strategy: DPO, policy: Any, collect: Collect, scratch: str, **more: Any) -> None:
        if job.talk.temperature != 1:
            raise BadInput(
                f"episodes are sampled at temperature {job.talk.temperature}, TRL's DPO scores them at 1",
                where="rollout.temperature",
                remedy="set it to 1.0, or set engine: pure_pt",
            )
        self.job, self.strategy, self.collect = job, strategy, collect
        groups = job.batch_size // strategy.group_size
        self.minibatches = min(job.update.minibatches, groups)
        self.places = -(-groups // self.minibatches)
        self.updates_a_step = job.update.epochs * self.minibatches
        self.frozen = frozen_base(policy, job.dtype)
        self.waiting: deque[dict[str, Any]] = deque()
        super().__init__(
            model=policy,
            args=DPOConfig(
                **common_arguments(job, self.minibatches, self.places, scratch),
                per_device_train_batch_size=1,
                beta=strategy.beta,
                loss_type=["sigmoid"],
                max_length=None,
                precompute_ref_log_probs=True,
            ),
            # What is drawn comes from our sampler: TRL only needs rows to count.
            train_dataset=Dataset.from_dict({"prompt": [""] * (self.updates_a_step * self.places)}),
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
            self.waiting.extend(self._dealt())
        return super()._prepare_inputs(self.waiting.popleft())

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        share = inputs.pop(SHARE)
        if not inputs:
            return 0.0 * next(weight for weight in model.parameters() if weight.requires_grad).sum()
        theirs: Any = super().compute_loss
        return share * theirs(model, inputs, return_outputs, num_items_in_batch)

    def after_step(self) -> None:
        """Nothing adapts."""

    def _dealt(self) -> Iterator[dict[str, Any]]:
        """A batch of episodes as the pairs of all updates that it leads to. An empty place has a share of 0."""
        job, got = self.job, self.collect()
        batch = replace(got.batch, ref_logp_N=self._reference(got))
        self.strategy.targets(batch)
        assert batch.ref_logp_N is not None
        ref_logp_E = segment_sum(batch.ref_logp_N, batch.episode_N, job.batch_size)
        better, worse = (rows.tolist() for rows in pairs_of(batch.reward_E, batch.group_E))
        pairs = [
            padded_pair(got.trajectories[b], got.trajectories[w])
            | {"ref_chosen_logps": ref_logp_E[b : b + 1], "ref_rejected_logps": ref_logp_E[w : w + 1]}
            for b, w in zip(better, worse, strict=True)
        ]
        weights = torch.minimum(batch.weight_E[better], batch.weight_E[worse]).tolist()
        for _ in range(job.update.epochs):
            order = torch.randperm(len(pairs)).numpy()
            for part in np.array_split(order, self.minibatches):
                # TRL divides by the number of places; the update is the mean over the pairs.
                for row in part.tolist():
                    yield {**pairs[row], SHARE: weights[row] * self.places / len(part)}
                yield from ({SHARE: 0.0} for _ in range(self.places - len(part)))

    @torch.no_grad()
    def _reference(self, got: Collected) -> Tensor:
        with self.accelerator.autocast(), self.frozen() as base:
            packs = streams(got.trajectories, self.job.update.pack_tokens, self.job.device)
            return torch.cat([spoken(base, hidden(base, one), one.said_N, 1.0)[0] for one in packs])


def padded_pair(better: Trajectory, worse: Trajectory) -> dict[str, Tensor]:
    """Two rows, the better one first, filled up to the longer; the completion is what the policy said and no more."""
    longest = max(len(better.tokens), len(worse.tokens))
    shape = (2, longest)
    made = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "attention_mask", "completion_mask")}
    for row, one in enumerate((better, worse)):
        length = len(one.tokens)
        made["input_ids"][row, :length] = torch.from_numpy(one.tokens.astype(np.int64))
        made["attention_mask"][row, :length] = 1
        made["completion_mask"][row, :length] = torch.from_numpy(one.policy.astype(np.int64))
    return made
