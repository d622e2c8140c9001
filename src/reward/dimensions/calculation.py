"""Is each stated calculation right? Equations in the policy's own words, and what it gave the calculator."""

from __future__ import annotations

import re
from fractions import Fraction

from ...agents.tools import CalcError, evaluate
from .numbers import LONGEST
from .seen import Seen

_EQUATION = re.compile(r"([\d(][\d\s.+\-*/×÷%()]*[+\-*/×÷][\d\s.()]*\d\)?)\s*[=＝]\s*(-?\d+(?:\.\d+)?)(?![\d%])")
_ITSELF = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:-|[<>=!]=?|==)\s*\1(?![\d.])")
_CLOSE = Fraction(1, 100)
"""Who rounds 41.166667 to 41.17 has calculated right."""


def calculation(seen: Seen) -> float:
    """The share of calculations that are right: a stated equation holds, the calculator was given one that makes sense.

    Nothing calculated is nothing wrong, except for a word problem, whose answer then came from nowhere.
    """
    stated = [equation for turn in seen.said for equation in _EQUATION.findall(f"{turn.thought}\n{_words(turn.text)}")]
    verdicts = [_holds(left, right) for left, right in stated]
    verdicts += [_worked(turn.text, result or "error") for turn, result in seen.calls if turn.tool == "calc"]
    if not verdicts:
        return 0.0 if seen.task == "gsm8k" else 1.0
    return sum(verdicts) / len(verdicts)


def _worked(expression: str, result: str) -> bool:
    """A number held against itself tells nothing: `1853 < 1853`."""
    return not result.startswith("error") and not _ITSELF.search(expression)


def _words(text: str) -> str:
    return text.replace(",", "")


def _holds(left: str, right: str) -> bool:
    """
    >>> _holds("3 × 4", "12"), _holds("3 * 4", "13")
    (True, False)
    """
    if len(right) > LONGEST:
        return False
    try:
        value = evaluate(left.replace("×", "*").replace("÷", "/"))
    except CalcError:
        return False
    return abs(value - Fraction(right)) <= _CLOSE
