"""Does every step start from something that was said? A name that nobody mentioned is a slip or an invention."""

from __future__ import annotations

import re
from fractions import Fraction

from .mention import mentioned
from .numbers import LONGEST, conversions, numbers
from .seen import Seen

_OPERAND = re.compile(r"\d+(?:\.\d+)?")


def grounding(seen: Seen) -> float:
    """The share of names looked up and numbers calculated with that user or tools had mentioned before.

    Numbers that converting units brings in need no mention. Who takes no step stands on nothing: 0.
    """
    found = [*known_names(seen), *known_numbers(seen)]
    return sum(found) / len(found) if found else 0.0


def known_names(seen: Seen) -> list[bool]:
    """For everything looked up, whether somebody had mentioned it; the title of an article needs no mention."""
    titles = {article.title for article in seen.context}
    return [
        turn.text in titles or mentioned(turn.text, seen.told_before(place))
        for place, turn in enumerate(seen.turns)
        if turn.act == "call" and turn.tool == "wiki"
    ]


def known_numbers(seen: Seen) -> list[bool]:
    """For every number calculated with, whether somebody had given it."""
    found: list[bool] = []
    for place, turn in enumerate(seen.turns):
        if turn.act == "call" and turn.tool == "calc":
            before = seen.told_before(place)
            known = numbers(before) | conversions(before)
            found += [len(operand) <= LONGEST and Fraction(operand) in known for operand in _OPERAND.findall(turn.text)]
    return found
