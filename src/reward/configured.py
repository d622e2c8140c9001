"""Builds the `TrainingReward` (formula in `askgate_env/reward.py`) that a training config describes."""

from __future__ import annotations

from askgate_env.reward import TrainingReward

from ..config.profile import profile_for
from ..config.train_config import TrainConfig
from .weights import load_dimensions


def make_reward(config: TrainConfig) -> TrainingReward:
    """Outcome, penalty for needless asks, and the calibrated dimensions if the config names weights."""
    reward, weight_max = config.reward, profile_for(config).thresholds.weight_max
    dimensions = load_dimensions(reward.weights, reward.dimensions, weight_max=weight_max) if reward.weights else None
    alpha = reward.alpha if config.use_overclar_penalty else 0.0
    return TrainingReward(
        outcome=reward.outcome,
        info=reward.info,
        alpha=alpha,
        cap=reward.cap,
        beta=reward.difficulty_beta,
        dimensions=dimensions,
    )
