"""The over-clarification penalty: its three cases, run from the package, and its ablation, counted again."""

from __future__ import annotations

from ..core.check import check
from ..reward.overclar_penalty import ALPHA, CAP, over_clarification_penalty
from .finding import Finding, found
from .look import Look

CASES = (
    (False, 0, 0.0),
    (False, 1, ALPHA),
    (False, 2, 2 * ALPHA),
    (False, 5, CAP * ALPHA),
    (True, 1, 0.0),
    (True, 5, 0.0),
)
"""needs_clarification, asks, and what it costs: not triggered; c = 1, 2, 5; an ask that was needed."""
_MEND = (
    "over_clarification_penalty() does not give what it must; install the package again",
    "over_clarification_penalty() 的结果不对；请重新安装",
)


def penalty_findings(look: Look) -> list[Finding]:
    wrong = sum(abs(over_clarification_penalty(needs, asks) - cost) > 1e-12 for needs, asks, cost in CASES)
    return found("penalty", [check("penalty_cases_wrong", wrong, "==", 0, *_MEND)], {})
