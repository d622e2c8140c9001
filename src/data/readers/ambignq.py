"""AmbigNQ (Min et al. 2020): questions to a search engine, ambiguous or not, each reading with its own answer.

The dataset has no articles, so every reading is a page. A question without ambiguity has one page; a reading of an
ambiguous question, asked in full, is a complete question with the same pages.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from askgate_env.success import normalized
from askgate_env.tokenize import occurs, words
from askgate_env.types import Hidden

from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .articles import reads_well
from .natural_records import (
    NATURAL,
    Reading,
    SourceLists,
    contrast,
    meant_first,
    meant_reading,
    plain,
    reading_item,
    rows,
)

MAX_READINGS = 4
LONGEST_SPELLED_OUT = 14
"""Maximum number of words of a reading that is asked in full; longer ones are clumsy."""

_LISTS = SourceLists("ambignq")
_WORDS, _PATTERNS = _LISTS.words, _LISTS.patterns
_KIND_OF_PLACE = {place: kind for kind in ("region", "place") for place in _WORDS[f"{kind}s"]}
_NAMES_OF_PLACES = ("country", "region", "place")
_NAMES_OF_WORKS = ("film", "movie", "song", "show", "series")
_PARTS: dict[str, list[str]] = NATURAL["ambignq"]["parts"]
"""A place and those that are in it."""
_PLACES = {place.lower().removeprefix("the "): place for place in (*_WORDS["countries"], *_KIND_OF_PLACE)}
_MEDIUM = "|".join(sorted(_WORDS["media"], key=len, reverse=True))
_YEAR = re.compile(rf"(?:the )?(?:year )?((?:1[89]|20)\d\d)(?: ({_MEDIUM}))?")


class AmbigRecord(Struct, frozen=True):
    """A record of the dataset; `disambiguations` has one list of readings per annotator."""

    id: str
    question: str
    answer: tuple[str, ...]
    ambiguous: bool
    disambiguations: tuple[tuple[Reading, ...], ...] = ()


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[AmbigRecord] = rows(files, AmbigRecord)
    return [item for record in records for item in _items(record)], len(records)


def _items(record: AmbigRecord) -> list[Item]:
    group = f"ambignq:{record.id}"
    if not reads_well(plain(record.question)) or _PATTERNS["broken"].match(record.question):
        return []
    if not record.ambiguous:
        if not record.answer or not record.question.strip():
            return []
        return [reading_item(f"{group}/0", record.question, [Reading(record.question, record.answer)], 0)]
    annotations = [
        [one for one in some if one.answers and one.question.strip()][:MAX_READINGS] for some in record.disambiguations
    ]
    items = (ambiguous_item(f"{group}/1", record.question, readings) for readings in annotations)
    found = [item for item in items if item is not None][:1]
    for readings in filter(_can_be_spelled_out, annotations):
        meant = meant_reading(group, readings)
        # Quotes, which people leave out, would tell it from an ambiguous question.
        if not re.search(r"[\"“(:]", readings[meant].question):
            return [*found, reading_item(f"{group}/2", readings[meant].question, readings, meant)]
    return found


def _can_be_spelled_out(readings: list[Reading]) -> bool:
    """Whether a reading, asked in full, leaves nothing open and is short: the readings differ in one place."""
    questions = [one.question for one in readings]
    short = all(len(one.split()) <= LONGEST_SPELLED_OUT and one.count('"') % 2 == 0 for one in questions)
    return len(readings) > 1 and short and _differ(readings) and contrast(questions) is not None


def ambiguous_item(source_id: str, question: str, readings: list[Reading]) -> Item | None:
    """A question whose readings have different answers and different names. `None` if they have not, or if people would
    take one reading for granted."""
    has_default = (
        _WORDS["has_default"] & set(words(question))
        or _PATTERNS["settled"].search(question)
        or (re.match("where", question, re.I) and _in_one_place(readings))
    )
    if len(readings) < 2 or not _differ(readings) or has_default:
        return None
    phrases = contrast([reading.question for reading in readings])
    named = None if phrases is None else name_readings(question, phrases)
    if phrases is None or named is None or any(occurs(phrase, question) for phrase in phrases):
        return None
    noun, options = named
    meant = meant_reading(source_id, readings)
    texts = [question, *(answer for reading in readings for answer in reading.answers)]
    if any(occurs(option, text) for option in options for text in texts):
        return None  # the user would have to know the answer to say which one is meant
    ranked = meant_first(range(len(readings)), meant)
    # The year of a work is also asked for by `which film`, a region by `which country`.
    is_work = noun == "year" and _PATTERNS["work"].search(question) is not None
    other_nouns = _NAMES_OF_WORKS if is_work else _NAMES_OF_PLACES if noun in _NAMES_OF_PLACES else ()
    hidden = Hidden(
        kind="year" if noun == "year" else "place" if noun in _NAMES_OF_PLACES else "sense",
        span=options[meant],
        missing=f"which {noun} you mean" if noun else f"whether you mean {', '.join(options[:-1])} or {options[-1]}",
        about=(
            noun or "one",
            *other_nouns,
            *dict.fromkeys(word for one in (*phrases, *options) for word in words(one)),
        ),
        readings=tuple(tuple(dict.fromkeys((options[index], phrases[index]))) for index in ranked),
    )
    return reading_item(source_id, question, readings, meant, hidden, "several-readings")


def _differ(readings: list[Reading]) -> bool:
    """Whether no answer of one reading is, or is part of, an answer of another."""
    answers = [[normalized(answer) for answer in one.answers] for one in readings]
    pairs = [(a, b) for at, ours in enumerate(answers) for theirs in answers[:at] for a in ours for b in theirs]
    return not any(a in b or b in a for a, b in pairs)


def _in_one_place(readings: list[Reading]) -> bool:
    """Whether two readings are answered with the same place: `a suburb of Velt` and `Velt, Texas`."""
    named = [{word for one in each.answers for word in words(one.partition(",")[0])} for each in readings]
    named = [some - FUNCTION_WORDS for some in named]
    return any(some & other for at, some in enumerate(named) for other in named[:at])


def name_readings(question: str, phrases: list[str]) -> tuple[str, list[str]] | None:
    """The noun for what the readings differ in (empty if none fits), and a noun phrase for each reading.

    `None` if the words in which they differ are of no known kind, or if

    - they are years, and two are equal, or the question does not ask who or where about the past;
    - they are places, and one is part of another, or the question asks who, where or which;
    - one of them is `English`: who asks in English means that version.
    """
    bare = [_PATTERNS["leading"].sub("", phrase).strip(" ,()") for phrase in phrases]
    years = [_YEAR.fullmatch(one) for one in bare]
    if all(years):
        media = {year[2] for year in years if year}
        if not _PATTERNS["past"].match(question) or len({year[1] for year in years if year}) < len(bare):
            return None
        if media == {None}:
            return "year", [year[1] for year in years if year]
        return "version", [f"the {year[1]} {year[2] or 'version'}" for year in years if year]
    if all(one.lower().removeprefix("the ") in _PLACES for one in bare):
        places = [_PLACES[one.lower().removeprefix("the ")] for one in bare]
        overlap = any(part in places for one in places for part in _PARTS.get(one, ()))
        if overlap or re.match(r"(?:who|where|which)\b", question, re.I):
            return None
        kinds = [_KIND_OF_PLACE.get(one, "country") for one in places]
        return kinds[0] if len(set(kinds)) == 1 else "place" if "place" in kinds else "region", places
    if all(one in _WORDS["peoples"] for one in bare):
        if "English" in bare:
            return None  # a language: who asks in English means that version
        is_work = _PATTERNS["work"].search(question) or _PATTERNS["released"].search(question)
        return "version" if is_work else "one", [f"the {one} one" for one in bare]
    if all(one.lower().removeprefix("the ") in _WORDS["media"] for one in bare):
        return "", [f"the {one.removeprefix('the ')}" for one in bare]
    if all(_PATTERNS["numbered"].fullmatch(one) for one in bare):
        return bare[0].split()[0].lower(), [one[0].lower() + one[1:] for one in bare]
    if all(one.lower() in _WORDS["fields"] for one in bare):
        return "", bare
    return None
