"""Makes the engine of a seed. Under torchrun every rank has one, and the others repeat what rank 0 announces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..config.loader import naming_keys
from ..core.api import Engine
from ..data.pool.meta import read_meta
from ..engines.distributed import END, leave, ranks
from ..engines.job import DemoLoss, LiveJudge, TrainJob, WarmStart
from ..engines.sft import SftPlan
from ..reward.configured import make_reward
from ..runtime.device import prepare_device
from . import resume as resumption
from .components import make_strategy, unstable_weights
from .preflight import Ready, preflight
from .sampler import open_sampler
from .sft_control import demonstrations, tokens_seen


def make_engine(
    ready: Ready,
    seed: int,
    targets: tuple[str, ...],
    judge: LiveJudge | None = None,
    last_good: Callable[[int], Path | None] = lambda before: None,
) -> tuple[Engine, TrainJob]:
    """The engine of a seed, and its job. Ranks other than 0 have no judge and no checkpoints."""
    config = ready.config
    with naming_keys(ready.path, config):
        weights, warm, demo_loss = unstable_weights(config), config.warm_start, config.demo_loss
        limits, optimizer = config.rollout_limits(read_meta(config.seed_pool).tools), config.optimizer
        if ready.forecast:
            memory = ready.forecast.memory
            limits = limits.model_copy(update={"slots": memory.slots})
            optimizer = optimizer.model_copy(update={"pack_tokens": memory.pack_tokens})
        demos = partial(demonstrations, config.seed_pool, ready.renderer, limits)
        warm_start = None
        if warm:
            warm_start = WarmStart(warm.steps, SftPlan(warm.tokens, warm.lr, warm.batch_tokens, seed), demos)
        job = TrainJob(
            model=ready.model,
            renderer=ready.renderer,
            strategy=make_strategy(config),
            sampler=open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed, weights=weights),
            reward=make_reward(config),
            seed=seed,
            max_steps=config.steps,
            batch_size=config.batch_size,
            device=ready.device,
            dtype=ready.dtype,
            lr=config.lr,
            rollout=limits,
            optimizer=optimizer,
            finetune=config.finetune,
            lora_targets=targets,
            kl_alert=config.kl_alert,
            judge=judge,
            warm_start=warm_start,
            demo_loss=DemoLoss(demo_loss.weight, demo_loss.batch_tokens, demos) if demo_loss else None,
            last_good=last_good,
        )
        prepare_device(ready.device)
        engine = ready.engine(job)
        if config.eval.control:
            tokens_seen(engine)
    return engine, job


def follow() -> None:
    """On ranks other than 0: repeats on an engine of its own what rank 0 announces, until the run is over."""
    logging.disable(logging.WARNING)  # rank 0 logs the same
    engine: Any = None
    ready: Ready | None = None
    while True:
        match ranks().announced():
            case "open", (path, admission, overrides, forecast):
                ready = replace(preflight(path, admission, overrides), forecast=forecast)
            case "make_engine", (seed, targets):
                assert ready is not None
                engine = None  # frees the engine of the seed before
                engine, _ = make_engine(ready, seed, targets)
                if ready.admission:  # another node may have other files
                    resumption.require_admitted_sources(resumption.source_hashes(ready), ready)
            case call, _ if call == END:
                return leave()
            case call, arguments:
                getattr(engine, call)(*arguments)
