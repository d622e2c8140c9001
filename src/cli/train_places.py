"""Where a run of training has its things, and whether one that was broken off lies there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..config.train import TrainConfig


def of_seed(config: TrainConfig, folder: Path, seed: int) -> Path:
    """Where several seeds share a folder, each has its own inside."""
    return folder / f"seed_{seed}" if config.several_seeds else folder


def mirrored(config: TrainConfig) -> Path:
    """A folder of this profile inside the mirror, which may be the root of a drive."""
    assert config.checkpoint.mirror
    return config.checkpoint.mirror / config.shelf


def mirror_of(config: TrainConfig, seed: int) -> Path | None:
    return of_seed(config, mirrored(config), seed) if config.checkpoint.mirror else None


def broken_off(config: TrainConfig, ticket_sha256: str) -> bool:
    """Whether a run with this very ticket and config left checkpoints, here or in the mirror, and has not ended."""
    from ..core.checkpoint import FINAL
    from ..core.found import search
    from ..core.shelf import Shelf

    same = {"ticket": ticket_sha256, "config": config.model_dump(mode="json")}
    begun, ended = False, True
    for seed in config.seeds:
        shelves = [Shelf(place) for place in (config.checkpoints(seed), mirror_of(config, seed)) if place]
        found, _ = search(shelves)
        if found and same != {key: found.marks.get(key) for key in same}:
            return False
        begun = begun or found is not None
        ended = ended and any((shelf.path / FINAL).exists() for shelf in shelves)
    return begun and not ended
