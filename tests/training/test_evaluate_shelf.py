"""A run behind the gates is known by its seal, also where its config is one for local runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from src.checkpoint.seal import seal
from src.config.loader import load_train_config
from src.training.results import as_it_ran

CONFIG = Path("configs/quickstart_gated.yaml")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def final_model(shelf: str, profile: str, at: int) -> None:
    folder = Path("checkpoints") / shelf / "final_model"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    seal(folder, 1, {"profile": profile})
    os.utime(folder / "manifest.json", (at, at))


def test_before_any_run_it_is_as_written() -> None:
    assert as_it_ran(load_train_config(CONFIG)).profile == "local"


def test_the_newer_of_a_local_and_a_gated_run_is_meant() -> None:
    final_model("rc1", "quickstart", at=100)
    assert as_it_ran(load_train_config(CONFIG)).profile == "quickstart"
    final_model("local", "local", at=200)
    assert as_it_ran(load_train_config(CONFIG)).profile == "local"
    final_model("rc1", "quickstart", at=300)
    assert as_it_ran(load_train_config(CONFIG)).checkpoint_root.name == "rc1"
