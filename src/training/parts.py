"""From the names in a config to the parts of a run: engine, strategy, renderer, and the job that joins them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.user_class import load_user_class
from .reward import make_reward

if TYPE_CHECKING:
    import torch

    from ..agents.render import Renderer
    from ..core.api import Callback, Strategy
    from ..engines.job import LiveJudge, TrainJob
    from .sampler import Sampler


@contextmanager
def told_by(path: Path, config: TrainConfig) -> Iterator[None]:
    """A part that refuses names its setting; here the name becomes the path of the key in the file."""
    try:
        yield
    except BadInput as error:
        where = error.where
        if where in config.strategy_options:
            where = f"strategy_options.{where}"
        if where.split(".")[0] not in TrainConfig.model_fields:
            raise
        raise BadInput(error.what, where=f"{path}: {where}", remedy=error.remedy) from error


def make_strategy(config: TrainConfig) -> Strategy:
    """With `clip`, `kl_coef` and `target_kl` where it takes them, and all of `strategy_options`."""
    from ..engines.load import load_strategy, strategy_class

    takes = inspect.signature(strategy_class(config.strategy)).parameters
    headline = {"clip": config.clip, "kl_coef": config.kl_coef, "target_kl": config.target_kl}
    for name in headline:
        if name in config.strategy_options:
            what = f"{name} is a setting of its own"
            raise BadInput(what, where=f"strategy_options.{name}", remedy=f"set {name} at the top level")
    if {"kl_coef", "target_kl"} <= takes.keys() and config.kl_coef == 0 and config.target_kl is not None:
        raise BadInput(
            f"a weight of 0 never moves, so it cannot hold a target of {config.target_kl:g}",
            where="kl_coef",
            remedy="give a weight above 0 to begin with, or set target_kl: null",
        )
    options = {name: value for name, value in headline.items() if name in takes} | config.strategy_options
    return load_strategy(config.strategy, options)


def make_callbacks(config: TrainConfig) -> list[Callback]:
    """The user's own; each lies in a module that can be imported from the folder that the command is run in."""
    made: list[Callback] = []
    for name in config.callbacks:
        found = load_user_class(name, "callbacks", "check the name")
        if lacking := [wanted for wanted in ("on_start", "on_step", "on_end") if not hasattr(found, wanted)]:
            what = f"{name} is no callback: it lacks {', '.join(lacking)}"
            raise BadInput(what, where="callbacks", remedy="see Callback in src/core/api.py")
        made.append(found())
    return made


def open_renderer(model: str) -> Renderer:
    """A chat template where the tokenizer has one, else plain tags."""
    from transformers import AutoTokenizer

    from ..agents.render import ChatRenderer, TagRenderer

    tokenizer = AutoTokenizer.from_pretrained(model)
    return ChatRenderer(tokenizer) if tokenizer.chat_template else TagRenderer(tokenizer)


def make_job(
    config: TrainConfig,
    seed: int,
    *,
    model: str,
    renderer: Renderer,
    sampler: Sampler,
    last_good: Callable[[int], Path | None],
    tools: tuple[str, ...],
    device: torch.device,
    dtype: torch.dtype,
    targets: tuple[str, ...],
    judge: LiveJudge | None = None,
) -> TrainJob:
    from ..engines.job import TrainJob

    return TrainJob(
        model=model,
        renderer=renderer,
        strategy=make_strategy(config),
        sampler=sampler,
        reward=make_reward(config),
        seed=seed,
        max_steps=config.steps,
        batch_size=config.batch_size,
        device=device,
        dtype=dtype,
        lr=config.lr,
        rollout=config.rollout_limits(tools),
        optimizer=config.optimizer,
        finetune=config.finetune,
        lora_targets=targets,
        kl_alert=config.kl_alert,
        judge=judge,
        last_good=last_good,
    )
