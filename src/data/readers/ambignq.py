"""AmbigNQ (Min et al. 2020): questions to a search engine, ambiguous or not, each reading with its own answer.

The dataset has no articles, so every reading is a page. A question without ambiguity has one page; a reading of an
ambiguous question, asked in full, is a complete question with the same pages.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

from msgspec import Struct

from ...agents.success import normalized
from ...core.tokenize import occurs, words
from ...core.types import Hidden
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .natural import NATURAL, Reading, contrast, page, rows

LONGEST_PHRASE = 9
"""Most words of a phrase that names a reading; longer ones make clumsy questions."""
MOST_READINGS = 4
SPELLED_OUT = 0.3
"""Share of the ambiguous records that also give a complete question, one of their readings in full."""


_NOT_FIRST = frozenset(
    "who whom whose what which when where why how is are was were do does did has have had will".split()
)
_NOT_LAST = frozenset("a an the of in on at to for by with from and or their his her its that is was did first".split())


class Disambiguation(Struct, frozen=True):
    question: str
    answer: tuple[str, ...]


class AmbigRecord(Struct, frozen=True):
    """A record of the dataset; `disambiguations` has one list of readings per annotator."""

    id: str
    question: str
    answer: tuple[str, ...]
    ambiguous: bool
    disambiguations: tuple[tuple[Disambiguation, ...], ...] = ()


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[AmbigRecord] = rows(files, AmbigRecord)
    return [item for record in records for item in _items(record)], len(records)


def _items(record: AmbigRecord) -> list[Item]:
    group = f"ambignq:{record.id}"
    if not record.ambiguous:
        if not record.answer or not record.question.strip():
            return []
        return [complete_item(f"{group}/0", record.question, [Reading(record.question, record.answer)], 0)]
    for annotation in record.disambiguations:
        readings = [Reading(one.question, one.answer) for one in annotation if one.answer and one.question.strip()]
        item = ambiguous_item(f"{group}/1", record.question, readings[:MOST_READINGS])
        if item is not None and item.hidden is not None:
            rng = Random(f"spelled out:{group}")
            if rng.random() < SPELLED_OUT:
                return [item, complete_item(f"{group}/2", item.original, readings[:MOST_READINGS], None)]
            return [item]
    return []


def complete_item(source_id: str, question: str, readings: list[Reading], at: int | None) -> Item:
    """A question with one answer: that of reading `at`, or of the reading with these words."""
    meant = readings[at] if at is not None else next(one for one in readings if one.question == question)
    found = page(meant)
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=source_id,
        premise="",
        clue="",
        question=question,
        original=question,
        context=tuple(dict.fromkeys(map(page, readings))),
        support=(meant.question, *found.sentences),
        answer=meant.answers[0],
        aliases=meant.answers[1:],
        steps=(Step("wiki", query(question)), Step("wiki", found.title)),
    )


def ambiguous_item(source_id: str, question: str, readings: list[Reading]) -> Item | None:
    """A question whose readings have different answers; `None` where two share one, or differ in no short phrase."""
    answers = [{normalized(answer) for answer in one.answers} for one in readings]
    if len(readings) < 2 or any(a & b for at, a in enumerate(answers) for b in answers[:at]):
        return None
    phrases = contrast([one.question for one in readings])
    if phrases is None or any(not _names_a_reading(phrase) for phrase in phrases):
        phrases, slot = [one.question.rstrip(" ?") for one in readings], ""
    else:
        slot = _slot(phrases)
    if any(occurs(phrase, question) or len(phrase.split()) > LONGEST_PHRASE for phrase in phrases):
        return None
    place = int.from_bytes(hashlib.sha256(source_id.encode()).digest()[:4]) % len(readings)
    meant, phrase = readings[place], phrases[place]
    meant_questions = {one.question.rstrip(" ?") for one in readings}
    others = [one for at, one in enumerate(phrases) if at != place]
    if phrase not in meant.question:
        return None
    quoted = [f"“{one}”" if one[0].isupper() and "?" not in one and one in meant_questions else one for one in phrases]
    listed = ", ".join(quoted[:-1]) + " or " + quoted[-1]
    hidden = Hidden(
        kind="year" if slot == "year" else "sense",
        span=phrase,
        missing=f"which {slot} you mean" if slot else f"which one you mean: {listed}",
        about=(slot or "one", *dict.fromkeys(word for one in phrases for word in words(one))),
        readings=((phrase,), *((other,) for other in others)),
    )
    found = page(meant)
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=source_id,
        premise="",
        clue="",
        question=question,
        original=meant.question,
        context=tuple(dict.fromkeys(map(page, readings))),
        support=(meant.question, *found.sentences),
        answer=meant.answers[0],
        aliases=meant.answers[1:],
        steps=(Step("wiki", query(question)), Step("wiki", found.title)),
        hidden=hidden,
        ask_after=1,
        ambiguity=("several-readings",),
    )


def query(question: str) -> str:
    """The words to search for: those of the question that say what it is about."""
    return " ".join(word for word in words(question) if word not in FUNCTION_WORDS) or question.rstrip(" ?")


def _names_a_reading(phrase: str) -> bool:
    """Whether a phrase can follow `Do you mean`: not a part of a question such as `did they announce the`."""
    found = words(phrase)
    broken = found and (found[0] in _NOT_FIRST or found[-1] in _NOT_LAST or phrase.count('"') % 2)
    return bool(found) and not broken and any(word.isalpha() or len(word) == 4 for word in found)


def _slot(phrases: list[str]) -> str:
    """What the phrases differ in: `season` for `in season 1` and `in season 2`; empty where they do not share it."""
    if all(any(word.isdigit() and len(word) == 4 for word in words(one)) for one in phrases):
        return "year"
    shared = set.intersection(*({word for word in one.split() if word.islower()} for one in phrases))
    return next((noun for noun in NATURAL["slots"] if noun in shared), "")
