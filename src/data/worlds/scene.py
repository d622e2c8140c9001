"""What one sample shows of a world: which articles, and which facts they state.

The text of a question is drawn before it is decided whether the question needs a clarification. What decides is the
scene: the same bare name has one article or two, the same office has one holder on record or several. So no word of
the question can give the need away; it takes reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from ...core.tokenize import tokens
from ...core.types import Article
from .kb import CHANGING, Entity, Value, World, make_namesake
from .solver import Combine, Hop, Mention, Pages, Part, consistent_answers
from .wording import WorldText

ALSO = {"person": "born", "town": "river", "work": "year", "company": "founded", "event": "first"}
"""The fact that tells two namesakes with the same tag apart; an article's first sentence states it."""


@dataclass(slots=True)
class Leg:
    """One part of a question as it was drawn: where it starts, the values it passes, what the text says of them."""

    start: Entity
    tag_shown: bool
    relations: list[str]
    values: list[Value]
    year_shown: list[bool]

    @property
    def owners(self) -> list[Entity]:
        """The entities whose articles are read, in order."""
        passed = [value.what for value in self.values[:-1]]
        return [self.start, *(what for what in passed if isinstance(what, Entity))]

    def part(self, mention: Mention | None = None, all_years: bool = False) -> Part:
        shown = Mention(self.start.kind, self.start.name, self.start.tag if self.tag_shown else "")
        hops = tuple(
            Hop(relation, value.year if year or all_years else None)
            for relation, value, year in zip(self.relations, self.values, self.year_shown, strict=True)
        )
        return Part(mention or shown, hops)

    def open_years(self) -> list[int]:
        """Hops that change over time and carry no year in the text."""
        return [i for i, relation in enumerate(self.relations) if relation in CHANGING and not self.year_shown[i]]


@dataclass(slots=True)
class Gap:
    """What the text leaves open: the namesake of a leg's start, or the year of one of its hops."""

    kind: Literal["name", "year"]
    leg: int
    hop: int = 0


class Scene:
    def __init__(self, world: World, text: WorldText, rng: Random) -> None:
        self.world, self.text, self.rng = world, text, rng
        self.pages: Pages = {}
        self._sentences: dict[Entity, list[tuple[str, tuple[str, ...]]]] = {}

    def show(self, entity: Entity) -> None:
        if entity not in self.pages:
            self.pages[entity] = {relation: list(values) for relation, values in entity.facts.items()}

    def stage(self, legs: list[Leg]) -> None:
        """The pages that the question needs, each open hop narrowed to the value that was drawn."""
        for leg in legs:
            for owner, relation, value, year in zip(leg.owners, leg.relations, leg.values, leg.year_shown, strict=True):
                self.show(owner)
                if relation in CHANGING and not year:
                    self.pages[owner][relation] = [value]

    def _reach(self, start: Entity, leg: Leg, at: int = 0) -> None:
        """Pages along another reading of a leg, so that its answer too is in reach."""
        here: Entity | int | str = start
        for relation, value, year in zip(leg.relations[at:], leg.values[at:], leg.year_shown[at:], strict=True):
            if not isinstance(here, Entity) or relation not in here.facts:
                return
            new = here not in self.pages
            self.show(here)
            if new and relation in CHANGING and not year:
                self.pages[here][relation] = [self.rng.choice(here.facts[relation])]
            fitting = [v for v in self.pages[here][relation] if not year or v.year == value.year]
            if not fitting:
                return
            here = fitting[0].what

    def open_name(self, leg: Leg) -> None:
        """A namesake that fits the mention as the text has it."""
        other = make_namesake(self.world, leg.start, same_tag=leg.tag_shown)
        self._reach(other, leg)

    def open_year(self, leg: Leg, hop: int) -> None:
        owner, relation = leg.owners[hop], leg.relations[hop]
        self.pages[owner][relation] = list(owner.facts[relation])
        for value in owner.facts[relation]:
            if isinstance(value.what, Entity) and hop + 1 < len(leg.relations):
                self._reach(value.what, leg, hop + 1)

    def add_decoy(self, leg: Leg) -> None:
        """A namesake with another tag: the text shows the tag, so it stays complete, but it takes reading."""
        other = make_namesake(self.world, leg.start, same_tag=False)
        self._reach(other, leg)

    def answers(self, legs: list[Leg], combine: Combine) -> set[str]:
        return consistent_answers(self.pages, tuple(leg.part() for leg in legs), combine)

    def namesakes(self, entity: Entity) -> list[Entity]:
        return [other for other in self.pages if other.name == entity.name]

    def full_mention(self, leg: Leg) -> Mention:
        """The mention with what tells the start apart from its namesakes in this scene."""
        start = leg.start
        same_tag = any(other.tag == start.tag for other in self.namesakes(start) if other is not start)
        also = (ALSO[start.kind], start.facts[ALSO[start.kind]][0].what) if same_tag else None
        assert also is None or not isinstance(also[1], Entity)
        return Mention(start.kind, start.name, start.tag, also)  # type: ignore[arg-type]

    def title(self, entity: Entity) -> str:
        others = [other for other in self.namesakes(entity) if other is not entity]
        if not others:
            return entity.name
        also = entity.facts[ALSO[entity.kind]][0].what if any(o.tag == entity.tag for o in others) else None
        assert not isinstance(also, Entity)
        return self.text.title(entity.name, entity.tag, also)

    def sentences(self, entity: Entity) -> list[tuple[str, tuple[str, ...]]]:
        if entity not in self._sentences:
            self._sentences[entity] = self.text.page(entity, self.pages[entity], self.rng)
        return self._sentences[entity]

    def stating(self, entity: Entity, relation: str) -> str:
        return next(text for text, relations in self.sentences(entity) if relation in relations)

    def headline(self, entity: Entity) -> tuple[str, ...]:
        """What the first sentence states, which a list of hits shows."""
        return self.sentences(entity)[0][1]

    def support(self, legs: list[Leg]) -> list[str]:
        found = [
            self.stating(owner, relation)
            for leg in legs
            for owner, relation in zip(leg.owners, leg.relations, strict=True)
        ]
        return list(dict.fromkeys(found))

    def articles(self, needed: set[str], brief: bool, length: int) -> tuple[Article, ...]:
        """The pages in random order, filled up with other pages of the world to about `length` tokens.

        Brief pages keep their first sentence and those that state a needed relation.
        """
        found = []
        for entity in self.pages:
            lines = [
                text
                for place, (text, relations) in enumerate(self.sentences(entity))
                if not brief or place == 0 or needed.intersection(relations)
            ]
            found.append(Article(self.title(entity), tuple(lines)))
        count = sum(len(tokens(article.text)) for article in found)
        names = {entity.name for entity in self.pages}
        others = [entity for entity in self.world.all() if entity not in self.pages and entity.name not in names]
        self.rng.shuffle(others)
        for entity in others:
            if count >= length:
                break
            lines = [text for text, _ in self.text.page(entity, entity.facts, self.rng)]
            article = Article(entity.name, tuple(lines))
            found.append(article)
            count += len(tokens(article.text))
        self.rng.shuffle(found)
        return tuple(found)


def fill_gap(scene: Scene, legs: list[Leg], gap: Gap, combine: Combine, gold: str) -> bool:
    """Opens the gap in the scene. True when the text alone now has several answers and the span restores the one."""
    leg = legs[gap.leg]
    if gap.kind == "name":
        scene.open_name(leg)
    else:
        scene.open_year(leg, gap.hop)
    if len(scene.answers(legs, combine)) < 2:
        return False
    parts = [one.part() for one in legs]
    parts[gap.leg] = leg.part(scene.full_mention(leg)) if gap.kind == "name" else leg.part(all_years=True)
    return consistent_answers(scene.pages, tuple(parts), combine) == {gold}
