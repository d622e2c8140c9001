"""Without the extra `train`: data, gates, scoring and board work, and commands that train say what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.scoring.server import JudgeServer

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TRAIN = sorted(requirement.split(">")[0] for requirement in EXTRAS["train"])
WITHOUT_TRAIN = """
import json, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Blocked())

import src.board.server, src.gates.rounds, src.gates.verify, src.training.verify_results
from src.cli import main

for words in json.loads(sys.argv[2]):
    code = 0
    try:
        main(words)
    except SystemExit as left:
        code = left.code or 0
    print(f"exit code {code}", file=sys.stderr, flush=True)
"""


def without_train(folder: Path, *commands: list[str], **environment: str) -> list[str]:
    """What `askgate` commands say on stderr, exit code last, in a process that finds no module of the extra."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SCORER_", "RUN_MODE"))}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TRAIN, json.dumps(TRAIN), json.dumps(commands)],
        cwd=folder, env={**clean, **environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_data_scoring_and_gates_work_without_torch(tmp_path: Path) -> None:
    with JudgeServer() as server:
        judge = {"SCORER_PROVIDER": "custom", "SCORER_BASE_URL": server.url, "SCORER_MODEL": "m"}
        said = without_train(
            tmp_path,
            ["build-rollout-pool", "--n", "24", "--out", "pool.jsonl"],
            ["score", "pool.jsonl", "--n", "3", "--out", "scores.jsonl"],
            ["validate-scores", "scores.jsonl", "--least", "4"],
            ["train", "--config", "none.yaml"],
            ["quickstart"],
            **judge, REWARD_LIVE_MODE="1",
        )  # fmt: skip
    assert "torch" in TRAIN
    assert [line for line in said if line.startswith("exit")] == [f"exit code {code}" for code in (0, 0, 1, 2, 2)]
    assert len((tmp_path / "scores.jsonl").read_bytes().splitlines()) == 3
    refused = "askgate: torch is not installed. What to do: pip install 'askgate[train]' (in a checkout: make setup)."
    assert said[-4:] == [refused, "exit code 2"] * 2
