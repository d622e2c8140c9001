"""Profile rc1, whose thresholds are the founding documents' numbers."""

from __future__ import annotations

from src.config.profile import load_profile

RC1 = load_profile("rc1")
THRESHOLDS = RC1.thresholds
CALIBRATION = THRESHOLDS.calibration.model_dump()
"""Keyword arguments of a calibration: folds, resamples, L2 and seed."""
POOL_LIMITS = THRESHOLDS.pool
DIFFICULTY_LIMITS = THRESHOLDS.difficulty
