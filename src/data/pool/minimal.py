"""The smallest data that a first training run needs: a training pool and an evaluation pool of other source ids."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ...core.defaults import MIX, SEED, TEMPLATES
from .build import build_pool
from .plan import BuildPlan

TRAIN, EVAL = 120, 40


def make_minimal(folder: Path) -> tuple[Path, Path]:
    """Writes `train_min.jsonl` and `eval_min.jsonl`; always the same bytes."""
    train, held_out = folder / "train_min.jsonl", folder / "eval_min.jsonl"
    build_pool(_plan(TRAIN, "train"), train)
    build_pool(_plan(EVAL, "shadow"), held_out)
    return train, held_out


def _plan(n: int, split: Literal["train", "shadow"]) -> BuildPlan:
    return BuildPlan(
        n=n,
        mix=MIX,
        seed=SEED,
        langs=(),
        templates_dir=TEMPLATES,
        split=split,
    )
