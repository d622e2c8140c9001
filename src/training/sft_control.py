"""The control of a run: the same base after plain SFT on as many tokens, evaluated like the trained policy.

Reinforcement learning that is no better than more demonstrations has shown nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.env import Env
from ..callbacks.eval_shadow import EvaluationRollout
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import atomic_write, write_json
from ..core.jsonl import read_records, write_records
from ..core.types import Sample
from ..data.collate import demo_tokens
from ..engines.job import TrainJob
from ..engines.models import load_policy
from ..engines.sft import Demo, SftPlan, fine_tune
from .resume import has_key

log = logging.getLogger(__name__)


def tokens_seen(engine: object) -> int:
    """Tokens of all episodes of an engine across resumes, those of user and tools included."""
    tokens: int | None = getattr(engine, "tokens_seen", None)
    if tokens is None:
        raise BadInput(
            f"{type(engine).__name__} does not count the tokens it has seen, so there is no fair control",
            where="eval.control",
            remedy="give the engine a property tokens_seen that its save and load keep, or set eval.control: false",
        )
    return tokens


def control(
    config: TrainConfig, job: TrainJob, rollout: EvaluationRollout, tokens: int, file: Path, key: Mapping[str, Any]
) -> None:
    """Writes the held-out episodes of the control, once for a key and a number of tokens."""
    made = {
        **key,
        "tokens": tokens,
        "lr": config.eval.control_lr,
        "batch_tokens": config.optimizer.pack_tokens,
        "finetune": config.finetune.model_dump(mode="json"),
    }
    key_file = file.with_suffix(".key.json")
    if file.exists() and has_key(key_file, made):
        return
    key_file.unlink(missing_ok=True)
    log.info("control: SFT of the base on %d tokens of demonstrations", tokens)
    policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
    plan = SftPlan(tokens=tokens, lr=config.eval.control_lr, batch_tokens=config.optimizer.pack_tokens, seed=job.seed)
    fine_tune(policy, list(_demonstrations(config, job)), plan)
    with atomic_write(file) as handle:
        write_records(handle, rollout(policy))
    write_json(key_file, made)


def _demonstrations(config: TrainConfig, job: TrainJob) -> Iterator[Demo]:
    for sample in read_records(config.seed_pool, Sample):
        system = Env(sample, job.rollout.max_turns, job.rollout.tools).system()
        tokens, policy = demo_tokens(sample, job.renderer, thoughts=job.renderer.closes, system=system)
        if len(tokens) <= job.rollout.max_tokens:
            yield Demo(np.array(tokens, np.int32), np.array(policy, np.bool_))
