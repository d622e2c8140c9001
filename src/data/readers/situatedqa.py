"""SituatedQA (Zhang and Choi 2021): questions whose answer depends on the date or on the place.

Every annotated date or place of an ambiguous question is a page. Of the questions whose answer changes with the date
only those about an event that takes place again and again are ambiguous: the others mean now. The file of places has
one place per question, so questions in nearly the same words are read as one question about several places.

Complete are the questions of the file of dates with one answer. Those of the file of places are not used with their
place added at the end (`who is guest judge in america`): nobody words them so, and the end would tell that they are
complete.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

from msgspec import Struct

from askgate_env.success import normalized
from askgate_env.tokenize import occurs, words
from askgate_env.types import Hidden

from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .natural_records import Reading, SourceLists, meant_first, meant_reading, reading_item, rows

MAX_READINGS = 3
MIN_SEEN = 2
"""Minimum number of questions about a place. The name of a rarer one may be misspelt, or that of a band."""
MIN_WORDS = 6
"""Minimum number of words of a question without its place. Complete questions are longer, so a shorter one would give
itself away."""
_LISTS = SourceLists("situatedqa")
_WORDS, _PATTERNS = _LISTS.words, _LISTS.patterns
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
        answer = unicodedata.normalize("NFC", " ".join(record.answer))
        if any(mark in answer for mark in _MISREAD) or not record.answer or answer.startswith("None"):
            continue
        if not _is_clear(record.question):
            continue
        if len(record.date) == 4:
            dated[record.id].append(record)
        elif record.location and seen[record.location] >= MIN_SEEN:
            placed[_same_question(record.question)].append(record)
    items = [_dated_item(group) for group in dated.values()]
    items += [_placed_item(group) for group in placed.values()]
    return [item for item in items if item is not None], len(dated) + len(placed)


def _is_clear(question: str) -> bool:
    """Whether a question is whole and grammatical enough to be understood."""
    half = question[: len(question) // 2].strip()
    twice = question.strip() == f"{half} {half}"
    broken = twice or _PATTERNS["cut_off"].search(question.strip()) or _PATTERNS["broken"].search(question)
    return _PATTERNS["asks"].match(question) is not None and not broken


def _same_question(question: str) -> tuple[str, ...]:
    """A key for questions in nearly the same words: the first word, and the sorted words that carry meaning."""
    content = {
        word.rstrip("s")
        for word in words(question)
        if word in _WORDS["kept"] or word not in FUNCTION_WORDS | _WORDS["says_nothing"]
    }
    return (words(question)[0], *sorted(content))


def _dated_item(group: list[SituatedRecord]) -> Item | None:
    """An ambiguous question about a recurring event, or a complete question if every date has the same answer.

    Other questions mean now, or the answers of all dates together. A question about a recurring event that is annotated
    with one answer only is not used: it leaves the date open, and the other answers are not known.
    """
    first: dict[str, SituatedRecord] = {}
    for record in sorted(group, key=lambda one: one.date):
        first.setdefault(normalized(record.answer[0]), record)
    source_id, question = f"situatedqa:{group[0].id}", group[0].question
    has_default = _PATTERNS["numbered"].search(question) or _WORDS["has_default"] & set(words(question))
    if _PATTERNS["event"].match(question) and not has_default:
        chosen = list(first.values())[-MAX_READINGS:]
        return _ambiguous(source_id, chosen, [one.date for one in chosen], "year") if len(first) > 1 else None
    if len(first) > 1:
        return None
    kept = list({one.date: one for one in group}.values())[:MAX_READINGS]
    # A question annotated for one date only is asked without it.
    readings = [Reading(one.edited_question if len(kept) > 1 else question, one.answer) for one in kept]
    return reading_item(source_id, f"{question}?", readings, 0)


def _placed_item(group: list[SituatedRecord]) -> Item | None:
    """One question about several places with different answers; `None` if there is only one."""
    first: dict[str, SituatedRecord] = {}
    places: set[str] = set()
    for record in group:
        place = _place(record.location)
        if place not in places and normalized(record.answer[0]) not in first:
            first[normalized(record.answer[0])] = record
            places.add(place)
    chosen = list(first.values())[:MAX_READINGS]
    if len(chosen) < 2:
        return None
    return _ambiguous(f"situatedqa:{group[0].id}", chosen, [_place(one.location) for one in chosen], "place")


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
    """A question whose readings differ in the year or place (`values`).

    `None` if the question or an answer contains one of the values, or if a place question is too short or about the
    speaker.
    """
    meant = meant_reading(source_id, chosen)
    question, value = chosen[meant].question, values[meant]
    if kind == "place" and (len(words(question)) < MIN_WORDS or _WORDS["speaker"] & set(words(question))):
        return None
    # If an answer contains the date or place, the user would have to know the answer to say which one is meant.
    texts = [question, *(answer for record in chosen for answer in record.answer)]
    if any(occurs(reading, text) for reading in values for text in texts):
        return None
    synonyms = ("date", "time", "when") if kind == "year" else ("country", "state", "city", "where", "location")
    hidden = Hidden(
        kind="year" if kind == "year" else "place",
        span=value,
        missing=f"which {kind} you mean",
        about=(kind, *synonyms),
        readings=((value, chosen[meant].location or value), *((one,) for one in meant_first(values, meant)[1:])),
    )
    readings = [Reading(one.edited_question, one.answer) for one in chosen]
    return reading_item(source_id, f"{question}?", readings, meant, hidden, f"no-{kind}")
