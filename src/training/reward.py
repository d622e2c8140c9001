"""What a config says an episode is worth, and the judge that a run may ask about a share of its episodes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from .resume import steps_done

if TYPE_CHECKING:
    from ..reward.live_share import CourtRoom
    from ..reward.reward import OutcomeReward
    from ..scoring.providers import ScorerSettings

log = logging.getLogger(__name__)


def make_reward(config: TrainConfig) -> OutcomeReward:
    """The outcome, the penalty for needless asks, and the calibrated dimensions where the config names weights."""
    from ..reward.new_score import AdvancedReward
    from ..reward.reward import OutcomeReward

    reward = config.reward
    return OutcomeReward(
        weight=reward.outcome,
        alpha=reward.alpha if config.use_overclar_penalty else 0.0,
        cap=reward.cap,
        beta=reward.difficulty_beta,
        dimensions=AdvancedReward.load(reward.weights, reward.dimensions) if reward.weights else None,
    )


def asks_judge(config: TrainConfig) -> bool:
    """Whether a live dimension has a weight and the config lets a judge be asked."""
    dimensions = make_reward(config).dimensions
    return config.live_mode and dimensions is not None and dimensions.wants_judge


def judge_settings(config: TrainConfig) -> ScorerSettings | None:
    """Which judge the environment names; None where none is asked. Refuses a config that wants what is switched off."""
    if not asks_judge(config):
        return None
    from ..config.loader import load_config
    from ..scoring.providers import settings_for

    settings = settings_for(os.environ, load_config().scoring, "")
    if not settings.live:
        raise BadInput(
            "is on, and REWARD_LIVE_MODE is off, so no judge may be called",
            where="live_mode",
            remedy="set REWARD_LIVE_MODE=1, or live_mode: false to train by the rules alone",
        )
    return settings


@contextmanager
def open_judge(config: TrainConfig, resume: bool, group_size: int) -> Iterator[CourtRoom | None]:
    """The judge for the whole run, tried once; what asking it will cost is said before the first step."""
    from ..config.loader import load_config

    settings = judge_settings(config)
    if settings is None:
        if config.live_mode:
            log.info("no live dimension has a weight in %s, so no judge is asked", config.reward.weights)
        yield None
        return
    from ..core.jsonl import read_records
    from ..core.types import Sample
    from ..reward.live_share import CourtRoom
    from ..scoring.judge import open_session
    from ..scoring.monitor import forecast, score_once

    scoring = load_config().scoring
    with ExitStack() as stack:
        session = stack.enter_context(open_session(settings, scoring, os.environ, log.info))
        runner = stack.enter_context(asyncio.Runner())
        client = session.client()
        stack.callback(lambda: runner.run(client.close()))
        room = CourtRoom(session, client, runner)
        first = next(iter(read_records(config.seed_pool, Sample)))
        runner.run(score_once(room.bench, first, session.provider))
        steps = sum(_steps_left(config, seed, resume) for seed in config.seeds)
        a_step = config.batch_size * config.reward.live_share
        at_once = max(1, min(scoring.limits.concurrency_max, round(max(a_step, group_size) * scoring.votes.k)))
        cost = forecast(session, round(steps * a_step), at_once)
        log.info(
            "live scoring by %s of %g%% of the episodes, for %d steps in all: %s; by the newest %d calls",
            session.provider.name, 100 * config.reward.live_share, steps, cost.describe(), cost.known_from,
        )  # fmt: skip
        yield room


def _steps_left(config: TrainConfig, seed: int, resume: bool) -> int:
    return max(0, config.steps - (steps_done(config, seed) if resume else 0))


def unstable_weights(config: TrainConfig) -> dict[str, float]:
    """How much samples count on which the judge disagreed with itself, by id; all others count fully."""
    from ..core.jsonl import read_records
    from ..scoring.scores import Score

    path = config.reward.unstable
    return {score.id: score.weight for score in read_records(path, Score)} if path else {}


def reward_files(config: TrainConfig) -> dict[str, Path]:
    """What the reward stands on, by the key of the config that names it."""
    named = {"reward.weights": config.reward.weights, "reward.unstable": config.reward.unstable}
    return {key: path for key, path in named.items() if path}
