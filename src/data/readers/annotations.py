"""GSM8K's `<<48/2=24>>` marks: the calculations of a solution, checked with our own `calc`, and merged into fewer.

>>> [step.expression for step in parse_solution("May: 48/2 = <<48/2=24>>24.\\nAll: <<48+24=72>>72.")]
['48/2', '48+24']
"""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from ...agents.tools.calc import CalcError, evaluate

NOTE_CHARS = 140
EXPRESSION_CHARS = 80
_MARK = re.compile(r"<<([^<>]*)>>")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?![\w.])")


class Calculation(Struct, frozen=True):
    expression: str
    value: Fraction
    note: str = ""
    """The annotator's sentence, without the marks."""


def parse_number(text: str) -> Fraction | None:
    """`1,200` and `$7.50` as numbers; `None` for anything else."""
    cleaned = text.strip().replace(",", "").replace("$", "").rstrip(".").removesuffix("%")
    if not re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)", cleaned):
        return None
    return Fraction(cleaned)


def parse_solution(solution: str) -> tuple[Calculation, ...]:
    """Every mark in order; empty where there is none or one of them does not compute to what it says."""
    found: list[Calculation] = []
    for line in solution.splitlines():
        note = " ".join(_MARK.sub("", line).split())
        for mark in _MARK.findall(line):
            expression, _, stated = mark.rpartition("=")
            cleaned = expression.replace("$", "").replace(",", "").replace(" ", "")
            value = parse_number(stated)
            if value is None or not _computes(cleaned, value):
                return ()
            found.append(Calculation(cleaned, value, note if len(note) <= NOTE_CHARS else ""))
    return tuple(found)


def merge(steps: tuple[Calculation, ...], count: int, given: frozenset[Fraction]) -> tuple[Calculation, ...] | None:
    """The same calculation in `count` steps: a result is put, in brackets, where a later step uses it.

    `given` are the numbers of the problem. A result that equals one of them is not merged, for nobody can tell which
    of the two the later step means. `None` where the steps cannot be brought down to `count`.
    """
    merged = list(steps)
    while len(merged) > count:
        for place in range(len(merged) - 1):
            shorter = None if merged[place].value in given else _substituted(merged, place)
            if shorter is not None:
                merged = shorter
                break
        else:
            return None
    return tuple(merged)


def operands(expression: str) -> list[Fraction]:
    return [Fraction(number) for number in _NUMBER.findall(expression)]


def _substituted(steps: list[Calculation], place: int) -> list[Calculation] | None:
    """The steps without that one, its expression standing for its value in every later step that uses it."""
    early = steps[place]

    def in_its_place(found: re.Match[str]) -> str:
        return f"({early.expression})" if Fraction(found[0]) == early.value else found[0]

    out = steps[:place]
    used = False
    for step in steps[place + 1 :]:
        expression = _NUMBER.sub(in_its_place, step.expression)
        if expression != step.expression:
            used = True
            if len(expression) > EXPRESSION_CHARS or not _computes(expression, step.value):
                return None
        out.append(Calculation(expression, step.value, step.note))
    return out if used else None


def _computes(expression: str, value: Fraction) -> bool:
    try:
        got = evaluate(expression)
    except CalcError:
        return False
    return not isinstance(got, bool) and abs(got - value) <= Fraction(1, 10**6)
