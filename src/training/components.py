"""The components that a config names: strategy, callbacks, renderer, reward and live judge."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from transformers import AutoTokenizer

from ..agents.render import ChatRenderer, Renderer, TagRenderer, generation_stop_ids
from ..config.loader import load_config
from ..config.profile import profile_for
from ..config.train_config import TrainConfig
from ..core.api import Callback, Strategy
from ..core.errors import BadInput
from ..core.jsonl import read_records
from ..core.types import Sample
from ..core.user_class import load_user_class
from ..engines.load import load_strategy, strategy_class
from ..reward.live_share import RunJudge
from ..reward.reward import AdvancedReward, TrainingReward
from ..scoring.judge import open_session
from ..scoring.monitor import forecast, score_once
from ..scoring.providers import ScorerSettings, settings_for
from ..scoring.scores import Score
from .resume import steps_done

log = logging.getLogger(__name__)


def make_strategy(config: TrainConfig) -> Strategy:
    """The strategy, with `clip`, `kl_coef` and `target_kl` where it takes them, and all of `strategy_options`."""
    takes = inspect.signature(strategy_class(config.strategy)).parameters
    headline = {"clip": config.clip, "kl_coef": config.kl_coef, "target_kl": config.target_kl}
    for name in headline:
        if name in config.strategy_options:
            what = f"{name} is a setting of its own"
            raise BadInput(what, where=f"strategy_options.{name}", remedy=f"set {name} at the top level")
    if {"kl_coef", "target_kl"} <= takes.keys() and config.kl_coef == 0 and config.target_kl is not None:
        raise BadInput(
            f"a coefficient of 0 never adapts, so it cannot reach a target of {config.target_kl:g}",
            where="kl_coef",
            remedy="start with a coefficient above 0, or set target_kl: null",
        )
    options = {name: value for name, value in headline.items() if name in takes} | config.strategy_options
    return load_strategy(config.strategy, options)


def make_callbacks(config: TrainConfig) -> list[Callback]:
    """The user's own callbacks, each from a module in the folder that the command is run in."""
    made: list[Callback] = []
    for name in config.callbacks:
        cls = load_user_class(name, "callbacks", "check the name")
        if lacking := [method for method in ("on_start", "on_step", "on_end") if not hasattr(cls, method)]:
            what = f"{name} is no callback: it lacks {', '.join(lacking)}"
            raise BadInput(what, where="callbacks", remedy="see Callback in src/core/api.py")
        made.append(cls())
    return made


def open_renderer(model: str) -> Renderer:
    """Renders with the tokenizer's chat template if it has one, else with plain tags."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    return ChatRenderer(tokenizer, generation_stop_ids(model)) if tokenizer.chat_template else TagRenderer(tokenizer)


def make_reward(config: TrainConfig) -> TrainingReward:
    """Outcome, penalty for needless asks, and the calibrated dimensions if the config names weights."""
    reward, weight_max = config.reward, profile_for(config).thresholds.weight_max
    dimensions = (
        AdvancedReward.load(reward.weights, reward.dimensions, weight_max=weight_max) if reward.weights else None
    )
    return TrainingReward(
        weight=reward.outcome,
        alpha=reward.alpha if config.use_overclar_penalty else 0.0,
        cap=reward.cap,
        beta=reward.difficulty_beta,
        dimensions=dimensions,
    )


def unstable_weights(config: TrainConfig) -> dict[str, float]:
    """Weights, by sample id, of samples on which the judge's votes disagreed; all others have weight 1."""
    path = config.reward.unstable
    return {score.id: score.weight for score in read_records(path, Score)} if path else {}


def judge_settings(config: TrainConfig) -> ScorerSettings | None:
    """Settings of the live judge from the environment; None where no live dimension has a weight or `live_mode` is off.
    Refuses a config that needs a judge while REWARD_LIVE_MODE is off."""
    dimensions = make_reward(config).dimensions
    if not (config.live_mode and dimensions is not None and dimensions.wants_judge):
        return None
    settings = settings_for(os.environ, load_config().scoring, "")
    if not settings.live:
        raise BadInput(
            "is on, and REWARD_LIVE_MODE is off, so no judge may be called",
            where="live_mode",
            remedy="set REWARD_LIVE_MODE=1, or live_mode: false to train by the rules alone",
        )
    return settings


@contextmanager
def open_judge(config: TrainConfig, resume: bool, group_size: int) -> Iterator[RunJudge | None]:
    """The live judge of the whole run, called once to test it. Logs the estimated cost before the first step."""
    settings = judge_settings(config)
    if settings is None:
        if config.live_mode:
            log.info("no live dimension has a weight in %s, so no judge is called", config.reward.weights)
        yield None
        return
    scoring = settings.scoring
    with ExitStack() as stack:
        session = stack.enter_context(open_session(settings, log.info))
        runner = stack.enter_context(asyncio.Runner())
        client = session.client()
        stack.callback(lambda: runner.run(client.close()))
        room = RunJudge(session, client, runner)
        first = next(iter(read_records(config.seed_pool, Sample)))
        runner.run(score_once(room.judge, first))
        done = sum(min(config.steps, steps_done(config, seed)) for seed in config.seeds) if resume else 0
        steps = config.steps * len(config.seeds) - done
        judged_per_step = config.batch_size * config.reward.live_share
        calls = round(max(judged_per_step, group_size) * scoring.votes.k)
        at_once = max(1, min(scoring.limits.concurrency_max, calls))
        log.info(
            "live scoring by %s of %g%% of the episodes, for %d steps in all: %s", session.provider.name,
            100 * config.reward.live_share, steps, forecast(session, round(steps * judged_per_step), at_once),
        )  # fmt: skip
        yield room
