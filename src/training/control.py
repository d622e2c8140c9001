"""The control beside a trained policy: what plain SFT on as many tokens makes of the same base.

Reinforcement that is no better than more demonstrations has shown nothing, so the two stand side by side.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import atomic_write, write_json
from ..core.jsonl import read_records, write_records
from .facts import same_key

if TYPE_CHECKING:
    from ..callbacks.eval_shadow import EvaluationRollout
    from ..core.types import Episode
    from ..engines.job import TrainJob
    from ..engines.sft import Demo

log = logging.getLogger(__name__)


@runtime_checkable
class CountsTokens(Protocol):
    """An engine that knows, over every resume, how many tokens its episodes had: user's and tools' words included."""

    @property
    def tokens_seen(self) -> int: ...


def tokens_seen(engine: object) -> int:
    if not isinstance(engine, CountsTokens):
        raise BadInput(
            f"{type(engine).__name__} does not tell how many tokens it has seen, so there is no fair control",
            where="eval.control",
            remedy="give the engine a property tokens_seen that its save and load keep, or set eval.control: false",
        )
    return engine.tokens_seen


def control(
    config: TrainConfig, job: TrainJob, play: EvaluationRollout, tokens: int, file: Path, key: Mapping[str, Any]
) -> list[Episode]:
    """Made once for a key and a number of tokens; a run that is resumed after its end reads it again."""
    from ..core.types import Episode

    made = {
        **key,
        "tokens": tokens,
        "lr": config.eval.control_lr,
        "batch_tokens": config.optimizer.pack_tokens,
        "finetune": config.finetune.model_dump(mode="json"),
    }
    said = file.with_suffix(".key.json")
    if file.exists() and same_key(said, made):
        return list(read_records(file, Episode))
    said.unlink(missing_ok=True)
    from ..engines.models import load_policy
    from ..engines.sft import SftPlan, fine_tune

    log.info("control: the base learns from demonstrations, %d tokens of them", tokens)
    policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
    plan = SftPlan(tokens=tokens, lr=config.eval.control_lr, batch_tokens=config.optimizer.pack_tokens, seed=job.seed)
    fine_tune(policy, list(_demonstrations(config, job)), plan)
    episodes = play(policy)
    with atomic_write(file) as handle:
        write_records(handle, episodes)
    write_json(said, made)
    return episodes


def _demonstrations(config: TrainConfig, job: TrainJob) -> Iterator[Demo]:
    import numpy as np

    from ..agents.env import Env
    from ..core.types import Sample
    from ..data.collate import demo_tokens
    from ..engines.sft import Demo

    for sample in read_records(config.seed_pool, Sample):
        system = Env(sample, job.rollout.max_turns, job.rollout.tools).system()
        tokens, policy = demo_tokens(sample, job.renderer, thoughts=job.renderer.closes, system=system)
        if len(tokens) <= job.rollout.max_tokens:
            yield Demo(np.array(tokens, np.int32), np.array(policy, np.bool_))
