"""What a run leaves to read: a line of figures a step, every episode with its reward by term, a word in the log."""

from __future__ import annotations

import logging
from pathlib import Path
from statistics import fmean

from ..core.api import Engine, StepResult
from ..core.files import atomic_write
from ..core.jsonl import write_records
from ..core.paths import step_file
from ..runtime.disk import explain_disk_errors
from ..runtime.logs import StepLog

log = logging.getLogger(__name__)


class Logging:
    """`logs/metrics.jsonl`, `logs/episodes/step_00042.jsonl`, and `step 42/100 ...` in `logs/train.log`.

    It stands before the checkpoint callback: a checkpoint of a step must not know more than its logs. What was logged
    after the step that a run resumes from is taken out, since it happens again.
    """

    def __init__(self, seed: int, steps: int, metrics: StepLog, episodes: Path) -> None:
        self.seed, self.steps, self.metrics, self.episodes = seed, steps, metrics, episodes

    def on_start(self, engine: Engine) -> None:
        self.metrics.cut(self.seed, engine.step)
        for file in self.episodes.glob("step_*.jsonl"):
            if int(file.stem.removeprefix("step_")) > engine.step:
                file.unlink()

    def on_step(self, engine: Engine, result: StepResult) -> None:
        path = step_file(self.episodes, result.step)
        with explain_disk_errors(path), atomic_write(path) as file:
            write_records(file, result.episodes)
        self.metrics.append(self.seed, result.step, result.metrics)
        shown = headline(result)
        log.info("step %d/%d %s", result.step, self.steps, " ".join(f"{name} {shown[name]:.4f}" for name in shown))

    def on_end(self, engine: Engine) -> None:
        log.info("seed %d: %d steps done", self.seed, engine.step)


def headline(result: StepResult) -> dict[str, float]:
    """The few figures that tell how a step went."""
    episodes = result.episodes
    figures = {
        "reward": fmean(sum(episode.reward.values()) for episode in episodes) if episodes else 0.0,
        "success": fmean(episode.success for episode in episodes) if episodes else 0.0,
    }
    return figures | {name: result.metrics[name] for name in ("kl", "loss") if name in result.metrics}
