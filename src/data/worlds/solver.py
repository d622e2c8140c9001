"""Derives answers from the facts that a sample shows. It never sees text.

A question is one or more queries, each a mention and a path of relations, and a way to combine their results. Where the
mention fits several entities, or a relation has several values and no year is given, every interpretation is followed.
So `consistent_answers` has one element exactly when the question can be answered, and more when something is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from .encyclopedia import Entity, Facts

Pages = dict[Entity, Facts]
"""Entities that have an article in the sample -> the facts that the article states."""


@dataclass(frozen=True, slots=True)
class Mention:
    """How the question names an entity: kind and name, perhaps the tag, perhaps one more fact (relation, value)."""

    kind: str
    name: str
    tag: str = ""
    also: tuple[str, int | str] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A mention and the relations to follow from it, each in a given year or in any (None)."""

    mention: Mention
    path: tuple[tuple[str, int | None], ...]


Result = tuple[Entity, Entity | int | str]
"""The last entity that a query passes, and the value that it has there."""
Combine = Callable[[tuple[Result, ...]], str]
"""Turns one result of each query into an answer."""


def mentioned(pages: Pages, mention: Mention) -> list[Entity]:
    """Return the entities that fit a mention."""
    return [
        entity
        for entity, facts in pages.items()
        if entity.kind == mention.kind
        and entity.name == mention.name
        and (not mention.tag or entity.tag == mention.tag)
        and (mention.also is None or any(v.what == mention.also[1] for v in facts.get(mention.also[0], ())))
    ]


def results(pages: Pages, query: Query) -> list[Result]:
    """Return the result of every way to follow a query through the pages, in a fixed order."""
    found: list[Result] = [(entity, entity) for entity in mentioned(pages, query.mention)]
    for relation, year in query.path:
        found = [
            (here, value.what)
            for _, here in found
            if isinstance(here, Entity) and here in pages
            for value in pages[here].get(relation, ())
            if year is None or value.year is None or value.year == year
        ]
    return found


def consistent_answers(pages: Pages, queries: tuple[Query, ...], combine: Combine) -> set[str]:
    """Return all answers that some interpretation of the queries gives."""
    return {combine(choice) for choice in product(*(results(pages, query) for query in queries))}


def plain_value(choice: tuple[Result, ...]) -> str:
    """Answer with the value of the first query: the name of an entity, a number, a word."""
    value = choice[0][1]
    return value.name if isinstance(value, Entity) else str(value)
