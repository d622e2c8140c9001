"""The articles that one sample shows of a world, and the facts that they state.

The text of a question is drawn before it is decided whether the question needs a clarification. The articles decide:
the same bare name has one article or two, the same office has one holder on record or several. So no word of the
question can give the need away; a reader has to open the articles.

Answers are derived from the facts that the articles state, never from text. A question is one or more chains, each a
named entity and the relations to follow from it, and a way to combine their results. Where the name fits several
entities, or a relation has several values and no year is given, every interpretation is followed. So
`ArticleSet.answers` has one element exactly when the question can be answered, and more when something is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from askgate_env.tokenize import tokens
from askgate_env.types import Article

from .encyclopedia import CHANGING, TELLING_FACT, Entity, Facts, Value, World, make_homonym, make_namesake, share_fact
from .wording import Sentence, WorldText, name_of

Pages = dict[Entity, Facts]
"""Entities that have an article in the sample -> the facts that the article states."""


Result = tuple[Entity, Entity | int | str]
"""The last entity that a chain passes, and the value that it has there."""
Combine = Callable[[tuple[Result, ...]], str]
"""Turns one result of each chain into an answer."""


def plain_value(choice: tuple[Result, ...]) -> str:
    """Answer with the value of the first chain: the name of an entity, a number, a word."""
    return name_of(choice[0][1])


@dataclass(slots=True)
class Hop:
    """One hop of a question: whose fact it is, the value that was drawn, and whether the text gives its year."""

    owner: Entity
    relation: str
    value: Value
    year_shown: bool = False

    @property
    def year(self) -> int | None:
        """The year that the text gives."""
        return self.value.year if self.year_shown else None

    @property
    def fact(self) -> str:
        """The fact that the hop asks for: its relation, with the kind of its owner for a tag."""
        return f"{self.owner.kind}.tag" if self.relation == "tag" else self.relation

    @property
    def is_open(self) -> bool:
        """Whether the fact changes over time and the text gives no year."""
        return self.relation in CHANGING and not self.year_shown


@dataclass(eq=False, slots=True)
class Chain:
    """One chain of hops of a question, and what the text and the clue say of it."""

    hops: list[Hop]
    tag_shown: bool = False
    known: int = 0
    """Number of the first hops that the clue restates."""

    @property
    def start(self) -> Entity:
        return self.hops[0].owner


@dataclass(slots=True)
class Gap:
    """Information that the text may leave open: the namesake of a chain's start, or the year of one of its hops."""

    kind: Literal["name", "year"]
    chain: Chain
    hop: int = 0


HarmlessReason = Literal["named", "only_one", "same_for_both", "same_in_all_years"]
"""Reason why several candidates in the articles do no harm: the question says which one it means, only one of them can
have the fact, or all of them lead to the same answer."""


class ArticleSet:
    """Pages of a world that a sample shows. Facts may be narrowed or namesakes added until the question fits.

    At first these are the pages that the chains of the question need, each hop without a year narrowed to the value
    that was drawn.
    """

    def __init__(self, world: World, text: WorldText, chains: list[Chain], combine: Combine) -> None:
        self.world, self.text, self.rng = world, text, world.rng
        self.chains, self.combine = chains, combine
        self.pages: Pages = {}
        for hop in (hop for chain in chains for hop in chain.hops):
            self.add(hop.owner)
            if hop.is_open:
                self.pages[hop.owner][hop.relation] = [hop.value]
        self._sentences: dict[Entity, list[Sentence]] = {}
        self.gap: Gap | None = None
        """Information that the text leaves open and the pages do not give."""
        self.answer = ""
        self.first: Chain | None = None
        """The chain that a reader looks up first."""
        self.harmless: dict[Chain, HarmlessReason] = {}
        """Chains with a namesake or with several years that do not matter, and why they do not."""

    def add(self, entity: Entity) -> None:
        if entity not in self.pages:
            self.pages[entity] = {relation: list(values) for relation, values in entity.facts.items()}

    def _follow(self, start: Entity, chain: Chain, first_hop: int = 0) -> None:
        """Add the pages along another interpretation of a chain, so that its answer too can be found."""
        here: Entity | int | str = start
        for hop in chain.hops[first_hop:]:
            if not isinstance(here, Entity) or hop.relation not in here.facts:
                return
            new = here not in self.pages
            self.add(here)
            if new and hop.is_open:
                self.pages[here][hop.relation] = [self.rng.choice(here.facts[hop.relation])]
            fitting = [v for v in self.pages[here][hop.relation] if not hop.year_shown or v.year == hop.value.year]
            if not fitting:
                return
            here = fitting[0].what

    def add_namesake(self, chain: Chain, same_tag: bool) -> None:
        relation = chain.hops[0].relation
        self._follow(make_namesake(self.world, chain.start, same_tag, relation), chain)

    def add_namesake_that_shares(self, chain: Chain, same_tag: bool) -> bool:
        """Add a namesake of a chain's start with the same value at the first hop; False where that would be odd."""
        relation = chain.hops[0].relation
        other = make_namesake(self.world, chain.start, same_tag, relation)
        if not share_fact(self.world, other, chain.start, relation):
            return False
        self.add(other)
        return True

    def add_homonym(self, chain: Chain) -> None:
        self.add(make_homonym(self.world, chain.start))

    def repeat_value(self, hop: Hop) -> None:
        """State the value of a hop for a second year too: the same mayor again, or nearly as many inhabitants."""
        what, year = hop.value.what, (hop.value.year or 0) + self.rng.randint(2, 6)
        if isinstance(what, int):
            what = max(1, round(what * self.rng.choice((0.9, 0.94, 1.05, 1.08, 1.12))))
        self.pages[hop.owner][hop.relation] = [hop.value, Value(what, year)]

    def narrow_unasked(self, rate: float) -> None:
        """State only one year of some facts that the question does not ask for."""
        asked = {hop.relation for chain in self.chains for hop in chain.hops}
        for facts in self.pages.values():
            for relation in sorted(CHANGING.intersection(facts) - asked):
                if self.rng.random() < rate:
                    facts[relation] = [self.rng.choice(facts[relation])]

    def show_all_years(self, chain: Chain, hop_index: int) -> None:
        """State every value of a hop that the text gives no year for."""
        owner, relation = chain.hops[hop_index].owner, chain.hops[hop_index].relation
        self.pages[owner][relation] = list(owner.facts[relation])
        for value in owner.facts[relation]:
            if isinstance(value.what, Entity) and hop_index + 1 < len(chain.hops):
                self._follow(value.what, chain, hop_index + 1)

    def answers(self, filled: Gap | None = None) -> set[str]:
        """Return all answers that some interpretation of the question gives, once a gap is filled."""
        ways = (self._results(chain, filled.kind if filled and filled.chain is chain else "") for chain in self.chains)
        return {self.combine(choice) for choice in product(*ways)}

    def keeps_answer(self) -> bool:
        """Whether the answer is still the only one, once what is missing is given."""
        return self.answers(self.gap) == {self.answer}

    def _results(self, chain: Chain, filled: Literal["name", "year", ""]) -> list[Result]:
        """Return the result of every way to follow a chain through the pages, in a fixed order."""
        start, telling = chain.start, TELLING_FACT[chain.start.kind]
        found: list[Result] = [
            (entity, entity)
            for entity in self.namesakes(start)
            if (entity.tag == start.tag or not (chain.tag_shown or filled == "name"))
            and (filled != "name" or entity.facts[telling] == start.facts[telling])
        ]
        for hop in chain.hops:
            year = hop.value.year if filled == "year" else hop.year
            found = [
                (here, value.what)
                for _, here in found
                if isinstance(here, Entity) and here in self.pages
                for value in self.pages[here].get(hop.relation, ())
                if year is None or value.year is None or value.year == year
            ]
        return found

    def snapshot(self) -> Pages:
        return {entity: dict(facts) for entity, facts in self.pages.items()}

    def namesakes(self, entity: Entity) -> list[Entity]:
        """Return the entities of that name and kind on these pages, itself included."""
        return [other for other in self.pages if other.name == entity.name and other.kind == entity.kind]

    def shares_name(self, entity: Entity) -> bool:
        """Whether another page has the same name, of whatever kind it is."""
        bare = entity.name.strip("《》")
        return sum(other.name.strip("《》") == bare for other in self.pages) > 1

    def telling_value(self, entity: Entity) -> int | str | None:
        """Return the fact that tells an entity apart from namesakes with the same tag; None if it has none here."""
        if all(other is entity or other.tag != entity.tag for other in self.namesakes(entity)):
            return None
        value = entity.facts[TELLING_FACT[entity.kind]][0].what
        assert not isinstance(value, Entity)
        return value

    def title(self, entity: Entity) -> str:
        if not self.shares_name(entity):
            return entity.name
        return self.text.title(entity.name, entity.tag, self.telling_value(entity))

    def sentences(self, entity: Entity) -> list[Sentence]:
        """Return the article of an entity, worded at the first call."""
        if entity not in self._sentences:
            self._sentences[entity] = self.text.page(entity, self.pages[entity], self.rng)
        return self._sentences[entity]

    def sentence_stating(self, entity: Entity, relation: str) -> str:
        return next(text for text, relations in self.sentences(entity) if relation in relations)

    def support(self) -> list[str]:
        """Return the sentences that state the hops, each once."""
        sentences = [self.sentence_stating(hop.owner, hop.relation) for chain in self.chains for hop in chain.hops]
        return list(dict.fromkeys(sentences))

    def articles(self, needed: set[str], keep: float, length: int) -> tuple[Article, ...]:
        """Word the pages in random order, filled up with other pages of the world to about `length` tokens.

        An article has its first sentence, those that state a needed relation, and the share `keep` of the others.
        """
        articles = []
        for entity in self.pages:
            lines = [
                text
                for place, (text, relations) in enumerate(self.sentences(entity))
                if place == 0 or needed.intersection(relations) or self.rng.random() < keep
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
