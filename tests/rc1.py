"""Profile rc1, whose thresholds are the founding documents' numbers."""

from __future__ import annotations

from src.config.profile import load_profile
from src.data.difficulty.validate_difficulty import DifficultyLimits
from src.data.quality.validate_pool import PoolLimits

RC1 = load_profile("rc1")
THRESHOLDS = RC1.thresholds
CALIBRATION = THRESHOLDS.calibration.model_dump()
"""Keyword arguments of a calibration: folds, resamples, L2 and seed."""
POOL_LIMITS = PoolLimits(**THRESHOLDS.pool.model_dump())
DIFFICULTY_LIMITS = DifficultyLimits(**THRESHOLDS.difficulty.model_dump())
