"""Held-out episodes computed again: only the policy's own words are taken from a record."""

from __future__ import annotations

from msgspec.structs import replace

from ..agents.env import matches_replay
from ..config.train_config import TrainConfig
from ..core.types import Episode, Level, Sample
from ..data.pool.meta import read_meta
from ..reward.configured import make_reward


class Replay:
    """The environment and the reward of a config, which decide all of an episode but the policy's words."""

    def __init__(self, config: TrainConfig) -> None:
        self._tools, self._max_turns = read_meta(config.seed_pool).tools, config.rollout.max_turns
        self._reward = make_reward(config)

    def agrees(self, episode: Episode, sample: Sample, level: Level, seed: int) -> bool:
        """Whether replies, success, rewards and facts of a stored episode are what the sample gives for the words."""
        derived = replace(episode, level=level, seed=seed, reward=self._reward(episode, sample))
        return derived == episode and matches_replay(episode, sample, self._tools, self._max_turns)
