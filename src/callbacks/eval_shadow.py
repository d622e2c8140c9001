"""Evaluation on held-out samples: before the first step (baseline), after the warm start, every so many steps, and
after the last."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from msgspec.structs import replace

from askgate_env.types import Episode, Level, Sample

from ..agents.trajectory import Job
from ..config.train_config import UserKind
from ..core.api import Callback, Engine, StepResult
from ..core.files import atomic_write
from ..core.jsonl import write_records
from ..core.paths import step_file
from ..engines.job import TrainJob
from ..eval.metrics import mean_reward
from ..rollout.scheduler import generate
from ..runtime.disk import explain_disk_errors
from ..runtime.logs import StepLog
from ..scoring.llm_user import open_user

HEADLINE = ("need_ask_success", "overclar_rate", "success", "avg_turns", "reward")

log = logging.getLogger(__name__)


@runtime_checkable
class HasPolicy(Protocol):
    """An engine whose model can be evaluated while it trains."""

    @property
    def policy(self) -> Any: ...


class EvaluationRollout:
    """Rolls a policy out on the held-out samples, each time with the same seed, and without touching the random state
    of training."""

    def __init__(
        self,
        job: TrainJob,
        samples: Sequence[Sample],
        levels: Sequence[Level],
        greedy: bool,
        user: UserKind | None = None,
    ) -> None:
        """`user` plays the user instead of the one in training."""
        self.job, self.greedy, self.user = job, greedy, open_user(user or job.rollout.user, job.seed)
        self.jobs = [Job(sample, level, job.seed) for sample, level in zip(samples, levels, strict=True)]

    def __call__(self, policy: Any) -> list[Episode]:
        job = self.job
        trajectories = generate(
            policy,
            job.renderer,
            self.jobs,
            job.rollout,
            device=job.device,
            generator=torch.Generator(job.device).manual_seed(job.seed),
            greedy=self.greedy,
            dtype=job.dtype,
            user=self.user,
        )
        return [
            replace(one.episode, reward=job.reward(one.episode, each.sample))
            for one, each in zip(trajectories, self.jobs, strict=True)
        ]


@dataclass
class EvalShadow(Callback):
    """Evaluates the policy. Writes metrics to `logs/eval.jsonl` and episodes to `logs/eval/`, and adds the metrics to
    those of the step as `eval/...`.

    It comes first, so that its metrics are logged, plotted and saved with the step.
    """

    seed: int
    steps: int
    every_steps: int
    rollout: Callable[[Any], list[Episode]]
    measure: Callable[[Sequence[Episode]], Mapping[str, float]]
    metrics: StepLog
    folder: Path
    base: bool = True
    """Whether to evaluate the base model too, before the first step."""
    warm_steps: int = 0
    """Steps of the warm start, after which there is an evaluation too; 0: no warm start."""

    def on_start(self, engine: Engine) -> None:
        self.metrics.cut(self.seed, engine.step)
        if self.base and engine.step == 0 and not (self.metrics.lines(self.seed) and self.has_episodes(0)):
            self.metrics.cut(self.seed, -1)
            self._evaluate(engine, 0)

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if result.step % self.every_steps == 0 or result.step in (self.warm_steps, self.steps):
            metrics = self._evaluate(engine, result.step)
            result.metrics.update({f"eval/{name}": value for name, value in metrics.items()})

    def has_episodes(self, step: int) -> bool:
        return self._file(step).exists()

    def require_episodes(self, policy: Any, step: int) -> None:
        """Evaluates the policy of a step again if its episodes are lost, or were made with other settings."""
        if not self.has_episodes(step):
            log.info("no evaluation found after step %d; it is made again", step)
            self._roll_out(policy, step)

    def _roll_out(self, policy: Any, step: int) -> list[Episode]:
        episodes = self.rollout(policy)
        with explain_disk_errors(self._file(step)), atomic_write(self._file(step)) as file:
            write_records(file, episodes)
        return episodes

    def _evaluate(self, engine: Engine, step: int) -> Mapping[str, float]:
        if not isinstance(engine, HasPolicy):
            log.warning("%s does not expose its policy, so it is not evaluated", type(engine).__name__)
            return {}
        episodes = self._roll_out(engine.policy, step)
        metrics = {**self.measure(episodes), "reward": mean_reward(episodes)}
        self.metrics.append(self.seed, step, metrics)
        shown = " ".join(f"{name} {metrics[name]:.3f}" for name in HEADLINE if name in metrics)
        log.info("evaluated after step %d on %d held-out samples: %s", step, len(episodes), shown)
        if step == 0 and not any(one.success or one.task == "detect" for one in episodes):
            log.warning(
                "the base solves 0 of %d held-out samples; RL has nothing to learn from: choose a stronger model "
                "(Ctrl-C stops)",
                len(episodes),
            )
        return metrics

    def _file(self, step: int) -> Path:
        return step_file(self.folder, step)
