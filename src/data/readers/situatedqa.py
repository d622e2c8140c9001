"""SituatedQA (Zhang and Choi 2021): questions whose answer depends on the date or on the place.

Every annotated date or place is a page. A question with one answer for all its dates is complete, with the same pages.
Of the questions whose answer changes with the date only those about an event that takes place again and again are
ambiguous: the others mean now. The file of places has one place per question, so questions in nearly the same words are
read as one question about several places; the others are complete with their place.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from msgspec import Struct

from askgate_env.success import normalized
from askgate_env.tokenize import occurs, words
from askgate_env.types import Hidden

from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .natural_records import Reading, SourceLists, meant_first, meant_reading, reading_item, rows

MOST_READINGS = 3
LEAST_SEEN = 2
"""Number of questions about a place below which its name may be misspelt, or the name of a band."""
_LISTS = SourceLists("situatedqa")
_WORDS, _FIND = _LISTS.words, _LISTS.find
_MISREAD = ("Ã", "Â", "â€", "a\u0302\u20ac")
"""Marks of text that was read in the wrong encoding."""
_SAME_PLACE: dict[str, str] = {
    alias: names.split(", ")[0] for names in _WORDS["same_place"] for alias in names.lower().split(", ")
}


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
    seen = Counter(record.location for record in records)
    for record in records:
        answer = " ".join(record.answer)
        if any(mark in answer for mark in _MISREAD) or not record.answer or answer.startswith("None"):
            continue
        if not _is_clear(record.question):
            continue
        if len(record.date) == 4:
            dated[record.id].append(record)
        elif record.location and seen[record.location] >= LEAST_SEEN:
            placed[_same_question(record.question)].append(record)
    items = [_dated_item(group) for group in dated.values()]
    items += [item for group in placed.values() for item in _placed_items(group)]
    return [item for item in items if item is not None], len(dated) + len(placed)


def _is_clear(question: str) -> bool:
    """Whether a question is whole and grammatical enough to be understood."""
    half = question[: len(question) // 2].strip()
    twice = question.strip() == f"{half} {half}"
    broken = twice or _FIND["cut_off"].search(question.strip()) or _FIND["broken"].search(question)
    return _FIND["asks"].match(question) is not None and not broken


def _same_question(question: str) -> tuple[str, ...]:
    """Words of a question that tell it from others, in any order."""
    telling = {
        word.rstrip("s")
        for word in words(question)
        if word in _WORDS["kept"] or word not in FUNCTION_WORDS | _WORDS["says_nothing"]
    }
    return (words(question)[0], *sorted(telling))


def _dated_item(group: list[SituatedRecord]) -> Item | None:
    """A question about an event that takes place again and again, or a complete one if every date has the same answer.

    Other questions mean now, or the answers of all dates together.
    """
    first: dict[str, SituatedRecord] = {}
    for record in sorted(group, key=lambda one: one.date):
        first.setdefault(normalized(record.answer[0]), record)
    source_id = f"situatedqa:{group[0].id}"
    if len(first) > 1:
        question = group[0].question
        if not _FIND["event"].match(question) or _WORDS["has_default"] & set(words(question)):
            return None
        chosen = list(first.values())[-MOST_READINGS:]
        return _ambiguous(source_id, chosen, [one.date for one in chosen], "year")
    kept = list({one.date: one for one in group}.values())[:MOST_READINGS]
    readings = [Reading(one.edited_question, one.answer) for one in kept]
    return reading_item(source_id, f"{group[0].question}?", readings, 0)


def _placed_items(group: list[SituatedRecord]) -> list[Item]:
    """One question about several places; else each question in full, which is complete."""
    first: dict[str, SituatedRecord] = {}
    places: set[str] = set()
    for record in group:
        place = _place(record.location)
        if place not in places and normalized(record.answer[0]) not in first:
            first[normalized(record.answer[0])] = record
            places.add(place)
    chosen = list(first.values())[:MOST_READINGS]
    if len(chosen) > 1:
        item = _ambiguous(f"situatedqa:{group[0].id}", chosen, [_place(one.location) for one in chosen], "place")
        return [item] if item is not None else []
    one = group[0]
    if {"we", "us", "our"} & set(words(one.question)) or not re.search(
        rf"\b(?:in|of) {re.escape(one.location)}$", one.edited_question
    ):
        return []
    return [
        reading_item(f"situatedqa:{one.id}", f"{one.edited_question}?", [Reading(one.edited_question, one.answer)], 0)
    ]


def _place(location: str) -> str:
    """The name of a place with its capitals; one name for a place that has several.

    >>> _place("grand prairie tx"), _place("us"), _place("the soviet union")
    ('Grand Prairie TX', 'the United States', 'the Soviet Union')
    """
    location = location.lower()
    if location in _SAME_PLACE:
        return _SAME_PLACE[location]
    parts = location.split()
    kept = {"the", "of", "and"}
    short = [part.upper() if at and len(part) == 2 and part not in kept else part for at, part in enumerate(parts)]
    return " ".join(part if part in kept or part.isupper() else part.capitalize() for part in short)


def _ambiguous(source_id: str, chosen: list[SituatedRecord], values: list[str], kind: str) -> Item | None:
    at = meant_reading(source_id, chosen)
    question, value = chosen[at].question, values[at]
    if any(occurs(one, question) for one in values):
        return None
    if any(occurs(one, answer) for record in chosen for answer in record.answer for one in values):
        return None  # the user would have to know the answer to say which one is meant
    synonyms = ("date", "time", "when") if kind == "year" else ("country", "state", "city", "where", "location")
    hidden = Hidden(
        kind="year" if kind == "year" else "place",
        span=value,
        missing=f"which {kind} you mean",
        about=(kind, *synonyms),
        readings=((value, chosen[at].location or value), *((one,) for one in meant_first(values, at)[1:])),
    )
    readings = [Reading(one.edited_question, one.answer) for one in chosen]
    return reading_item(source_id, f"{question}?", readings, at, hidden, f"no-{kind}")
