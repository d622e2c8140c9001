"""The environment as a task of Inspect, with its scorer.

inspect eval askgate_env/askgate --model openai-api/local/MODEL -T pool=pool.jsonl
"""

from __future__ import annotations

import msgspec
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..env import MAX_TURNS, Env, play
from ..pool import load_pool
from ..reward import TrainingReward, achieved
from ..types import Sample


@task
def askgate(pool: str | None = None, max_turns: int = MAX_TURNS) -> Task:
    """Samples of a pool, by default of the built-in one; the simulator plays the user."""
    samples = [
        InspectSample(
            id=sample.id,
            input=[ChatMessageSystem(content=env.system()), ChatMessageUser(content=env.opening())],
            target=[sample.answer, *sample.aliases],
            metadata={"sample": msgspec.to_builtins(sample)},
        )
        for sample in load_pool(pool)
        for env in (Env(sample),)
    ]
    return Task(MemoryDataset(samples), solver=dialogue(max_turns), scorer=rule_reward(max_turns))


@solver
def dialogue(max_turns: int = MAX_TURNS) -> Solver:
    """Generates turns until the environment ends the episode."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        env = Env(_sample(state), max_turns)
        while env.end is None:
            state = await generate(state)
            if reply := env.step(state.output.completion):
                state.messages.append(ChatMessageUser(content=reply.text))
        return state

    return solve


@scorer(metrics={"reward": [mean(), stderr()], "right": [mean(), stderr()], "asks": [mean()]})
def rule_reward(max_turns: int = MAX_TURNS) -> Scorer:
    """AskGate's reward by rule, whether the episode is right, and the number of asks."""

    async def score(state: TaskState, target: Target) -> Score:
        sample = _sample(state)
        said = [message.text for message in state.messages if isinstance(message, ChatMessageAssistant)]
        episode = play(sample, said, max_turns)
        terms = TrainingReward()(episode, sample)
        return Score(
            value={"reward": sum(terms.values()), "right": float(achieved(episode)), "asks": episode.asks},
            answer=episode.answer,
            metadata={"terms": terms, "end": episode.end},
        )

    return score


def _sample(state: TaskState) -> Sample:
    return msgspec.convert(state.metadata["sample"], Sample)
