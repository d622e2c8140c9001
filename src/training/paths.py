"""Where a run of training has its things."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..config.train_config import TrainConfig


def of_seed(config: TrainConfig, folder: Path, seed: int) -> Path:
    """Where several seeds share a folder, each has its own inside."""
    return folder / f"seed_{seed}" if config.several_seeds else folder


def mirrored(config: TrainConfig) -> Path:
    """A folder of this profile inside the mirror, which may be the root of a drive."""
    assert config.checkpoint.mirror
    return config.checkpoint.mirror / config.checkpoint_root.name


def mirror_of(config: TrainConfig, seed: int) -> Path | None:
    return of_seed(config, mirrored(config), seed) if config.checkpoint.mirror else None


def roots(config: TrainConfig) -> list[Path]:
    """Of all its checkpoints; the mirror's too, where there is one."""
    return [config.checkpoint_root, *([mirrored(config)] if config.checkpoint.mirror else [])]


def told_roots(config: TrainConfig) -> str:
    return " and ".join(map(str, roots(config)))
