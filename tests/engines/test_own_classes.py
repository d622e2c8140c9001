"""A strategy and an engine in a user's own file are named as `package.module:Class` and work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from src.core.api import Batch
from src.core.errors import BadInput
from src.strategies.ppo import PPO
from src.training.components import load_engine, load_strategy
from tests.engines.toy import StepRecorder, make_job

OWN_STRATEGY = '''
class Reinforce:
    """Plain policy gradient against the mean of the batch."""
    critic = reference = False
    group_size = 1

    def targets(self, batch):
        return {"better_E": batch.reward_E - batch.reward_E.mean()}

    def loss(self, logp_N, entropy_N, value_N, part, targets):
        return -(logp_N * targets["better_E"][part.episode_N]).mean(), {}

    def after_step(self, metrics): ...
    def metrics(self): return {}
    def state_dict(self): return {}
    def load_state_dict(self, state): ...
'''
OWN_ENGINE = '''
from askgate_env.env import Env
from askgate_env.actions import say
from src.core.api import StepResult

class Demonstrations:
    """Learns nothing: plays the demonstration of every sample, which shows the best reward there is."""
    strategies = frozenset({"ppo"})

    def __init__(self, job): self.job, self.step = job, 0

    def fit(self, callbacks):
        while self.step < self.job.max_steps:
            self.step += 1
            rewards = []
            for drawn in self.job.sampler.draw(self.step, self.job.batch_size):
                env = Env(drawn.sample, self.job.rollout.max_turns)
                [env.step(say(turn)) for turn in drawn.sample.dialogue if turn.by == "assistant"]
                rewards.append(sum(self.job.reward(env.episode(0), drawn.sample).values()))
            for callback in callbacks:
                callback.on_step(self, StepResult(self.step, {"reward": sum(rewards) / len(rewards)}, ()))

    def save(self, folder): ...
    def load(self, folder): ...
    def save_model(self, folder): ...
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_strategy.py").write_text(OWN_STRATEGY)
    (tmp_path / "their_engine.py").write_text(OWN_ENGINE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("own")
def test_a_users_strategy_learns_on_our_engine(taught: Path) -> None:
    strategy = load_strategy("their_strategy:Reinforce", {})
    job = make_job(taught, strategy, steps=25, batch=96, lr=5e-3)
    keep = StepRecorder()
    load_engine("pure_pt", "their_strategy:Reinforce")(job).fit([keep])
    rewards = [result.metrics["reward"] for result in keep.results]
    assert [result.step for result in keep.results] == list(range(1, 26))
    assert max(rewards[-5:]) > rewards[0] + 0.3


@pytest.mark.parametrize(("name", "options"), [("Reinforce", {}), ("Clipped", {"clip": 0.2})])
def test_the_strategies_of_the_docs_run(
    name: str, options: dict[str, float], taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs/extending.md").read_text(encoding="utf-8")
    strategies = page.split("## A strategy")[1].split("## An engine")[0]
    (tmp_path / "of_the_docs.py").write_text("\n\n".join(re.findall(r"```python\n(.*?)```", strategies, re.DOTALL)))
    monkeypatch.syspath_prepend(str(tmp_path))
    keep, made = StepRecorder(), load_strategy(f"of_the_docs:{name}", options)
    load_engine("pure_pt", f"of_the_docs:{name}")(make_job(taught, made, steps=2, batch=24)).fit([keep])
    assert [result.step for result in keep.results] == [1, 2]
    assert ("clipped" in keep.results[0].metrics) == (name == "Clipped")


def test_the_docs_name_every_field_of_a_batch() -> None:
    page = (Path(__file__).parents[2] / "docs/extending.md").read_text(encoding="utf-8")
    assert [one.name for one in fields(Batch) if f"| `{one.name}` |" not in page] == []


@pytest.mark.usefixtures("own")
def test_a_users_engine_runs_the_job(taught: Path) -> None:
    keep = StepRecorder()
    load_engine("their_engine:Demonstrations", "ppo")(make_job(taught, PPO(), steps=2, batch=24)).fit([keep])
    assert [result.metrics["reward"] for result in keep.results] == [1.0, 1.0]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("engine", "strategy", "told"),
    [
        ("pure", "ppo", "unknown engine 'pure'"),
        ("nowhere.at_all:Engine", "ppo", "No module named 'nowhere'"),
        ("their_engine:Missing", "ppo", "their_engine has no class 'Missing'"),
        ("their_strategy:Reinforce", "ppo", "is not an engine: it lacks strategies, fit"),
        ("their_engine:Demonstrations", "dpo", "does not run dpo"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(engine: str, strategy: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_engine(engine, strategy)
    assert told in str(refused.value)
    assert "What to do" in str(refused.value)
    assert "\n" not in str(refused.value)


ROOT = Path(__file__).resolve().parents[2]
ASKS_FOR_IT = """
import sys
from {here}.core.errors import BadInput
from {here}.core.user_class import load_user_class
try:
    print(load_user_class("theirs:Mine", "strategy", "check the name").__name__)
except BadInput as refused:
    sys.exit(str(refused))
"""


@pytest.mark.parametrize(
    ("here", "other", "start"), [("src", "askgate", "askgate train"), ("askgate", "src", "python -m src.core.launch")]
)
def test_a_file_that_imports_the_other_package_name_is_refused(
    tmp_path: Path, here: str, other: str, start: str
) -> None:
    (tmp_path / "askgate").symlink_to(ROOT / "src")

    def own(*lines: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "theirs.py").write_text("\n".join(lines))
        command = [sys.executable, "-c", ASKS_FOR_IT.format(here=here)]
        path = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **path})

    refused = own(f"from {other}.core.api import Stop", "class Mine: ...")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"strategy: theirs imports from {other}, and this process runs as {here}; one process must not load both. "
        f"What to do: import from {here} in that file, or start the run with {start}."
    ]
    assert own(f"from {here}.core.api import Stop", "class Mine: ...").stdout == "Mine\n"


def test_a_users_package_with_our_name_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "askgate").symlink_to(ROOT / "src")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "theirs.py").write_text("class Mine: ...")
    script = ASKS_FOR_IT.format(here="askgate").replace("theirs:Mine", "src.theirs:Mine")
    path = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{tmp_path / 'there'}"}
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **path}
    )
    assert (told.stdout, told.stderr) == ("Mine\n", "")
