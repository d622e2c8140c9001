"""A run that begins anew moves what an earlier one left out of the way, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.config.loader import load_train_config
from src.training.run import set_aside


def test_checkpoints_move_and_folders_made_beforehand_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_train_config(Path("configs/quickstart.yaml"))
    shelf = tmp_path / config.checkpoint_root
    (shelf / "best").mkdir(parents=True)
    set_aside(config)
    assert [path.name for path in shelf.parent.iterdir()] == [shelf.name]

    (shelf / "best/step_00002.json").touch()
    set_aside(config)
    moved = list(shelf.parent.iterdir())
    assert [path.name.startswith(f"{shelf.name}_before_") for path in moved] == [True]
    assert (moved[0] / "best/step_00002.json").exists()
