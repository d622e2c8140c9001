"""Checkpoints in a folder, found without opening it as a run would: nothing is moved or swept."""

from __future__ import annotations

from pathlib import Path

from src.checkpoint.store import Checkpoint, CheckpointFolder, find_latest, require_checkpoint


def newest_in(root: Path, mirror: Path | None = None) -> Checkpoint:
    """The newest whole checkpoint; a copy in the mirror replaces a damaged one."""
    folders = [CheckpointFolder(folder) for folder in (root, mirror) if folder]
    return require_checkpoint(*find_latest(folders), root)


def damaged_in(root: Path) -> list[str]:
    """The damaged checkpoints that are newer: path, file and what is wrong with it."""
    _, damaged = find_latest([CheckpointFolder(root)])
    return [one.what for one in damaged]
