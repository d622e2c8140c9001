"""Records of the natural sources: how their readers load them, tell their readings apart and make pages of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from askgate_env.types import Article

from ...core.files import package_yaml
from ...core.jsonl import decode, read_records

NATURAL: dict[str, Any] = package_yaml("templates/natural_sources.yaml")
_QUESTION_WORDS = re.compile(
    r"^(?:(?:in|on|at|for|from|to|by|of|with) )?(?:who|whom|whose|what|which|when|where|why)(?:'s)?\b"
    r"(?: (?:is|are|was|were|did|do|does|has|have|had|will|can|could|would))?\s+",
    re.I,
)


class Reading(msgspec.Struct, frozen=True):
    """One way to understand a question: the question without the ambiguity, and its answers (then aliases)."""

    question: str
    answers: tuple[str, ...]


def rows(files: Iterable[Path], kind: type[msgspec.Struct]) -> list[Any]:
    """All records of some JSONL files."""
    return [record for path in files for record in read_records(path, kind)]


def page(reading: Reading) -> Article:
    """The page that answers a reading. Its title is the question without its question word, as a heading: what an
    ambiguous and a complete question find looks the same."""
    answer = reading.answers[0].strip()
    asked = reading.question.rstrip(" ?").lower()
    title = _QUESTION_WORDS.sub("", asked)
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


def decode_line(line: bytes, kind: type[msgspec.Struct], where: str) -> Any:
    """One JSONL line as a record, with an error that names its place."""
    return decode(msgspec.json.Decoder(kind), line, where)
