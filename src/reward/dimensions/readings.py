"""Signs that a question can be read in two ways: from what the tools showed and the user said, and from nothing else.

Two articles share a name that the user gave without saying which; or a fact is listed for several years and the user
named none of them.
"""

from __future__ import annotations

import re

from ...agents.success import verdict
from ...core.types import Turn
from .mention import mentioned
from .seen import Seen

_HIT = re.compile(r"^\d+\. (?P<name>.+?) ?[(（](?P<which>[^()（）]+)[)）]: ", re.MULTILINE)
_COMMA = re.compile("[,，]")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")
_ONE_LIFE = re.compile(r"\b(?:born|died|lived)\b|\d{4}\s?[-–]\s?\d{4}|\bfrom \d{4} to\b|生于|逝|卒")
"""Two years in such a sentence are the two ends of something, not two readings."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


def two_readings(seen: Seen) -> bool:
    """Whether the policy went on although it had been shown two readings and the user had chosen neither."""
    return _shared_name(seen) or _no_year(seen)


def _shared_name(seen: Seen) -> bool:
    user = seen.user_words.casefold()
    for _, result in seen.calls:
        namesakes: dict[str, list[set[str]]] = {}
        for hit in _HIT.finditer(result or ""):
            tags = {tag.strip().casefold() for tag in _COMMA.split(hit["which"])}
            namesakes.setdefault(hit["name"], []).append(tags)
        for name, tagged in namesakes.items():
            telling = {tag for tags in tagged for tag in tags if not all(tag in others for others in tagged)}
            if len(tagged) > 1 and name in seen.prompt and not any(tag in user for tag in telling):
                return True
    return False


def _no_year(seen: Seen) -> bool:
    """A value was taken from a list by years. What the user named or the article is about was not chosen from it."""
    user = seen.user_words
    named = set(_YEAR.findall(user))
    for place, turn in enumerate(seen.turns):
        if turn.tool != "wiki" or turn.by != "tool":
            continue
        given = f"{user}\n{turn.text.partition(':')[0]}"
        taken = {value for later in seen.turns[place + 1 :] for value in _values(later) if not mentioned(value, given)}
        for sentence in _SENTENCE.split(turn.text):
            years = set(_YEAR.findall(sentence))
            listed = len(years) > 1 and not years & named and not _ONE_LIFE.search(sentence)
            if listed and any(mentioned(value, sentence) for value in taken - years):
                return True
    return False


def _values(turn: Turn) -> list[str]:
    """What a turn of the policy took up."""
    if turn.act == "answer":
        return [turn.text] if verdict(turn.text) is None else []
    if turn.act == "call" and turn.tool == "wiki":
        return [turn.text]
    return _AMOUNT.findall(turn.text) if turn.act == "call" else []
