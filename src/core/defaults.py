"""Default values and limits that command-line flags and builders share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

from askgate_env.types import Level, Task

Name = TypeVar("Name", bound=str)

ProfileName = Literal["quickstart", "rc1"]
SourceName = Literal["builtin", "dir", "hf", "ambignq", "situatedqa", "umwp", "in3", "abg_coqa", "messages"]

MIX: dict[Task, float] = {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}
DIFFICULTY_MIX: dict[Level, float] = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
"""Shares of a balanced pool."""
SEED = 20250820
TEMPLATES = Path("templates/pack_v2")
BASELINE = Path("configs/weights_baseline.json")
WEIGHTS = Path("configs/weights.json")
"""Weights of the reward: the baseline, and the ones that were calibrated here."""

MIN_TURNS = 5
"""A hard sample opens three articles, asks and answers; fewer turns leave no room for it."""
MIN_STEPS, MAX_STEPS = 1, 8
"""Range of tool calls, or operations, of a hard sample."""

CODE = "code of AskGate"
"""Name, among the sources of a run, of the code that runs and the texts that come with it."""
SEED_POOL_FACTS = "seed_pool, its sidecar"
"""Name, among the sources of a run, of the pool's sidecar, which fresh samples are generated from."""
RESUME = "--resume (ppo-runner: no flag)"
"""How to resume a run, for messages that do not know the command."""
NO_RESUME = "--resume (ppo-runner: --resume-from)"
"""Which flag to leave out to start a new run, for such messages."""

DIALOGUES = 12
"""Number of dialogues of each policy that a deep verification generates again."""
MIX_TOLERANCE = 0.03
"""Maximum difference between a task's share of a pool and the requested share."""
MIN_SAMPLES = 30
"""Minimum number of episodes for comparing scores or calibrating weights; fewer show nothing."""
SUM_TOLERANCE = 1e-6
"""Tolerance of a sum of shares: three times 0.333333 counts as 1."""


def as_flag(shares: Mapping[Name, float]) -> str:
    """Shares in the format of the command line.

    >>> as_flag({"hotpotqa": 0.75, "gsm8k": 0.25})
    'hotpotqa:0.75,gsm8k:0.25'
    """
    return ",".join(f"{name}:{share:.2f}" for name, share in shares.items())
