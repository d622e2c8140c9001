"""The control beside a trained policy: what plain SFT on as many tokens makes of the same base.

Reinforcement that is no better than more demonstrations has shown nothing, so the two stand side by side.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.train import TrainConfig
from ..core.files import atomic_write
from ..core.jsonl import read_records, write_records

if TYPE_CHECKING:
    from ..callbacks.eval_shadow import Play
    from ..core.episode import Episode
    from ..engines.job import TrainJob
    from ..engines.sft import Demo
    from ..runtime.steplog import StepLog

log = logging.getLogger(__name__)


def tokens_seen(metrics: StepLog, seed: int, batch_size: int) -> int:
    """Of all episodes of a seed, the words of user and tools included."""
    return int(sum(line["tokens"] * batch_size for line in metrics.lines(seed)))


def control(config: TrainConfig, job: TrainJob, play: Play, tokens: int, file: Path) -> list[Episode]:
    """Made once; a run that is resumed after its end reads it again."""
    from ..core.episode import Episode

    if file.exists():
        return list(read_records(file, Episode))
    from ..engines.models import load_policy
    from ..engines.sft import SftPlan, fine_tune

    log.info("control: the base learns from demonstrations, %d tokens of them", tokens)
    policy = load_policy(job.model, job.finetune, job.device, job.dtype)
    plan = SftPlan(tokens=tokens, lr=config.eval.control_lr, batch_tokens=config.optimizer.pack_tokens, seed=job.seed)
    fine_tune(policy, list(_demonstrations(config, job)), plan)
    episodes = play(policy)
    with atomic_write(file) as handle:
        write_records(handle, episodes)
    return episodes


def _demonstrations(config: TrainConfig, job: TrainJob) -> Iterator[Demo]:
    import numpy as np

    from ..agents.env import Env
    from ..core.types import Sample
    from ..data.collate.demos import demo_tokens
    from ..engines.sft import Demo

    for sample in read_records(config.seed_pool, Sample):
        system = Env(sample, job.talk.max_turns, job.talk.tools).system()
        tokens, policy = demo_tokens(sample, job.renderer, thoughts=job.renderer.closes, system=system)
        if len(tokens) <= job.talk.max_tokens:
            yield Demo(np.array(tokens, np.int32), np.array(policy, np.bool_))
