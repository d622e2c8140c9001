"""The environment as a server of OpenEnv: a session is an episode, an action is what the policy says.

    uvicorn askgate_env.adapters.openenv_server:app --port 8000

`reset(index=3)` starts the sample of that number, `reset(seed=7)` a random one, `reset()` the next one.
"""

from __future__ import annotations

import os
import random
from itertools import count
from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State, create_app

from ..env import MAX_TURNS, Env
from ..pool import load_pool
from ..reward import TrainingReward

POOL = "ASKGATE_POOL"
"""Environment variable with the path of the pool; the built-in one by default."""


class AskGateAction(Action):
    text: str
    """A turn of the policy, such as `<ask>Which year do you mean?</ask>`."""


class AskGateObservation(Observation):
    text: str = ""
    """The user's first message, or the reply of user or tool; empty when the episode is over."""
    system: str = ""
    """The system prompt, at the beginning."""


class AskGateState(State):
    sample_id: str = ""


class AskGateEnvironment(Environment[AskGateAction, AskGateObservation, AskGateState]):
    """Episodes on the samples of a pool. The reward comes with the last observation."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    _turns = count()

    def __init__(self, pool: str | None = None, max_turns: int = MAX_TURNS) -> None:
        super().__init__()
        self.samples, self.max_turns = load_pool(pool or os.environ.get(POOL)), max_turns
        self._state = AskGateState()
        self._env: Env | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, index: int | None = None, **_: Any
    ) -> AskGateObservation:
        if index is None:
            index = next(self._turns) if seed is None else random.Random(seed).randrange(len(self.samples))
        sample = self.samples[index % len(self.samples)]
        self._env = env = Env(sample, self.max_turns)
        self._state = AskGateState(episode_id=episode_id, sample_id=sample.id)
        return AskGateObservation(text=env.opening(), system=env.system())

    def step(self, action: AskGateAction, timeout_s: float | None = None, **_: Any) -> AskGateObservation:
        env = self._env
        if env is None:
            raise RuntimeError("no episode has begun: call reset() first")
        reply = env.step(action.text)
        self._state.step_count += 1
        if reply:
            return AskGateObservation(text=reply.text)
        terms = TrainingReward()(env.episode(seed=0), env.sample)
        return AskGateObservation(done=True, reward=sum(terms.values()), metadata=terms)

    @property
    def state(self) -> AskGateState:
        return self._state


app = create_app(AskGateEnvironment, AskGateAction, AskGateObservation, env_name="askgate-env", max_concurrent_envs=64)
