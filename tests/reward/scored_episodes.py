"""Scored episodes of an invented policy: old dimensions correlate a little with success, new ones more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from askgate_env.types import LEVELS, TASKS
from src.core.jsonl import write_records
from src.reward.scored_episodes import ScoredEpisode, Scores, columns
from src.reward.weights import Baseline, read_baseline

BASELINE = Baseline(
    {"old_a": 0.3, "old_b": 0.25, "old_c": 0.2, "old_d": 0.15, "old_e": 0.1}, ("new_a", "new_b", "new_c")
)


def scored(
    n: int = 240,
    *,
    seed: int = 1,
    baseline: Baseline = BASELINE,
    old_knows: float = 0.25,
    new_knows: float = 0.8,
    per_sample: int = 1,
    live: bool = True,
) -> list[ScoredEpisode]:
    """Scored episodes.

    `old_knows`, `new_knows`: how strongly the dimensions depend on the quality; the rest is noise.
    """
    rng = np.random.default_rng(seed)
    quality = rng.random(n)
    success = rng.random(n) < 0.1 + 0.8 * (quality > 0.5)
    knows = np.array([old_knows] * len(baseline.weights) + [new_knows] * len(baseline.new))
    dims = np.clip(knows * quality[:, None] + (1 - knows) * rng.random((n, len(knows))), 0, 1)
    return [
        ScoredEpisode(
            id=f"e{place}",
            sample_id=f"s{place // per_sample}",
            source_id=f"q{place // per_sample}",
            split="train",
            task=TASKS[place % 3],
            level=LEVELS[place // 3 % 3],
            success=bool(success[place]),
            dims=dict(zip(baseline.names, row.tolist(), strict=True)),
            live=live,
        )
        for place, row in enumerate(dims)
    ]


def as_columns(episodes: Sequence[ScoredEpisode], baseline: Baseline = BASELINE) -> Scores:
    return columns(episodes, baseline.names, "episodes")


FIRST, SECOND = np.array([1.0, 0.0]), np.array([0.0, 1.0])
"""Weights that pick one of the two columns of `two_scores`."""


def two_scores(old_N: Any, new_N: Any, success_N: Any) -> Scores:
    """Columns with two scores of every episode, each episode of a sample of its own."""
    count = len(success_N)
    return Scores(
        names=("old", "new"),
        matrix_ND=np.stack([old_N, new_N], axis=1),
        success_N=np.asarray(success_N, dtype=np.float64),
        weight_N=np.ones(count),
        source_N=np.arange(count),
        task_N=np.full(count, "gsm8k"),
        level_N=np.full(count, ""),
        live_N=np.zeros(count, dtype=np.bool_),
    )


def write(path: Path, episodes: Sequence[ScoredEpisode]) -> Path:
    with open(path, "wb") as handle:
        write_records(handle, episodes)
    return path


def shipped_baseline() -> Baseline:
    return read_baseline(Path("configs/weights_baseline.json"))
