"""The episodes of a training step: draw samples, roll out, reward, and concatenate all policy tokens into a `Batch`.

All engines collect their batches here. All randomness comes from the seed and the step number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode

from ..agents.render import Renderer
from ..agents.trajectory import Job, Trajectory
from ..core.api import Batch, TokenTrace
from ..core.errors import BadInput
from ..rollout.scheduler import generate
from ..scoring.llm_user import open_user
from .base import CollectedEpisodes, StepTimer
from .distributed import SINGLE_PROCESS, Ranks
from .job import TrainJob
from .models import Critic, Frozen
from .packed import hidden_before, pack, score_tokens

TRACED_EPISODES = 4
"""Number of episodes per step whose tokens the board shows; in grouped strategies they are of the same sample."""
MAX_TRACED_TOKENS = 4096
"""Maximum number of traced policy tokens per episode."""
TRACE_DIGITS = 4
"""Decimal places of traced values."""


def collect(
    job: TrainJob, policy: Any, step: int, timer: StepTimer, critic: Critic | None = None, ranks: Ranks = SINGLE_PROCESS
) -> CollectedEpisodes:
    """Samples prompts, rolls out `batch_size` episodes and rewards them. Episodes of a sample are adjacent rows.

    With several ranks, each rolls out its share of the rows and receives the others. Hidden states are not exchanged.
    """
    group_size = job.strategy.group_size
    with timer.part("draw"):
        prompts = [drawn for drawn in job.sampler.draw(step, job.batch_size // group_size) for _ in range(group_size)]
    generator = torch.Generator(job.device).manual_seed(derive_seed(job.seed, step, "rollout"))
    jobs = [
        Job(prompt.sample, prompt.level, derive_seed(job.seed, step, f"episode {row}"))
        for row, prompt in enumerate(prompts)
    ]
    with timer.part("rollout"):
        local = generate(
            policy,
            job.renderer,
            jobs,
            job.rollout,
            device=job.device,
            generator=generator,
            dtype=None if job.dtype == torch.float32 else job.dtype,
            keep_hidden=critic is not None,
            only=ranks.local(range(len(jobs))),
            user=open_user(job.rollout.user),
            batch_invariant=True,
        )
    with timer.part("gather"):
        # Without hidden states: those are not exchanged, and would take memory during the update.
        trajectories = ranks.gather([replace(trajectory, hidden_NH=None) for trajectory in local])
    with timer.part("reward"):
        unrewarded = [trajectory.episode for trajectory in trajectories]
        judged = ranks.on_rank_0(lambda: job.judge(step, unrewarded) if job.judge else {})
        episodes = [
            msgspec.structs.replace(
                episode,
                reward=job.reward(episode, prompt.sample, judged[row].scores if row in judged else None),
                live=row in judged,
            )
            for row, (episode, prompt) in enumerate(zip(unrewarded, prompts, strict=True))
        ]
    weights = [prompt.weight * (judged[row].weight if row in judged else 1.0) for row, prompt in enumerate(prompts)]
    batch = make_batch(trajectories, episodes, weights, group_size, job.device)
    if isinstance(job.reward, TrainingReward):  # any other reward arrives with the last token
        early = early_rewards(trajectories, [job.reward.by_turn(episode) for episode in episodes])
        batch = replace(batch, early_N=torch.from_numpy(early).to(job.device))
    if not batch.logp_N.numel():
        raise BadInput(
            "no episode has room for a policy token", where="rollout.max_tokens", remedy="raise rollout.max_tokens"
        )
    if critic is None:
        return CollectedEpisodes(trajectories, episodes, batch)
    hidden_NH = rollout_hidden(policy, local, job)
    with torch.no_grad():
        value_N = ranks.gather_tokens(critic(hidden_NH), batch.episode_N)
    return CollectedEpisodes(trajectories, episodes, replace(batch, value_N=value_N), hidden_NH)


@torch.no_grad()
def rollout_hidden(policy: Any, trajectories: Sequence[Trajectory], job: TrainJob) -> Tensor:
    """The hidden state before each policy token: kept by the rollout, or computed here if vLLM rolled out."""
    if job.rollout.backend != "vllm":
        hidden = [trajectory.hidden_NH for trajectory in trajectories if trajectory.hidden_NH is not None]
        # A rank may have no episode with a policy token.
        return torch.cat(hidden or [torch.zeros(0, policy.config.hidden_size, device=job.device)])
    autocast_dtype = job.dtype if job.dtype != torch.float32 else None
    with torch.autocast(job.device.type, autocast_dtype, enabled=autocast_dtype is not None):
        streams = pack(trajectories, job.optimizer.pack_tokens, job.device)
        return torch.cat([hidden_before(policy, stream) for stream in streams])


def make_batch(
    trajectories: Sequence[Trajectory],
    episodes: Sequence[Episode],
    weights: Sequence[float],
    group_size: int,
    device: torch.device,
) -> Batch:
    """The policy tokens of all episodes, concatenated, as strategies expect them."""
    counts = [int(trajectory.policy.sum()) for trajectory in trajectories]
    logp = np.concatenate([trajectory.logp[trajectory.policy] for trajectory in trajectories])
    rows = np.arange(len(episodes))
    return Batch(
        logp_N=torch.from_numpy(logp).to(device),
        episode_N=torch.from_numpy(np.repeat(rows, counts)).to(device),
        reward_E=torch.tensor([sum(episode.reward.values()) for episode in episodes], device=device),
        group_E=torch.from_numpy(rows // group_size).to(device),
        weight_E=torch.tensor([*weights], dtype=torch.float32, device=device),
        turn_N=torch.from_numpy(_turn_numbers(trajectories)).to(device),
    )


def _turn_numbers(trajectories: Sequence[Trajectory]) -> NDArray[np.int64]:
    """Number of the turn of each policy token. A turn is a run of policy tokens without a reply between them."""
    masks = [trajectory.policy for trajectory in trajectories]
    starts = [np.diff(mask.astype(np.int8), prepend=0) == 1 for mask in masks]
    return np.cumsum(np.concatenate([start[mask] for start, mask in zip(starts, masks, strict=True)]))


def early_rewards(trajectories: Sequence[Trajectory], turn_rewards: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    """The reward of each turn on the last policy token of the turn; 0 on all other tokens.

    An episode whose turns cannot be told apart, because a thought was closed in the middle of one, has 0 everywhere:
    all of its reward arrives with its last token.
    """
    early = []
    for trajectory, rewards in zip(trajectories, turn_rewards, strict=True):
        mask = trajectory.policy
        ends = np.flatnonzero((np.diff(mask.astype(np.int8), append=0) == -1)[mask])
        token_rewards = np.zeros(int(mask.sum()), dtype=np.float32)
        if len(ends) == len(rewards):
            token_rewards[ends] = rewards
        early.append(token_rewards)
    return np.concatenate(early)


@torch.no_grad()
def reference_logprobs(frozen: Frozen, trajectories: Sequence[Trajectory], job: TrainJob) -> Tensor:
    """Log-probabilities of all policy tokens under the reference (`frozen`)."""
    temperature = job.rollout.temperature
    with frozen() as reference:
        scored = [
            score_tokens(reference, hidden_before(reference, x), x.label_N, temperature, "none", x.shared)
            for x in pack(trajectories, job.optimizer.pack_tokens, job.device)
        ]
    return torch.cat([logp_N for logp_N, _ in scored])


def episode_metrics(collected: CollectedEpisodes) -> dict[str, float]:
    """Means over the episodes of a batch. A metric about a kind of episode that the batch lacks is left out."""
    episodes, trajectories = collected.episodes, collected.trajectories
    metrics = {"reward": fmean(sum(one.reward.values()) for one in episodes)}
    for term in sorted({term for one in episodes for term in one.reward}):
        metrics[f"reward/{term}"] = fmean(one.reward.get(term, 0.0) for one in episodes)
    if live := sum(one.live for one in episodes):
        metrics["live_share"] = live / len(episodes)
    metrics["success"] = fmean(one.success for one in episodes)
    metrics["turns"] = fmean(one.policy_turns for one in episodes)
    metrics["tokens"] = fmean(len(one.tokens) for one in trajectories)
    metrics["policy_tokens"] = fmean(int(one.policy.sum()) for one in trajectories)
    turns = max(1, sum(one.policy_turns for one in episodes))
    metrics["cut_turn_share"] = sum(one.cut_turns for one in trajectories) / turns
    metrics["cut_thought_share"] = sum(one.cut_thoughts for one in trajectories) / turns
    if needed := [one.need_ask_success for one in episodes if one.needs_clarification]:
        metrics["need_ask_success"] = fmean(needed)
    if complete := [one.asks > 0 for one in episodes if not one.needs_clarification]:
        metrics["overclar_rate"] = fmean(complete)
    return metrics


def token_traces(trajectories: Sequence[Trajectory], batch: Batch, renderer: Renderer) -> list[TokenTrace]:
    """Log-probability, KL and value of each policy token of the first episodes, for the token view of the board.

    A few kilobytes per step, and no extra pass through the model, because the update needs the same values.
    """
    traces = []
    for line, trajectory in enumerate(trajectories[:TRACED_EPISODES]):
        rows = (batch.episode_N == line).nonzero()[:MAX_TRACED_TOKENS, 0]
        if not len(rows):
            continue
        turns = batch.turn_N[rows] if batch.turn_N is not None else torch.zeros_like(rows)
        ids = trajectory.tokens[trajectory.policy][: len(rows)].tolist()
        traces.append(
            TokenTrace(
                line=line,
                turns=(turns - turns[0]).tolist(),
                text=renderer.tokenizer.batch_decode([[token] for token in ids], clean_up_tokenization_spaces=False),
                logp=_rounded(batch.logp_N[rows]),
                kl=[] if batch.ref_logp_N is None else _rounded(batch.logp_N[rows] - batch.ref_logp_N[rows]),
                value=[] if batch.value_N is None else _rounded(batch.value_N[rows]),
            )
        )
    return traces


def _rounded(values_N: Tensor) -> list[float]:
    return [round(value, TRACE_DIGITS) for value in values_N.float().tolist()]


def derive_seed(seed: int, step: int, purpose: str) -> int:
    """A seed derived from run seed, step and purpose alone: a resumed run gets the same without having saved it."""
    digest = hashlib.blake2b(f"{seed}/{step}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
