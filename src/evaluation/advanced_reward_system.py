"""The calibrated dimensions of the reward, under the name that the founding documents use."""

from __future__ import annotations

from askgate_env.reward import AdvancedReward

__all__ = ["AdvancedReward"]
