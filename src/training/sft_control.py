"""Demonstrations of a pool as tokens, and the controls of a run: the same base after plain SFT on as many tokens as the
run read, or on as many as SFT reads in the time of the run; evaluated like the trained policy.

RL has to be better than SFT on more demonstrations to be worth its cost.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from askgate_env.env import Env
from askgate_env.types import Sample

from ..agents.render import Renderer
from ..callbacks.eval_shadow import EvaluationRollout
from ..checkpoint.store import CheckpointStore
from ..config.train_config import RolloutLimits, TrainConfig
from ..core.errors import BadInput
from ..core.files import atomic_write, write_json
from ..core.jsonl import read_records, write_records
from ..data.collate import demo_segments
from ..engines.job import TrainJob
from ..engines.models import load_policy, save_policy
from ..engines.sft import Demo, SftPlan, fine_tune
from .resume import CONTROL_KEY, has_key

log = logging.getLogger(__name__)


def tokens_seen(engine: object) -> int:
    """Number of tokens that an engine has read, across resumes: demonstrations of the warm start and episodes, with the
    tokens of user and tools. Refuses an engine that does not count them."""
    tokens: int | None = getattr(engine, "tokens_seen", None)
    if tokens is None:
        raise BadInput(
            f"{type(engine).__name__} does not count the tokens it has seen, so there is no fair control",
            where="eval.control",
            remedy="give the engine a property tokens_seen that its save and load keep, or set eval.control: false",
        )
    return tokens


def control(
    config: TrainConfig,
    job: TrainJob,
    rollout: EvaluationRollout,
    tokens: int,
    file: Path,
    key: Mapping[str, Any],
    store: CheckpointStore,
) -> None:
    """Trains a control and writes its held-out episodes and its model, unless `file` was made with the same `key`."""
    key_file = file.with_suffix(CONTROL_KEY)
    if file.exists() and has_key(key_file, key):
        return
    key_file.unlink(missing_ok=True)
    log.info("control: SFT of the base on %d tokens of demonstrations", tokens)
    policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
    settings = config.eval
    plan = SftPlan(tokens, settings.control_lr, settings.control_batch_tokens, job.seed)
    fine_tune(policy, demonstrations(config.seed_pool, job.renderer, job.rollout), plan)
    store.final(config.steps, partial(save_policy, policy, job.model), key, file.stem)
    with atomic_write(file) as handle:
        write_records(handle, rollout(policy))
    write_json(key_file, key)


def demonstrations(pool: Path, renderer: Renderer, limits: RolloutLimits) -> list[Demo]:
    """The demonstrations of a pool that fit into an episode, as tokens."""
    demos: list[Demo] = []
    for sample in read_records(pool, Sample):
        system = Env(sample, limits.max_turns, limits.tools).system()
        parts = demo_segments(sample, renderer, renderer.closes, system, drop=limits.thoughts == "drop")
        if all(len(tokens) <= limits.max_tokens for tokens, _ in parts):
            demos += [Demo(np.array(tokens, np.int32), np.array(policy, np.bool_)) for tokens, policy in parts]
    if not demos:
        raise BadInput(
            f"no demonstration of {pool} fits into {limits.max_tokens} tokens",
            where="rollout.max_tokens",
            remedy="raise rollout.max_tokens",
        )
    return demos
