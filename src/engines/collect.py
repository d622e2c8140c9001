"""One batch of episodes: draw samples, let the policy talk, measure what came of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor

from ..agents.trajectory import Job, Trajectory
from ..core.api import Batch
from ..core.episode import Episode
from ..rollout.scheduler import rollout
from .clock import Clock
from .job import TrainJob


@dataclass(frozen=True)
class Collected:
    trajectories: Sequence[Trajectory]
    episodes: Sequence[Episode]
    """The same, with their rewards."""
    batch: Batch
    """Without what the frozen base says."""
    hidden_NH: Tensor | None = None
    """What the critic read before each token of the batch."""


def chance(seed: int, step: int, purpose: str) -> int:
    """A number that depends on nothing else: a resumed run throws the same dice without having kept them."""
    digest = hashlib.blake2b(f"{seed}/{step}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def collect(
    job: TrainJob, policy: Any, step: int, clock: Clock, critic: Callable[[Tensor], Tensor] | None = None
) -> Collected:
    """`batch_size` episodes, those of the same sample side by side."""
    size = job.strategy.group_size
    with clock.part("draw"):
        drawn = [each for each in job.sampler.draw(step, job.batch_size // size) for _ in range(size)]
    dice = torch.Generator(job.device).manual_seed(chance(job.seed, step, "rollout"))
    jobs = [
        Job(each.sample, each.level, chance(job.seed, step, f"episode {row}"), row // size)
        for row, each in enumerate(drawn)
    ]
    with clock.part("rollout"):
        trajectories = rollout(
            policy,
            job.renderer,
            jobs,
            job.talk,
            device=job.device,
            generator=dice,
            dtype=None if job.dtype == torch.float32 else job.dtype,
            keep_hidden=critic is not None,
        )
    with clock.part("reward"):
        judged = job.judge(step, [one.episode for one in trajectories]) if job.judge else {}
        episodes = [
            msgspec.structs.replace(
                one.episode,
                reward=job.reward(one.episode, each.sample, judged[row].scores if row in judged else None),
                live=row in judged,
            )
            for row, (one, each) in enumerate(zip(trajectories, drawn, strict=True))
        ]
    weights = [each.weight * (judged[row].weight if row in judged else 1.0) for row, each in enumerate(drawn)]
    batch = batch_of(trajectories, episodes, weights, size, job.device)
    if critic is None:
        return Collected(trajectories, episodes, batch)
    states = [one.hidden_NH for one in trajectories if one.hidden_NH is not None]
    if not states:
        return Collected(trajectories, episodes, batch)
    hidden_NH = torch.cat(states)
    with torch.no_grad():
        return Collected(trajectories, episodes, replace(batch, value_N=critic(hidden_NH)), hidden_NH)


def batch_of(
    trajectories: Sequence[Trajectory],
    episodes: Sequence[Episode],
    weights: Sequence[float],
    group_size: int,
    device: torch.device,
) -> Batch:
    said = [int(one.policy.sum()) for one in trajectories]
    logp = np.concatenate([one.logp[one.policy] for one in trajectories])
    rows = np.arange(len(episodes))
    return Batch(
        logp_N=torch.from_numpy(logp).to(device),
        episode_N=torch.from_numpy(np.repeat(rows, said)).to(device),
        reward_E=torch.tensor([sum(one.reward.values()) for one in episodes], device=device),
        group_E=torch.from_numpy(rows // group_size).to(device),
        weight_E=torch.tensor([*weights], dtype=torch.float32, device=device),
    )


def episode_figures(got: Collected) -> dict[str, float]:
    """What the batch was like. A figure over episodes that the batch has none of is left out."""
    episodes = got.episodes
    figures = {"reward": fmean(sum(one.reward.values()) for one in episodes)}
    for term in sorted({term for one in episodes for term in one.reward}):
        figures[f"reward/{term}"] = fmean(one.reward.get(term, 0.0) for one in episodes)
    if live := sum(one.live for one in episodes):
        figures["live_share"] = live / len(episodes)
    figures["success"] = fmean(one.success for one in episodes)
    figures["turns"] = fmean(one.policy_turns for one in episodes)
    figures["tokens"] = fmean(len(one.tokens) for one in got.trajectories)
    figures["policy_tokens"] = fmean(int(one.policy.sum()) for one in got.trajectories)
    figures["cut_share"] = fmean(one.end == "length" for one in episodes)
    if needed := [one.need_ask_success for one in episodes if one.needs_clarification]:
        figures["need_ask_success"] = fmean(needed)
    if complete := [one.asks > 0 for one in episodes if not one.needs_clarification]:
        figures["overclar_rate"] = fmean(complete)
    return figures
