"""Sentences from plans with slots: `While {dish} cooks, I {idle}.` and a list of fillers for every slot."""

from __future__ import annotations

from random import Random
from string import Formatter

Plan = tuple[tuple[str, tuple[str, ...]], ...]
"""Fixed text and the fillers that follow it, in turn."""


def listed(slots: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Fillers are written with bars between them; with blanks where each is one word.

    >>> listed({"drink": "tea cocoa", "dish": "pea soup|stew"})
    {'drink': ('tea', 'cocoa'), 'dish': ('pea soup', 'stew')}
    """
    return {
        slot: tuple(" ".join(filler.split()) for filler in (text.split("|") if "|" in text else text.split()))
        for slot, text in slots.items()
    }


def compile_plan(pattern: str, fillers: dict[str, tuple[str, ...]]) -> Plan:
    """Done at import, so that a sentence costs no more than its choices.

    >>> compile_plan("I {do}.", {"do": ("knit", "bake")})
    (('I ', ('knit', 'bake')), ('.', ('',)))
    """
    pieces = Formatter().parse(pattern)
    return tuple((text, fillers[slot] if slot else ("",)) for text, slot, _, _ in pieces)


def fill(rng: Random, plans: tuple[Plan, ...]) -> str:
    """A sentence by one plan, every plan as likely as the others."""
    return "".join([text + rng.choice(fillers) for text, fillers in rng.choice(plans)])
