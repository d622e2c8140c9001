"""Values and limits that flags and builders share, so that neither can drift from the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .types import Level, Task

MIX: dict[Task, float] = {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}
DIFFICULTY_MIX: dict[Level, float] = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
"""Shares of a balanced pool."""
SEED = 20250820
TOOLS = ("wiki", "calc")
TEMPLATES = Path("templates/pack_v2")

MIN_TURNS = 5
"""A hard sample opens three articles, asks and answers; fewer turns leave no room for it."""
MIN_STEPS, MAX_STEPS = 1, 8
"""Tool calls, or operations, that a hard sample may take."""

SEED_POOL_FACTS = "seed_pool, its sidecar"
"""What a run stands on beside files that its config names: samples are made afresh by it."""
RESUME = "--resume (train.ppo_runner: --resume-from)"
"""How to go on with a run, for messages that do not know which command it was."""

SUM_TOLERANCE = 1e-6
"""How far shares may be from 1 together: 0.333333 three times is meant to be all."""

LEAK_NGRAM, LEAK_SIM = 5, 0.85
"""Tokens of a shingle in the leak check, and the similarity from which a sample counts as a leak."""


def as_flag(shares: Mapping[Task, float] | Mapping[Level, float]) -> str:
    """Shares as the command line takes them.

    >>> as_flag({"hotpotqa": 0.75, "gsm8k": 0.25})
    'hotpotqa:0.75,gsm8k:0.25'
    """
    return ",".join(f"{name}:{share:.2f}" for name, share in shares.items())
