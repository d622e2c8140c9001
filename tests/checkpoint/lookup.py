"""Checkpoints of a folder, found without opening it as a run would: nothing is moved or removed."""

from __future__ import annotations

from pathlib import Path

from src.checkpoint.store import Checkpoint, CheckpointFolder, find_latest, require_checkpoint


def newest_in(root: Path, mirror: Path | None = None) -> Checkpoint:
    """The newest undamaged checkpoint; a copy in the mirror replaces a damaged one."""
    folders = [CheckpointFolder(folder) for folder in (root, mirror) if folder]
    return require_checkpoint(*find_latest(folders), root)


def damaged_in(root: Path) -> list[str]:
    """Damaged checkpoints newer than that one: path, file and fault."""
    _, damaged = find_latest([CheckpointFolder(root)])
    return [one.what for one in damaged]
