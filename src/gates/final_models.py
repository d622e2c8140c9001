"""Final models of a gated run: where they are stored, and whether they belong to the ticket in this run folder."""

from __future__ import annotations

from pathlib import Path

from ..checkpoint.seal import Damaged, verify
from ..config.train import TrainConfig
from ..core.errors import BadInput
from ..core.files import sha256_file
from .report import TICKET

CHECKPOINTS = Path("checkpoints/rc1")
"""Folder of a gated run's checkpoints, whatever its config says."""


def model_folders(config: TrainConfig) -> list[Path]:
    """One folder per seed; a run with a single seed has no folder of its own for it."""
    if not config.several_seeds:
        return [CHECKPOINTS / "final_model"]
    return [CHECKPOINTS / f"seed_{seed}" / "final_model" for seed in config.seeds]


def final_models(config: TrainConfig, remedy: str = "train again: python -m train.ppo_runner") -> list[Path]:
    """The model folders, after checking that each is undamaged and sealed with the ticket in this run folder."""
    folders = model_folders(config)
    for folder in folders:
        try:
            marks = verify(folder).marks
        except Damaged as error:
            raise BadInput(str(error), where=str(folder), remedy=remedy) from None
        if not marks.get("gated") or marks.get("ticket") != sha256_file(TICKET):
            raise BadInput("was not trained behind the ticket in this run folder", where=str(folder), remedy=remedy)
    return folders
