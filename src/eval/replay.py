"""Held-out episodes computed again: only the policy's own words are taken from a record."""

from __future__ import annotations

from msgspec.structs import replace

from askgate_env.env import matches_replay
from askgate_env.types import Episode, Level, Sample

from ..config.train_config import TrainConfig
from ..data.pool.meta import read_meta
from ..reward.configured import make_reward
from ..scoring.llm_user import open_user


class Replay:
    """The environment and the reward of a config, which decide all of an episode but the policy's words."""

    def __init__(self, config: TrainConfig) -> None:
        self._tools, self._max_turns = read_meta(config.seed_pool).tools, config.rollout.max_turns
        self._user, self._reward = config.eval.user or config.user, make_reward(config)
        self.is_complete = self._user != "llm"
        """Whether the user's words can be derived. A language model that played the user cannot be asked again."""

    def agrees(self, episode: Episode, sample: Sample, level: Level, seed: int) -> bool:
        """Whether replies, success, rewards and facts of a stored episode are what the sample gives for the words."""
        derived = replace(episode, level=level, seed=seed, reward=self._reward(episode, sample))
        if derived != episode or not self.is_complete:
            return derived == episode
        return matches_replay(episode, sample, self._tools, self._max_turns, open_user(self._user, seed))
