"""A run logs a line per step and every episode; after a resume the logs contain no discarded step."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
from rich.console import Console

from askgate_env.types import Episode
from src.callbacks.logging import Logging, ProgressBar
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.runtime.logs import StepLog

from .fake_engine import FakeEngine


def logging_to(folder: Path, seed: int = 1) -> Logging:
    return Logging(seed, 4, StepLog(folder / "metrics.jsonl"), folder / "episodes")


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_step_logs_metrics_and_episodes_with_reward_terms(tmp_path: Path) -> None:
    FakeEngine().fit([logging_to(tmp_path)])
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines == [{"seed": 1, "step": step, "loss": step / 10, "kl": 0.01} for step in (1, 2, 3, 4)]
    batch = list(read_records(tmp_path / "episodes" / "step_00003.jsonl", Episode))
    assert [one.reward for one in batch] == [{"outcome": 1.0, "overclar": 0.0}, {"outcome": 1.0, "overclar": -0.07}]


def test_a_resumed_run_leaves_the_same_files(tmp_path: Path) -> None:
    FakeEngine().fit([logging_to(tmp_path)])
    unbroken = everything(tmp_path)
    # Broken off in step 4, the newest checkpoint is that of step 2, and the run then goes another way for a while.
    (tmp_path / "episodes" / "step_00004.jsonl").write_text("what never happened")
    (tmp_path / "episodes" / "step_00005.jsonl").write_text("what never happened")
    (tmp_path / "episodes" / "step_00005.tokens.json").write_text("what never happened")
    FakeEngine(step=2).fit([logging_to(tmp_path)])
    assert everything(tmp_path) == unbroken


def test_a_full_disk_is_reported_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(BadInput, match=r"metrics.jsonl: No space left on device.*checkpoints saved before are whole"):
        StepLog(tmp_path / "metrics.jsonl").append(1, 1, {"loss": 0.1})


def test_the_log_shows_the_headline_of_a_step(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        FakeEngine(last=1).fit([logging_to(tmp_path)])
    assert "step 1/4 reward 0.9650 success 1.0000 kl 0.0100 loss 0.1000" in caplog.text


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_shows_the_progress_bar(terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    FakeEngine().fit([ProgressBar("seed 1", 4, console)])
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert ("4/4" in shown and "reward 0.965 success 1.000 kl 0.010" in shown) is terminal
