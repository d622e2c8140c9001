"""All gates, each measured for itself: one that cannot be measured fails, and the others are measured all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.errors import BadInput
from .ablation import ablation_findings
from .config import config_findings
from .data import difficulty_findings, pool_findings
from .disk import disk_findings
from .finding import Finding, unmeasured
from .fresh import fresh_findings
from .look import Look
from .penalty import penalty_findings
from .reward import calibration_findings, shadow_findings, weights_findings
from .scoring import scoring_again, scoring_findings

Gate = Callable[[Look], list[Finding]]
STORED: dict[str, Gate] = {
    "pool": pool_findings,
    "difficulty": difficulty_findings,
    "weights": weights_findings,
    "calibration": calibration_findings,
    "shadow": shadow_findings,
    "penalty": penalty_findings,
    "ablation": ablation_findings,
    "config": config_findings,
}
"""Gates that follow from files alone; both rounds measure the same on the same files."""


def measured(gates: Mapping[str, Gate], look: Look) -> list[Finding]:
    out: list[Finding] = []
    for name, gate in gates.items():
        try:
            out += gate(look)
        except BadInput as error:
            out.append(unmeasured(name, error))
    return out


def of_round(environment: Mapping[str, str]) -> dict[str, Gate]:
    """Gates that hold for the moment of a round."""
    return {
        "disk": disk_findings,
        "fresh": fresh_findings,
        "scoring": lambda look: scoring_findings(look, environment),
    }


def of_round_again(provider: str) -> dict[str, Gate]:
    """What is left of them in the files afterwards."""
    return {"fresh": fresh_findings, "scoring": lambda look: scoring_again(look, provider)}
