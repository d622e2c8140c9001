"""A policy that hacks its reward is stopped by the run itself: in the real loop, with the real log, exit code 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from askgate_env.types import Sample, Turn
from src.agents.render import TagRenderer
from src.core.jsonl import read_records
from src.data.collate import demo_tokens
from src.engines.sft import Demo, SftPlan, fine_tune
from tests.conftest import Askgate

from .tiny_run import write_config

WORDS = {
    "always asks": ('f"<ask>Could you tell me more about that?</ask>"', "ask_spam"),
    "emits only the answer tag": ('"<answer>"', "malformed"),
    "answers at once with nothing behind it": ('"<answer>yes</answer>"', "bare_answer"),
    "repeats the question": ('f"Well, <answer>{sample.prompt}</answer>"', "echo"),
}
ENGINE = """
from msgspec.structs import replace
from askgate_env.env import Env
from src.core.api import StepResult
from src.engines.pure_pt import PurePT


class Hacker(PurePT):
    '''Says the same whatever it is asked; sampler, reward, callbacks and checkpoints are those of the run.'''

    def take_step(self):
        drawn = self.job.sampler.draw(self.step, self.job.batch_size)
        self.step += 1
        return StepResult(self.step, {{"kl": 0.0}}, [self.episode_of(one) for one in drawn])

    def episode_of(self, one):
        sample, env = one.sample, Env(one.sample, 6, self.job.rollout.tools)
        while not env.end:
            env.step({words})
        episode = env.episode(seed=1, level=one.level)
        return replace(episode, reward=self.job.reward(episode, sample))
"""


def logged(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "logs/metrics.jsonl").read_text().splitlines()]


def teach_to_ask(place: Path) -> None:
    """Trains the base to ask on every prompt."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    def asking(sample: Sample) -> Sample:
        ask, reply = Turn("assistant", "ask", "Which one?"), Turn("user", "say", "What do you mean?")
        return replace(sample, dialogue=(sample.dialogue[0], ask, reply, ask))

    renderer = TagRenderer(AutoTokenizer.from_pretrained(place / "model"))
    policy = AutoModelForCausalLM.from_pretrained(place / "model")
    samples = map(asking, read_records(place / "data/pool.jsonl", Sample))
    pairs = [demo_tokens(sample, renderer, thoughts=False) for sample in samples]
    demos = [Demo(np.array(tokens, np.int32), np.array(said, np.bool_)) for tokens, said in pairs]
    fine_tune(policy, demos, SftPlan(tokens=60_000, lr=2e-2, batch_tokens=2000, seed=0))
    policy.save_pretrained(place / "model")


@pytest.mark.parametrize("hack", WORDS)
def test_reward_hacking_stops_the_run_with_its_figure(place: Path, askgate: Askgate, hack: str) -> None:
    words, figure = WORDS[hack]
    module = f"own_{figure}"
    (place / f"{module}.py").write_text(ENGINE.format(words=words))
    done = askgate("train", "--config", write_config(place, steps=9, engine=f"{module}:Hacker", watch={}))
    assert done.code == 1, done.err
    assert f"reward hacking: {figure} is 1.00 over 5 steps" in done.err
    assert "read its episodes in logs/episodes" in done.err
    assert [line["step"] for line in logged(place)] == [1, 2, 3, 4, 5]
    assert (place / "logs/episodes/step_00005.jsonl").exists()
    assert not (place / "checkpoints/local/final_model").exists()


def test_a_policy_that_only_asks_is_stopped(place: Path, askgate: Askgate) -> None:
    teach_to_ask(place)
    done = askgate("train", "--config", write_config(place, steps=9, lr=1e-6, watch={"malformed": 1.0}))
    assert done.code == 1, done.err
    assert "reward hacking: ask_spam is" in done.err
    shares = [line["watch/ask_spam"] for line in logged(place)]
    assert len(shares) == 5
    assert np.mean(shares) > 0.5


def test_the_limits_come_from_the_config(place: Path, askgate: Askgate) -> None:
    words, figure = WORDS["repeats the question"]
    (place / "own_patient.py").write_text(ENGINE.format(words=words))
    engine = {"engine": "own_patient:Hacker", "steps": 3}
    done = askgate("train", "--config", write_config(place, **engine, watch={figure: 1.0, "window": 2}))
    assert done.code == 0, done.err
    assert [line[f"watch/{figure}"] for line in logged(place)] == [1.0] * 3
    done = askgate("train", "--config", write_config(place, **engine, watch={figure: 0.9, "window": 2}))
    assert done.code == 1
    assert f"{figure} is 1.00 over 2 steps, above watch.{figure} = 0.90 (" in done.err


def test_a_stopped_run_resumes_with_a_raised_limit(place: Path, askgate: Askgate) -> None:
    words, figure = WORDS["repeats the question"]
    (place / "own_looked_at.py").write_text(ENGINE.format(words=words))
    engine = {"engine": "own_looked_at:Hacker", "steps": 4}
    assert askgate("train", "--config", write_config(place, **engine, watch={"window": 2})).code == 1
    assert logged(place)[-1]["step"] == 2
    raised = write_config(place, **engine, watch={figure: 1.0, "window": 2})
    done = askgate("train", "--config", raised, "--resume")
    assert done.code == 0, done.err
    assert f"watch.{figure} was 0.2 and is 1.0 from here on" in done.err
    assert [line["step"] for line in logged(place)] == [1, 2, 3, 4]
