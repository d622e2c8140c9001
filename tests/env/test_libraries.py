"""Real libraries play 20 samples of the built-in pool with `models/tiny`, and report the rewards that AskGate computes.

Each library has a virtual environment of its own, kept in pytest's cache.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from askgate_env.env import MAX_TURNS
from askgate_env.pool import load_pool
from askgate_env.reward import TrainingReward
from src.agents.trajectory import Job
from src.chat.policies import open_policy
from tests.env.tiny_server import TinyServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
ENV = Path(__file__).resolve().parents[2] / "packages/askgate-env"
EXAMPLES = ENV / "examples"
SAMPLES = load_pool()[:20]
KEYS = {"API_KEY": "none", "TINY_API_KEY": "none"}

Library = Callable[[str], Path]


@pytest.fixture(scope="module")
def server() -> Iterator[TinyServer]:
    with TinyServer() as running:
        yield running


@pytest.fixture(scope="module")
def expected(server: TinyServer) -> list[float]:
    """The rewards of AskGate's own policy on the same server."""
    with open_policy(server.url, environment={"POLICY_MODEL": "tiny"}) as policy:
        episodes = policy.rollout([Job(sample) for sample in SAMPLES], MAX_TURNS)
    rewards = [sum(TrainingReward()(*pair).values()) for pair in zip(episodes, SAMPLES, strict=True)]
    assert {0.0, 1.0} < set(rewards)
    return rewards


@pytest.fixture
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    """Installs askgate-env with an extra; skips where the registry does not have its library."""

    def install(extra: str) -> Path:
        assert request.config.cache
        home = request.config.cache.mkdir(f"venv-{extra}")
        if not (home / "bin/python").exists():
            run(tmp_path, sys.executable, "-m", "venv", "--without-pip", str(home))
        source = shutil.copytree(ENV, tmp_path / extra, ignore=shutil.ignore_patterns("*.egg-info", "build"))
        pip = (sys.executable, "-m", "pip", "--python", str(home / "bin/python"), "install", "--quiet")
        made = subprocess.run([*pip, f"{source}[{extra}]"], capture_output=True, text=True, timeout=1500)
        if made.returncode:
            errors = [line for line in made.stderr.splitlines() if line.startswith("ERROR")]
            pytest.skip(f"{extra} cannot be installed here: {' '.join(errors)[:300]}")
        run(tmp_path, *pip, "--no-deps", "--force-reinstall", str(source))
        return home / "bin"

    return install


def test_verifiers(library: Library, server: TinyServer, expected: list[float], tmp_path: Path) -> None:
    flags = ("--model", "tiny", "--client.base-url", server.url, "--output-dir", str(tmp_path), "--run.name", "run")
    config = str(EXAMPLES / "verifiers_eval.toml")
    run(tmp_path, str(library("verifiers") / "vf-eval"), "@", config, *flags, "--no-rich")
    episodes = [json.loads(line) for line in (tmp_path / "run/traces.jsonl").read_bytes().splitlines()]
    found = {
        trace["task"]["data"]["id"]: sum(one["score"] * one["weight"] for one in trace["rewards"].values())
        for episode in episodes
        for trace in episode["traces"]
    }
    assert [found[sample.id] for sample in SAMPLES] == pytest.approx(expected)


def test_inspect(library: Library, server: TinyServer, expected: list[float], tmp_path: Path) -> None:
    script = str(EXAMPLES / "inspect_eval.py")
    printed = run(
        tmp_path,
        *(str(library("inspect") / "python"), script, "openai-api/tiny/tiny"),
        TINY_BASE_URL=server.url,
        INSPECT_DISPLAY="none",
    )
    lines = [line.split(" ", 1) for line in printed.splitlines() if line.startswith(tuple(one.id for one in SAMPLES))]
    found = {name: json.loads(values.replace("'", '"'))["reward"] for name, values in lines}
    assert [found[sample.id] for sample in SAMPLES] == pytest.approx(expected)


def test_openenv(library: Library, server: TinyServer, expected: list[float], tmp_path: Path) -> None:
    programs = library("openenv")
    with openenv_server(programs) as url:
        printed = run(tmp_path, str(programs / "python"), str(EXAMPLES / "openenv_client.py"), url, server.url, "tiny")
    assert [float(line.split()[1]) for line in printed.splitlines()] == pytest.approx(expected)


def test_an_openenv_step_before_reset_says_what_to_do(library: Library, tmp_path: Path) -> None:
    program = (
        "from askgate_env.adapters.openenv_server import AskGateAction, AskGateEnvironment\n"
        "try:\n    AskGateEnvironment().step(AskGateAction(text='<answer>2</answer>'))\n"
        "except RuntimeError as error:\n    print(error)"
    )
    printed = run(tmp_path, str(library("openenv") / "python"), "-c", program)
    assert printed.strip() == "no episode has begun: call reset() first"


@contextmanager
def openenv_server(programs: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(programs / "uvicorn"), "askgate_env.adapters.openenv_server:app", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "the OpenEnv server has ended"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def run(folder: Path, *command: str, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean, **KEYS, **environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
