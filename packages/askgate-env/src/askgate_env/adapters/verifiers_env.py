"""The environment for verifiers (v1): `vf-eval` evaluates in it, prime-rl trains in it.

    vf-eval askgate-env -m MODEL -n 20 --client.base-url http://127.0.0.1:8000/v1

A task is a sample, and the simulator plays the user: each turn of the policy is a step of `Env`, whose reply is the
next message. verifiers finds these classes through `askgate_env.__all__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import verifiers.v1 as vf
from openai import AsyncOpenAI
from verifiers.v1.dialects.chat import message_to_wire

from ..env import MAX_TURNS, Env
from ..pool import load_pool
from ..reward import TrainingReward, achieved
from ..types import Sample


class AskGateConfig(vf.TasksetConfig):
    pool: Path | None = None
    """Pool of samples; the built-in one by default."""


class AskGateData(vf.TaskData):
    sample: dict[str, Any]


class AskGateTask(vf.Task[AskGateData, vf.State, vf.TaskConfig]):
    """One sample. `AskGateEnv` scores it, because it holds the dialogue."""


class AskGateTaskset(vf.Taskset[AskGateTask, AskGateConfig]):
    """The samples of a pool."""

    def load(self) -> Iterator[AskGateTask]:
        for sample in load_pool(self.config.pool):
            env, stored = Env(sample), msgspec.to_builtins(sample)
            data = AskGateData(
                id=sample.id, name=sample.id, prompt=env.opening(), system_prompt=env.system(), sample=stored
            )
            yield AskGateTask(data, self.config.task)


class AskGateEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The policy. Its harness runs in this process, so that it needs no container."""
    max_turns: int = MAX_TURNS
    """Most turns of the policy in an episode."""


class AskGateEnv(vf.Env[AskGateEnvConfig]):
    """Plays the user and the tools of a sample, and rewards the episode."""

    async def run(self, task: AskGateTask, agents: vf.Agents) -> None:
        sample = msgspec.convert(task.data.sample, Sample)
        env = Env(sample, self.config.max_turns)
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated and (reply := env.step(segment.last_reply)):
                segment = await interaction.turn(reply.text)
        if env.end is None:
            env.finish("length")
        episode = env.episode(seed=0)
        for name, value in TrainingReward()(episode, sample).items():
            interaction.trace.record_reward(name, value)
        interaction.trace.record_metrics({"right": float(achieved(episode)), "asks": float(episode.asks)})


class AskGateHarness(vf.Harness[vf.HarnessConfig]):
    """One completion per turn, in this process: a policy here needs no program of its own."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages += [message_to_wire(message) for message in prompt or ()]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")
