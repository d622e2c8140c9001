"""Is the answer complete and in form: there at all, of the kind that was asked for, and said in well-formed turns?"""

from __future__ import annotations

import re

from ...agents.success import number, verdict
from ...core.tokenize import words
from .seen import Seen

MOST_WORDS = 16
"""A name or a title is shorter; more is an essay, and a reader has to look for the answer in it."""
_BROKEN = re.compile(r"�|</?(?:ask|wiki|calc|answer|think)>|<\|")
_YEAR_WANTED = re.compile(r"\b(?:what|which) year\b|\bin what year\b|[何哪]年|哪一年|什么年份")


def form(seen: Seen) -> float:
    """0 without an answer or with one of the wrong kind; else the share of turns that were well-formed."""
    if seen.end != "answer" or seen.answer is None or not _of_the_kind(seen, seen.answer):
        return 0.0
    whole = [turn.act != "say" and not _BROKEN.search(turn.text) for turn in seen.said]
    return sum(whole) / len(whole)


def _of_the_kind(seen: Seen, answer: str) -> bool:
    if _BROKEN.search(answer):
        return False
    if seen.task == "gsm8k":
        return number(answer) is not None
    if seen.task == "strategyqa":
        return verdict(answer) is not None
    if verdict(answer) is not None or "\n" in answer:
        return False
    if _YEAR_WANTED.search(seen.prompt.casefold()) and not re.search(r"\d", answer):
        return False
    return 0 < len(words(answer)) <= MOST_WORDS
