"""When a run goes back: the policy strayed from its base several steps running.

The weights and the optimizer return to the last good checkpoint and the learning rate falls for good. The count of
steps does not return, nor does the sampler: the same samples again would lead to the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALERTS = 3
"""So many running, and the run goes back."""
LR_FACTOR = 0.5
"""What each roll-back leaves of the learning rate."""


class Guard:
    """Counts alerts in a row. One step below the level, and the count begins anew."""

    def __init__(self, level: float | None, alerts: int = ALERTS, lr_factor: float = LR_FACTOR) -> None:
        self.level, self.most, self.lr_factor = level, alerts, lr_factor
        self.alerts = 0
        self.rollbacks = 0

    def strayed(self, kl: float) -> bool:
        """Takes the KL divergence of a step; True when it is time to go back. What is not a number is an alert."""
        self.alerts = 0 if self.level is None or kl <= self.level else self.alerts + 1
        if self.alerts < self.most:
            return False
        self.alerts = 0
        self.rollbacks += 1
        return True

    @property
    def lr_share(self) -> float:
        """What the roll-backs left of the learning rate."""
        return float(self.lr_factor**self.rollbacks)

    def state_dict(self) -> dict[str, Any]:
        return {"alerts": self.alerts, "rollbacks": self.rollbacks}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.alerts, self.rollbacks = int(state["alerts"]), int(state["rollbacks"])
