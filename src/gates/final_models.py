"""Final models of a gated run: whether they belong to the ticket in this run folder."""

from __future__ import annotations

from pathlib import Path

from ..checkpoint.seal import Damaged, verify
from ..config.train_config import TrainConfig
from ..core import paths
from ..core.errors import BadInput
from ..core.files import sha256_file
from .report import TICKET


def final_models(config: TrainConfig, remedy: str = "train again: python -m train.ppo_runner") -> list[Path]:
    """The model folders, after checking that each is undamaged and sealed with the ticket in this run folder."""
    folders = paths.final_models(config.seeds)
    for folder in folders:
        try:
            marks = verify(folder).marks
        except Damaged as error:
            raise BadInput(str(error), where=str(folder), remedy=remedy) from None
        if not marks.get("gated") or marks.get("ticket") != sha256_file(TICKET):
            raise BadInput("was not trained behind the ticket in this run folder", where=str(folder), remedy=remedy)
    return folders
