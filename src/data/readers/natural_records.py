"""Records of the natural sources: how their readers load them, tell their readings apart and make items of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from askgate_env.tokenize import words
from askgate_env.types import Article, Hidden

from ...core.files import package_yaml
from ...core.jsonl import read_records
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step

T = TypeVar("T")
NATURAL: dict[str, Any] = package_yaml("templates/natural_sources.yaml")


class SourceLists:
    """Word lists and patterns of a source, from `templates/natural_sources.yaml`."""

    def __init__(self, source: str) -> None:
        lists = NATURAL[source]
        self.words: dict[str, frozenset[str]] = {name: frozenset(some) for name, some in lists.get("words", {}).items()}
        self.patterns = {name: re.compile("|".join(parts)) for name, parts in lists["patterns"].items()}


_PATTERNS = SourceLists("all").patterns


class Reading(msgspec.Struct, frozen=True):
    """One way to understand a question: the question without the ambiguity, and its answers (then aliases)."""

    question: str
    answers: tuple[str, ...] = msgspec.field(name="answer")


def rows(files: Iterable[Path], kind: type[msgspec.Struct]) -> list[Any]:
    """All records of some JSONL files."""
    return [record for path in files for record in read_records(path, kind)]


def page(reading: Reading) -> Article:
    """The page that answers a reading. Its title is the question without its question word, as a heading: what an
    ambiguous and a complete question find looks the same."""
    answer = reading.answers[0].strip()
    asked = reading.question.rstrip(" ?").lower()
    title = _PATTERNS["question_words"].sub("", asked)
    title = title[:1].upper() + title[1:] if title != asked else f"On {asked}"
    return Article(title, (answer if answer.endswith(".") else f"{answer}.",))


def contrast(questions: Sequence[str]) -> list[str] | None:
    """The words in which questions differ, between the words that all of them start and end with.

    >>> contrast(["Who won the cup in 1990?", "Who won the cup in 1994?"])
    ['1990', '1994']
    """
    split = [question.rstrip(" ?.").split() for question in questions]
    start = end = 0
    while all(len(one) > start and one[start].lower() == split[0][start].lower() for one in split):
        start += 1
    while all(len(one) > start + end and one[-1 - end].lower() == split[0][-1 - end].lower() for one in split):
        end += 1
    if start and any(len(one) > start and one[start].strip(",").isdigit() and len(one[start]) < 4 for one in split):
        start -= 1  # `season 1` and `season 2`, not `1` and `2`
    middles = [" ".join(one[start : len(one) - end]).strip(" ,;:") for one in split]
    return middles if all(middles) and len(set(middles)) == len(middles) else None


def meant_first(values: Sequence[T], meant: int) -> list[T]:
    """The values, the one that is meant before the others."""
    return [values[meant], *values[:meant], *values[meant + 1 :]]


def meant_reading(source_id: str, readings: Sequence[Any]) -> int:
    """Index of the reading that the user means: random, but always the same for a record."""
    return int.from_bytes(hashlib.sha256(source_id.encode()).digest()[:4]) % len(readings)


def reading_item(
    source_id: str,
    question: str,
    readings: Sequence[Reading],
    meant_index: int,
    hidden: Hidden | None = None,
    kind: str = "",
) -> Item:
    """An item with a page for each reading of its question. Reading `meant_index` is meant; without `hidden` the
    question says so. `kind` names the ambiguity."""
    meant = readings[meant_index]
    asked, found = plain(question), page(meant)
    original = meant.question if hidden else asked
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=source_id,
        question=asked,
        original=f"{original} {hidden.span}" if hidden and hidden.span not in original else original,
        context=tuple(dict.fromkeys(map(page, readings))),
        support=(meant.question, *found.sentences),
        answer=meant.answers[0],
        aliases=meant.answers[1:],
        steps=(Step("wiki", query(question)), Step("wiki", found.title)),
        hidden=hidden,
        ask_after=int(hidden is not None),
        ambiguity=(kind,) if hidden else (),
    )


def plain(question: str) -> str:
    """A question as people type it into a search engine: the dataset has capitals only in its readings."""
    flat = " ".join(question.split())
    return flat[:1].upper() + flat[1:].lower()


def query(question: str) -> str:
    """The words to search for: those of the question that say what it is about."""
    return " ".join(word for word in words(question) if word not in FUNCTION_WORDS) or question.rstrip(" ?")
