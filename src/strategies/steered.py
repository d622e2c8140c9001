"""What PPO and GRPO share: a KL penalty whose weight adapts, and is all that they remember from step to step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import kl
from .options import at_least


class Steered:
    """`targets` leaves the figures of a batch in `_seen`; `kl` among them steers the weight."""

    def __init__(self, kl_coef: float, target_kl: float | None) -> None:
        self._kl = kl.KLControl(at_least("kl_coef", kl_coef), target_kl)
        self._seen: dict[str, float] = {}

    @property
    def kl_coef(self) -> float:
        return self._kl.coef

    def after_step(self, metrics: Mapping[str, float]) -> None:
        """Reads `kl`, which `metrics` of this class gave; an engine of several processes averages it first."""
        self._kl.update(metrics["kl"])

    def metrics(self) -> dict[str, float]:
        return {**self._seen, "kl_coef": self.kl_coef}

    def state_dict(self) -> dict[str, Any]:
        return self._kl.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._kl.load_state_dict(state)
