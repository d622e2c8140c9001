"""The articles that one sample shows of a world, and the facts that they state.

The text of a question is drawn before it is decided whether the question needs a clarification. The articles decide:
the same bare name has one article or two, the same office has one holder on record or several. So no word of the
question can give the need away; a reader has to open the articles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...core.tokenize import tokens
from ...core.types import Article
from .encyclopedia import CHANGING, Entity, Value, World, make_namesake
from .solver import Combine, Mention, Pages, Query, consistent_answers
from .wording import Sentence, WorldText

TELLING_FACT = {"person": "born", "town": "river", "work": "year", "company": "founded", "event": "first"}
"""Kind -> the fact that tells two namesakes with the same tag apart; an article's first sentence states it."""


@dataclass(slots=True)
class Chain:
    """One chain of hops of a question: its start, the values that it passes, and what the text says of them."""

    start: Entity
    tag_shown: bool
    relations: list[str]
    values: list[Value]
    year_shown: list[bool]

    @property
    def owners(self) -> list[Entity]:
        """Entities whose articles state the hops, in order."""
        passed = [value.what for value in self.values[:-1]]
        return [self.start, *(what for what in passed if isinstance(what, Entity))]

    def query(self, mention: Mention | None = None, all_years: bool = False) -> Query:
        """Return the chain as the text has it, or with a fuller mention or all years given."""
        shown = Mention(self.start.kind, self.start.name, self.start.tag if self.tag_shown else "")
        hops = tuple(
            (relation, value.year if year or all_years else None)
            for relation, value, year in zip(self.relations, self.values, self.year_shown, strict=True)
        )
        return Query(mention or shown, hops)

    def open_years(self) -> list[int]:
        """Return the hops that change over time and carry no year in the text."""
        return [i for i, relation in enumerate(self.relations) if relation in CHANGING and not self.year_shown[i]]


@dataclass(slots=True)
class Gap:
    """Information that the text leaves open: the namesake of a chain's start, or the year of one of its hops."""

    kind: Literal["name", "year"]
    chain: int
    hop: int = 0


class ArticleSet:
    """Pages of a world that a sample shows. Facts may be narrowed or namesakes added until the question fits."""

    def __init__(self, world: World, text: WorldText) -> None:
        self.world, self.text, self.rng = world, text, world.rng
        self.pages: Pages = {}
        self._sentences: dict[Entity, list[Sentence]] = {}

    def add(self, entity: Entity) -> None:
        if entity not in self.pages:
            self.pages[entity] = {relation: list(values) for relation, values in entity.facts.items()}

    def add_chains(self, chains: list[Chain]) -> None:
        """Add the pages that the question needs, each hop without a year narrowed to the value that was drawn."""
        for chain in chains:
            hops = zip(chain.owners, chain.relations, chain.values, chain.year_shown, strict=True)
            for owner, relation, value, year in hops:
                self.add(owner)
                if relation in CHANGING and not year:
                    self.pages[owner][relation] = [value]

    def _follow(self, start: Entity, chain: Chain, at: int = 0) -> None:
        """Add the pages along another interpretation of a chain, so that its answer too can be found."""
        here: Entity | int | str = start
        for relation, value, year in zip(chain.relations[at:], chain.values[at:], chain.year_shown[at:], strict=True):
            if not isinstance(here, Entity) or relation not in here.facts:
                return
            new = here not in self.pages
            self.add(here)
            if new and relation in CHANGING and not year:
                self.pages[here][relation] = [self.rng.choice(here.facts[relation])]
            fitting = [v for v in self.pages[here][relation] if not year or v.year == value.year]
            if not fitting:
                return
            here = fitting[0].what

    def add_namesake(self, chain: Chain, same_tag: bool) -> None:
        """Add a namesake of a chain's start and the pages that it leads to."""
        self._follow(make_namesake(self.world, chain.start, same_tag), chain)

    def show_all_years(self, chain: Chain, hop: int) -> None:
        """State every value of a hop that the text gives no year for."""
        owner, relation = chain.owners[hop], chain.relations[hop]
        self.pages[owner][relation] = list(owner.facts[relation])
        for value in owner.facts[relation]:
            if isinstance(value.what, Entity) and hop + 1 < len(chain.relations):
                self._follow(value.what, chain, hop + 1)

    def open_gap(self, chains: list[Chain], gap: Gap, combine: Combine, answer: str) -> bool:
        """Add the pages that make a gap matter.

        True when the text alone now has several answers and the missing information restores the one.
        """
        chain = chains[gap.chain]
        if gap.kind == "name":
            self.add_namesake(chain, same_tag=chain.tag_shown)
        else:
            self.show_all_years(chain, gap.hop)
        if len(self.answers(chains, combine)) < 2:
            return False
        queries = [one.query() for one in chains]
        by_name = gap.kind == "name"
        queries[gap.chain] = chain.query(self.full_mention(chain)) if by_name else chain.query(all_years=True)
        return consistent_answers(self.pages, tuple(queries), combine) == {answer}

    def answers(self, chains: list[Chain], combine: Combine) -> set[str]:
        return consistent_answers(self.pages, tuple(chain.query() for chain in chains), combine)

    def namesakes(self, entity: Entity) -> list[Entity]:
        """Return the entities of that name on these pages, itself included."""
        return [other for other in self.pages if other.name == entity.name]

    def shares_name(self, entity: Entity) -> bool:
        return len(self.namesakes(entity)) > 1

    def full_mention(self, chain: Chain) -> Mention:
        """Return a mention that tells a chain's start apart from its namesakes."""
        start = chain.start
        same_tag = any(other.tag == start.tag for other in self.namesakes(start) if other is not start)
        if not same_tag:
            return Mention(start.kind, start.name, start.tag)
        return Mention(start.kind, start.name, start.tag, (TELLING_FACT[start.kind], _telling_value(start)))

    def title(self, entity: Entity) -> str:
        others = [other for other in self.namesakes(entity) if other is not entity]
        if not others:
            return entity.name
        same_tag = any(other.tag == entity.tag for other in others)
        return self.text.title(entity.name, entity.tag, _telling_value(entity) if same_tag else None)

    def sentences(self, entity: Entity) -> list[Sentence]:
        """Return the article of an entity, worded at the first call."""
        if entity not in self._sentences:
            self._sentences[entity] = self.text.page(entity, self.pages[entity], self.rng)
        return self._sentences[entity]

    def sentence_stating(self, entity: Entity, relation: str) -> str:
        return next(text for text, relations in self.sentences(entity) if relation in relations)

    def first_relations(self, entity: Entity) -> tuple[str, ...]:
        """Return the relations that the first sentence states, which a list of search hits shows."""
        return self.sentences(entity)[0][1]

    def support(self, chains: list[Chain]) -> list[str]:
        """Return the sentences that state the hops, each once."""
        sentences = [
            self.sentence_stating(owner, relation)
            for chain in chains
            for owner, relation in zip(chain.owners, chain.relations, strict=True)
        ]
        return list(dict.fromkeys(sentences))

    def articles(self, needed: set[str], brief: bool, length: int) -> tuple[Article, ...]:
        """Word the pages in random order, filled up with other pages of the world to about `length` tokens.

        Brief articles keep their first sentence and those that state a needed relation.
        """
        articles = []
        for entity in self.pages:
            lines = [
                text
                for place, (text, relations) in enumerate(self.sentences(entity))
                if not brief or place == 0 or needed.intersection(relations)
            ]
            articles.append(Article(self.title(entity), tuple(lines)))
        count = sum(len(tokens(article.text)) for article in articles)
        names = {entity.name for entity in self.pages}
        others = [entity for entity in self.world.entities() if entity not in self.pages and entity.name not in names]
        self.rng.shuffle(others)
        for entity in others:
            if count >= length:
                break
            lines = [text for text, _ in self.text.page(entity, entity.facts, self.rng)]
            article = Article(entity.name, tuple(lines))
            articles.append(article)
            count += len(tokens(article.text))
        self.rng.shuffle(articles)
        return tuple(articles)


def _telling_value(entity: Entity) -> int | str:
    value = entity.facts[TELLING_FACT[entity.kind]][0].what
    assert not isinstance(value, Entity)
    return value
