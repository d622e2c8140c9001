"""Reads answers off the facts that a sample shows. It never sees text.

A question is one or more parts, each a mention and a path of relations, and a way to combine what the parts give.
Where the mention fits several entities, or a relation has several values and no year is given, every reading is
followed: `consistent_answers` has one element exactly when the question can be answered, more when a span is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from .kb import Entity, Value

Facts = dict[str, list[Value]]
Pages = dict[Entity, Facts]
"""What the articles of a sample say: every entity with an article, and the facts that its article states."""


@dataclass(frozen=True, slots=True)
class Mention:
    """How the question names its start: kind and name, perhaps the tag, perhaps one more fact (relation, value)."""

    kind: str
    name: str
    tag: str = ""
    also: tuple[str, int | str] | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    relation: str
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    mention: Mention
    path: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to follow a part: the entities passed, the last of which owns the value."""

    passed: tuple[Entity, ...]
    value: Entity | int | str


Combine = Callable[[tuple[Reading, ...]], str]


def named(pages: Pages, mention: Mention) -> list[Entity]:
    return [
        entity
        for entity, facts in pages.items()
        if entity.kind == mention.kind
        and entity.name == mention.name
        and (not mention.tag or entity.tag == mention.tag)
        and (mention.also is None or any(v.what == mention.also[1] for v in facts.get(mention.also[0], ())))
    ]


def readings(pages: Pages, part: Part) -> list[Reading]:
    """Every way to follow the path through the pages, in a fixed order."""
    ways = [Reading((entity,), entity) for entity in named(pages, part.mention)]
    for step, hop in enumerate(part.path):
        onward = []
        for way in ways:
            here = way.value if step else way.passed[-1]
            if not isinstance(here, Entity) or here not in pages:
                continue
            passed = way.passed if step == 0 else (*way.passed, here)
            for value in pages[here].get(hop.relation, ()):
                if hop.year is None or value.year is None or value.year == hop.year:
                    onward.append(Reading(passed, value.what))
        ways = onward
    return ways


def consistent_answers(pages: Pages, parts: tuple[Part, ...], combine: Combine) -> set[str]:
    return {combine(choice) for choice in product(*(readings(pages, part) for part in parts))}


def plain(choice: tuple[Reading, ...]) -> str:
    """The value itself: the name of an entity, a number, a word."""
    value = choice[0].value
    return value.name if isinstance(value, Entity) else str(value)
