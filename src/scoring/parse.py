"""A judge's reply as scores, or the reason why it is none. Strict: a reply that does not fit is never guessed at."""

from __future__ import annotations

import json
import re
from collections import Counter

TOP = 10
"""Judges give whole or decimal numbers from 0 to 10; scores are these over 10."""
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class BadReply(ValueError):
    """The reply is not a vote. The text says why."""


def parse_scores(reply: str, dimensions: tuple[str, ...]) -> dict[str, float]:
    """Exactly the dimensions asked for, each a number from 0 to 10.

    A reasoning block before the JSON and a code fence around it are what reasoning models send; they are taken off.

    >>> parse_scores('{"logic": 7}', ("logic",))
    {'logic': 0.7}
    """
    text = _THOUGHT.sub("", reply, count=1).strip()
    if fenced := _FENCE.match(text):
        text = fenced[1]
    if not text:
        raise BadReply("it is empty")
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except BadReply:
        raise
    except (ValueError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadReply(f"a JSON object was asked for, not {type(found).__name__}")
    if absent := [name for name in dimensions if name not in found]:
        raise BadReply(f"dimension {absent[0]} is missing")
    if strange := sorted(set(found) - set(dimensions)):
        raise BadReply(f"dimension {strange[0][:40]} was not asked for")
    return {name: _score(name, found[name]) for name in dimensions}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """JSON lets a key come twice; which of the two marks is meant would be a guess."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise BadReply(f"dimension {name[:40]} is given {count} times")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise BadReply(f"{name} is not a number")


def _score(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadReply(f"{name} is not a number")
    if not 0 <= value <= TOP:
        # Cut, because a whole number in JSON may have any length.
        raise BadReply(f"{name} is {str(value)[:20]}, outside 0..{TOP}")
    return value / TOP
