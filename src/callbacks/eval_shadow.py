"""How the policy does on samples that it never trains on: before the first step, every so often, after the last."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol, runtime_checkable

import torch
from msgspec.structs import replace

from ..agents.trajectory import Job
from ..core.api import Engine, StepResult
from ..core.files import atomic_write
from ..core.jsonl import read_records, write_records
from ..core.paths import step_file
from ..core.types import Episode, Level, Sample
from ..engines.job import TrainJob
from ..rollout.scheduler import generate
from ..runtime.disk import explain_disk_errors
from ..runtime.logs import StepLog

HEADLINE = ("need_ask_success", "overclar_rate", "success", "avg_turns", "reward")

log = logging.getLogger(__name__)

Measure = Callable[[Sequence[Episode]], Mapping[str, float]]


@runtime_checkable
class HasPolicy(Protocol):
    """An engine whose model can be looked at while it trains."""

    @property
    def policy(self) -> Any: ...


class Play:
    """The policy on the same samples, in the same way, every time. Training's chance is not touched."""

    def __init__(self, job: TrainJob, samples: Sequence[Sample], levels: Sequence[Level], greedy: bool) -> None:
        self.job, self.greedy = job, greedy
        self.jobs = [
            Job(sample, level, job.seed, place)
            for place, (sample, level) in enumerate(zip(samples, levels, strict=True))
        ]

    def __call__(self, policy: Any) -> list[Episode]:
        job = self.job
        made = generate(
            policy,
            job.renderer,
            self.jobs,
            job.rollout,
            device=job.device,
            generator=torch.Generator(job.device).manual_seed(job.seed),
            greedy=self.greedy,
            dtype=job.dtype,
        )
        return [
            replace(one.episode, reward=job.reward(one.episode, each.sample))
            for one, each in zip(made, self.jobs, strict=True)
        ]


class EvalShadow:
    """Figures go into the step's own metrics as `eval/...` and into `logs/eval.jsonl`, episodes into `logs/eval/`.

    It stands first: what it adds to a step is then logged, drawn and saved with the step.
    """

    def __init__(
        self,
        seed: int,
        steps: int,
        every_steps: int,
        play: Play,
        measure: Measure,
        figures: StepLog,
        folder: Path,
        base: bool = True,
    ) -> None:
        """`base`: look at the start too."""
        self.seed, self.steps, self.every_steps = seed, steps, every_steps
        self.play, self.measure, self.figures, self.folder, self.base = play, measure, figures, folder, base

    def on_start(self, engine: Engine) -> None:
        self.figures.cut(self.seed, engine.step)
        if self.base and engine.step == 0 and not (self.figures.lines(self.seed) and self._file(0).exists()):
            self.figures.cut(self.seed, -1)
            self._look(engine, 0)

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if result.step % self.every_steps == 0 or result.step == self.steps:
            found = self._look(engine, result.step)
            result.metrics.update({f"eval/{name}": value for name, value in found.items()})

    def on_end(self, engine: Engine) -> None:
        pass

    def episodes(self, step: int) -> list[Episode] | None:
        """What the policy did after that step; None where nobody looked."""
        file = self._file(step)
        return list(read_records(file, Episode)) if file.exists() else None

    def make_up(self, policy: Any, step: int) -> list[Episode]:
        """As `episodes`; where those were lost, or made with other settings, the policy of that step plays again."""
        found = self.episodes(step)
        if found is None:
            log.info("the evaluation after step %d is not there; it is made again", step)
            found = self._played(policy, step)
        return found

    def _played(self, policy: Any, step: int) -> list[Episode]:
        episodes = self.play(policy)
        with explain_disk_errors(self._file(step)), atomic_write(self._file(step)) as file:
            write_records(file, episodes)
        return episodes

    def _look(self, engine: Engine, step: int) -> Mapping[str, float]:
        if not isinstance(engine, HasPolicy):
            log.warning("%s does not show its policy, so it is not evaluated", type(engine).__name__)
            return {}
        episodes = self._played(engine.policy, step)
        found = {**self.measure(episodes), "reward": fmean(sum(one.reward.values()) for one in episodes)}
        self.figures.append(self.seed, step, found)
        shown = " ".join(f"{name} {found[name]:.3f}" for name in HEADLINE if name in found)
        log.info("evaluated after step %d on %d held-out samples: %s", step, len(episodes), shown)
        return found

    def _file(self, step: int) -> Path:
        return step_file(self.folder, step)
