"""Asking where nothing is missing costs a little, each time, up to a limit.

`python -m src.evaluation.overclar_penalty --alpha 0.07 --cap 3 --ablation` is the door to `askgate overclar_penalty`:
training with and without the penalty, and the two compared.
"""

from __future__ import annotations

ALPHA, CAP = 0.07, 3


def over_clarification_penalty(needs_clarification: bool, asks: int, alpha: float = ALPHA, cap: int = CAP) -> float:
    """What is taken off the reward of an episode: `alpha * min(asks, cap)`, and nothing where it had to ask.

    >>> over_clarification_penalty(False, 1)
    0.07
    >>> over_clarification_penalty(False, 5) == over_clarification_penalty(False, 3)
    True
    >>> over_clarification_penalty(True, 5)
    0.0
    """
    return 0.0 if needs_clarification else alpha * min(asks, cap)
