"""What a run left behind, and what a refusal says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from src.core.paths import all_runs
from tests.conftest import Outcome
from tests.reproducible_metrics import reproducible_metrics


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def same_metrics(path: Path) -> list[dict[str, float]]:
    return [reproducible_metrics(line) for line in lines(path)]


def weights(folder: Path) -> bytes:
    return (folder / "checkpoints" / "local" / "final_model" / "model.safetensors").read_bytes()


def only_run() -> Path:
    (run,) = all_runs()
    return run


def assert_refused(outcome: Outcome, *said: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.err.startswith("askgate: ")
    assert outcome.err.count("\n") == 1
    assert "What to do: " in outcome.err
    for words in said:
        assert words in outcome.err


def files_of(run: Path) -> dict[str, bytes]:
    return {file.relative_to(run).as_posix(): file.read_bytes() for file in run.rglob("*") if file.is_file()}
