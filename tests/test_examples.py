"""Every example runs as its docstring says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scoring.server import JudgeServer

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


def run(folder: Path, *command: str, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SCORER_")}
    done = subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A writable copy of the examples and of the configs that they extend."""
    for name in ("examples", "configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_own_data_builds_a_pool_and_shows_an_ask(checkout: Path) -> None:
    printed = run(checkout, sys.executable, "examples/own_data.py")
    assert "80 samples in data/own_pool.jsonl, 16 of them incomplete" in printed
    assert "assistant [ask] The problem does not say how many buns each tray holds. Can you tell me?" in printed
    assert len((checkout / "data/own_shadow.jsonl").read_text(encoding="utf-8").splitlines()) == 16


def test_own_strategy_trains_two_steps(checkout: Path) -> None:
    askgate = str(Path(sys.executable).with_name("askgate"))
    printed = run(checkout / "examples", askgate, "train", "--config", "own_strategy.yaml", OMP_NUM_THREADS="1")
    assert "need-ask success" in printed
    metrics = (checkout / "examples/logs/metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(metrics) == 2
    assert all('"entropy"' in line for line in metrics)


def test_score_file_lists_every_dialogue_with_its_score(checkout: Path) -> None:
    with JudgeServer() as server:
        judge = {"SCORER_PROVIDER": "custom", "SCORER_BASE_URL": server.url, "SCORER_MODEL": "test"}
        printed = run(
            checkout,
            sys.executable,
            "examples/score_file.py",
            "examples/dialogues.jsonl",
            REWARD_LIVE_MODE="1",
            **judge,
        )
    assert "4 of 4 scored by custom" in printed
    assert all(name in printed for name in ("asks-when-needed", "asks-needlessly", "guesses", "empty-answer"))
    assert server.asked >= 12, "three votes for each dialogue"
