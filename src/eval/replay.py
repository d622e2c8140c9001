"""Computes held-out episodes again: only the policy's messages are taken from the record."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import msgspec
from msgspec.structs import replace

from askgate_env.env import matches_replay
from askgate_env.types import Episode, Level, Sample

from ..config.train_config import TrainConfig
from ..data.difficulty.metrics import measure_all
from ..data.pool.meta import read_meta
from ..reward.configured import make_reward
from ..scoring.llm_user import open_user

PARALLEL_FROM = 1_000
"""Number of episodes from which worker processes are started."""
Played = tuple[Sample, list[tuple[int, Episode]]]
"""A sample and the episodes on it, each with its seed."""


class Replay:
    """Environment and reward of a config. They determine an episode except for the policy's messages."""

    def __init__(self, config: TrainConfig) -> None:
        self._tools, self._max_turns = read_meta(config.seed_pool).tools, config.rollout.max_turns
        self._user, self._reward = config.eval.user or config.user, make_reward(config)
        self.is_complete = self._user != "llm"
        """Whether the user's replies can be derived. Those of a language model as the user cannot."""

    def agrees(self, episode: Episode, sample: Sample, level: Level, seed: int) -> bool:
        """Whether replies, success, rewards and facts of a stored episode follow from sample and policy messages."""
        derived = replace(episode, level=level, seed=seed, reward=self._reward(episode, sample))
        if derived != episode or not self.is_complete:
            return derived == episode
        return matches_replay(episode, sample, self._tools, self._max_turns, open_user(self._user, seed))

    def start(self, played: Sequence[Played], cores: int) -> Callable[[], list[list[bool]]]:
        """Starts to replay. The returned function waits for the end and says for each episode on each sample whether it
        agrees. With several cores, other processes replay most of the episodes in the meantime, and this process its
        own part when that function is called."""
        if cores == 1 or sum(len(episodes) for _, episodes in played) < PARALLEL_FROM:
            return partial(_verdicts, self, played)
        # In the meantime this process computes the figures, so its part is half as large as the others.
        executor, size = ProcessPoolExecutor(cores - 1), -(-len(played) // (2 * cores - 1))
        parts = (msgspec.msgpack.encode(played[at : at + 2 * size]) for at in range(size, len(played), 2 * size))
        futures = [executor.submit(_unpacked_verdicts, self, part) for part in parts]
        executor.shutdown(wait=False)
        return lambda: _verdicts(self, played[:size]) + [one for future in futures for one in future.result()]


def _unpacked_verdicts(replay: Replay, packed: bytes) -> list[list[bool]]:
    played = msgspec.msgpack.decode(packed, type=list[Played])
    gc.freeze()  # the garbage collector need not look at it: it is used until this process ends
    return _verdicts(replay, played)


def _verdicts(replay: Replay, played: Sequence[Played]) -> list[list[bool]]:
    levels = [one.level for one in measure_all([sample for sample, _ in played])]
    return [_verdicts_on(replay, level, *one) for level, one in zip(levels, played, strict=True)]


def _verdicts_on(replay: Replay, level: Level, sample: Sample, episodes: list[tuple[int, Episode]]) -> list[bool]:
    """Whether each episode on one sample agrees. Equal episodes, which a run often has, are replayed once."""
    verdicts: list[bool] = []
    for at, (seed, one) in enumerate(episodes):
        first = episodes.index((seed, one))
        verdicts.append(verdicts[first] if first < at else replay.agrees(one, sample, level, seed))
    return verdicts
