"""SituatedQA (Zhang and Choi 2021): questions whose answer depends on the date or on the place.

Every annotated date or place is a page. A question with one answer for all its dates is complete, with the same pages.
The file of places has one place per question, so questions in nearly the same words are read as one question about
several places; the others have no second reading and are left aside.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path

from msgspec import Struct

from ...agents.success import normalized
from ...core.tokenize import occurs, words
from ...core.types import Hidden
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .ambignq import complete_item, query
from .natural import Reading, page, rows

MOST_READINGS = 3
_SAYS_NOTHING = frozenset("current currently now name we us our today".split())
_MISREAD = ("Ã", "â€")
"""Marks of text that was read in the wrong encoding."""
_NOW = frozenset("current currently now today recent recently latest last next this new".split())
_KEPT = frozenset("first last next before after most".split())


class SituatedRecord(Struct, frozen=True):
    """A row of the files: the question with a date, or with a place."""

    question: str
    id: int
    edited_question: str
    answer: tuple[str, ...]
    date: str = ""
    location: str = ""


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[SituatedRecord] = rows(files, SituatedRecord)
    dated: dict[int, list[SituatedRecord]] = defaultdict(list)
    placed: dict[tuple[str, ...], list[SituatedRecord]] = defaultdict(list)
    for record in records:
        if any(mark in " ".join(record.answer) for mark in _MISREAD):
            continue
        if len(record.date) == 4 and record.answer:
            dated[record.id].append(record)
        elif record.location and record.answer:
            placed[_same_question(record.question)].append(record)
    items = [_dated_item(group) for group in dated.values()] + [_placed_item(group) for group in placed.values()]
    return [item for item in items if item is not None], len(dated) + len(placed)


def _same_question(question: str) -> tuple[str, ...]:
    """Words of a question that tell it from others, in any order."""
    telling = {
        word.rstrip("s")
        for word in words(question)
        if word in _KEPT or (word not in FUNCTION_WORDS and word not in _SAYS_NOTHING)
    }
    return (words(question)[0], *sorted(telling))


def _dated_item(group: list[SituatedRecord]) -> Item | None:
    """An ambiguous question, or a complete one if every date has the same answer."""
    first: dict[str, SituatedRecord] = {}
    for record in sorted(group, key=lambda one: one.date):
        first.setdefault(normalized(record.answer[0]), record)
    source_id = f"situatedqa:{group[0].id}"
    if _NOW & set(words(group[0].question)):
        return None  # the latest year is meant
    if len(first) > 1:
        chosen = list(first.values())[-MOST_READINGS:]
        return _ambiguous(source_id, chosen, [one.date for one in chosen], "year", "year")
    kept = list({one.date: one for one in group}.values())[:MOST_READINGS]
    readings = [Reading(one.edited_question, one.answer) for one in kept]
    return complete_item(source_id, group[0].question, readings, 0)


def _placed_item(group: list[SituatedRecord]) -> Item | None:
    first: dict[str, SituatedRecord] = {}
    for record in group:
        if record.location not in {one.location for one in first.values()}:
            first.setdefault(normalized(record.answer[0]), record)
    chosen = list(first.values())[:MOST_READINGS]
    if len(chosen) < 2:
        return None
    return _ambiguous(f"situatedqa:{group[0].id}", chosen, [one.location for one in chosen], "place", "place")


def _ambiguous(source_id: str, chosen: list[SituatedRecord], values: list[str], kind: str, noun: str) -> Item | None:
    place = int.from_bytes(hashlib.sha256(source_id.encode()).digest()[:4]) % len(chosen)
    meant, value = chosen[place], values[place]
    readings = [Reading(one.edited_question, one.answer) for one in chosen]
    if any(occurs(one, meant.question) or value not in meant.edited_question for one in values):
        return None
    if any(occurs(one, answer) for record in chosen for answer in record.answer for one in values):
        return None  # the user would have to know the answer to say which year is meant
    others = [(one,) for at, one in enumerate(values) if at != place]
    synonyms = ("date", "time", "when") if kind == "year" else ("country", "state", "city", "where", "location")
    found = page(readings[place])
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=source_id,
        premise="",
        clue="",
        question=meant.question,
        original=meant.edited_question,
        context=tuple(dict.fromkeys(map(page, readings))),
        support=(meant.edited_question, *found.sentences),
        answer=meant.answer[0],
        aliases=meant.answer[1:],
        steps=(Step("wiki", query(meant.question)), Step("wiki", found.title)),
        hidden=Hidden(
            kind="year" if kind == "year" else "place",
            span=value,
            missing=f"which {noun} you mean",
            about=(noun, *synonyms),
            readings=((value,), *others),
        ),
        ask_after=1,
        ambiguity=(f"no-{noun}",),
    )
