"""The generated encyclopedia: people, towns, works, companies and events with names, dates and amounts.

A world is made of facts. Articles and questions are worded from it later, and answers are derived from the facts alone,
without text. Some facts change over time (a seat, a mayor, a winner, a population): their values carry a year. No name
comes twice in one world, except that of a namesake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ...core.types import Lang, Record
from .texts import Phrases, Words, capitalize, load_text, with_article


class Value(NamedTuple):
    """A value of a fact, with its year if the fact changes over time."""

    what: Entity | int | str
    year: int | None = None


Facts = dict[str, list[Value]]
"""Relation -> its values, in order of time."""


@dataclass(eq=False, slots=True)
class Entity:
    """A subject of the encyclopedia.

    `tag` is the short descriptor that tells namesakes apart: a profession, a region, a form, a trade.
    """

    kind: str
    name: str
    tag: str = ""
    facts: Facts = field(default_factory=dict)

    def number(self, relation: str) -> int:
        """Return the first value of a numeric relation."""
        value = self.facts[relation][0].what
        assert isinstance(value, int)
        return value


CHANGING = frozenset({"employer", "mayor", "population", "seat", "staff", "winner", "visitors"})
"""Relations with a value for each of several years."""


@dataclass(eq=False, slots=True)
class World:
    """Entities that refer to each other."""

    names: Names
    rng: Random
    town: list[Entity] = field(default_factory=list)
    person: list[Entity] = field(default_factory=list)
    company: list[Entity] = field(default_factory=list)
    work: list[Entity] = field(default_factory=list)
    event: list[Entity] = field(default_factory=list)
    dialect: dict[str, str] = field(default_factory=dict)
    """Words that this world prefers, where its language has a choice."""

    def entities(self) -> list[Entity]:
        return [*self.town, *self.person, *self.company, *self.work, *self.event]


def make_world(names: Names, rng: Random) -> World:
    """Draw a world. Relations are drawn after the entities that they point to."""
    world = World(names, rng)
    world.town = _entities(world, "town", 6)
    world.person = _entities(world, "person", 11)
    for person in world.person:
        _add_teacher(world, person)
    world.company = _entities(world, "company", 4)
    for person in world.person:
        _add_employers(world, person)
    for town in world.town:
        _add_mayors(world, town)
    world.work = _entities(world, "work", 6)
    world.event = _entities(world, "event", 4)
    return world


def make_namesake(world: World, of: Entity, same_tag: bool) -> Entity:
    """Draw another entity of that name with facts of its own, so that the name alone does not say which is meant."""
    other = _entity(world, of.kind, of.name)
    for add_relation in _ADDED_LATER.get(of.kind, ()):
        add_relation(world, other)
    other.tag = of.tag if same_tag else world.rng.choice([t for t in world.names.tags[of.kind] if t != of.tag])
    other.facts["tag"] = [Value(other.tag)]
    # Both get the same years: a year in the question must not tell the two apart by accident.
    for relation in CHANGING & of.facts.keys() & other.facts.keys():
        pairs = zip(other.facts[relation], of.facts[relation], strict=False)
        other.facts[relation] = [Value(ours.what, theirs.year) for ours, theirs in pairs]
    return other


def _entities(world: World, kind: str, count: int) -> list[Entity]:
    return [_entity(world, kind, world.names.new(kind)) for _ in range(count)]


def _entity(world: World, kind: str, name: str) -> Entity:
    tag = world.rng.choice(world.names.tags[kind])
    return Entity(kind, name, tag, {"tag": [Value(tag)], **_FACTS[kind](world)})


def _town(world: World) -> Facts:
    rng = world.rng
    first, second = sorted(rng.sample(range(1880, 2011, 10), 2))
    size = rng.randint(40, 900) * 10
    later = max(120, int(size * rng.uniform(0.5, 2.4)))
    return {
        "river": [Value(rng.choice(world.names.rivers))],
        "founded": [Value(rng.randint(1080, 1790))],
        "elevation": [Value(rng.randint(4, 880))],
        "population": [Value(size, first), Value(later, second)],
    }


def _person(world: World) -> Facts:
    rng = world.rng
    born = rng.randint(1800, 1930)
    return {
        "born": [Value(born)],
        "died": [Value(born + rng.randint(61, 93))],
        "born_in": [Value(rng.choice(world.town))],
    }


def _company(world: World) -> Facts:
    rng = world.rng
    founder = rng.choice(world.person)
    founded = founder.number("born") + rng.randint(21, 48)
    first_seat, second_seat = rng.sample(world.town, 2)
    early, late = founded + rng.randint(3, 20), founded + rng.randint(24, 60)
    return {
        "founder": [Value(founder)],
        "founded": [Value(founded)],
        "seat": [Value(first_seat, founded), Value(second_seat, founded + rng.randint(8, 50))],
        "staff": [Value(rng.randint(12, 900), early), Value(rng.randint(30, 6000), late)],
    }


def _work(world: World) -> Facts:
    rng = world.rng
    author = rng.choice(world.person)
    year = author.number("born") + rng.randint(22, 60)
    trading = [company for company in world.company if company.number("founded") <= year] or world.company
    return {
        "author": [Value(author)],
        "year": [Value(year)],
        "house": [Value(rng.choice(trading))],
        "setting": [Value(rng.choice(world.town))],
    }


def _event(world: World) -> Facts:
    rng = world.rng
    winners = _holders(world)
    first = min(value.year or 0 for value in winners) - rng.randint(0, 18)
    early, late = first + rng.randint(1, 9), first + rng.randint(12, 40)
    return {
        "town": [Value(rng.choice(world.town))],
        "first": [Value(first)],
        "patron": [Value(rng.choice(world.company))],
        "winner": winners,
        "visitors": [Value(rng.randint(2, 90) * 50, early), Value(rng.randint(4, 160) * 50, late)],
    }


def _add_teacher(world: World, person: Entity) -> None:
    older = [p for p in world.person if p is not person and p.number("born") + 12 <= person.number("born")]
    if older:
        person.facts["teacher"] = [Value(world.rng.choice(older))]


def _add_employers(world: World, person: Entity) -> None:
    rng, born = world.rng, person.number("born")
    companies = [company for company in world.company if company.number("founded") <= born + 45]
    if len(companies) < 2:
        return
    first, second = rng.sample(companies, 2)
    start = max(born + 20, first.number("founded") + 1) + rng.randint(0, 6)
    move = max(start + rng.randint(2, 9), second.number("founded") + 1)
    person.facts["employer"] = [Value(first, start), Value(second, move)]


def _add_mayors(world: World, town: Entity) -> None:
    town.facts["mayor"] = _holders(world)


def _holders(world: World) -> list[Value]:
    """Draw two people with the years in which they held a post or won a prize, in order of time."""
    rng = world.rng
    while True:
        people = rng.sample(world.person, 2)
        holders = sorted(
            (Value(p, p.number("born") + rng.randint(27, 59)) for p in people), key=lambda value: value.year or 0
        )
        if holders[0].year != holders[1].year:
            return holders


_FACTS: dict[str, Callable[[World], Facts]] = {
    "town": _town,
    "person": _person,
    "company": _company,
    "work": _work,
    "event": _event,
}
_ADDED_LATER = {"town": (_add_mayors,), "person": (_add_teacher, _add_employers)}
"""Kind -> relations to entities that are drawn after it."""


# --- Names ---


class EnglishLists(Record, frozen=True):
    """`names_en.yaml`."""

    women: Words
    men: Words
    surname_heads: Words
    surname_tails: Words
    town_heads: Words
    town_tails: Words
    adjectives: Words
    nouns: Words
    company_tails: Phrases
    event_tails: Phrases
    rivers: Words
    tags: dict[str, Phrases]


class ChineseLists(Record, frozen=True):
    """`names_zh.yaml`."""

    surnames: Words
    given: Words
    places: Words
    place_ends: Words
    title_tails: Words
    company_heads: Words
    company_tails: Words
    event_heads: Words
    event_tails: Words
    rivers: Words
    tags: dict[str, Phrases]


class Names:
    """Draws the names of one world in its language."""

    def __init__(self, lang: Lang, rng: Random) -> None:
        self.lists: EnglishLists | ChineseLists
        if lang == "en":
            self.lists = load_text("names_en.yaml", EnglishLists)
        else:
            self.lists = load_text("names_zh.yaml", ChineseLists)
        self.rng, self.rivers = rng, self.lists.rivers
        self.tags = self.lists.tags
        """Kind -> descriptors that tell namesakes apart: professions, regions, trades."""
        self._used: set[str] = set()

    def new(self, kind: str) -> str:
        """Draw a name that this world does not have yet."""
        woman = kind == "person" and self.rng.random() < 0.5
        while (name := self._draw(kind, woman)) in self._used:
            pass
        self._used.add(name)
        return name

    def _draw(self, kind: str, woman: bool) -> str:
        if isinstance(self.lists, ChineseLists):
            return _chinese_name(self.lists, self.rng, kind)
        return _english_name(self.lists, self.rng, kind, woman)


def _english_name(lists: EnglishLists, rng: Random, kind: str, woman: bool) -> str:
    pick = rng.choice

    def surname() -> str:
        return pick(lists.surname_heads) + pick(lists.surname_tails)

    def described() -> str:
        return f"{pick(lists.adjectives)} {pick(lists.nouns)}"

    if kind == "person":
        return f"{pick(lists.women if woman else lists.men)} {surname()}"
    if kind == "town":
        return pick(lists.town_heads) + pick(lists.town_tails)
    if kind == "company" and rng.random() < 0.6:
        return f"{surname()} {pick(lists.company_tails)}"
    if kind != "work":
        return f"{described()} {pick(lists.company_tails if kind == 'company' else lists.event_tails)}"
    form = rng.randrange(4)
    if form == 0:
        return f"The {described()}"
    if form == 1:
        return f"{pick(lists.nouns)} of the {pick(lists.nouns)}"
    if form == 2:
        return f"{capitalize(with_article(pick(lists.nouns)))} for {pick(lists.women + lists.men)}"
    return f"{described()}, {described()}"


def _chinese_name(lists: ChineseLists, rng: Random, kind: str) -> str:
    forms: dict[str, tuple[Words, ...]] = {
        "person": (lists.surnames, lists.given),
        "town": (lists.places, lists.places, lists.place_ends),
        "work": (lists.given, lists.places, lists.title_tails),
        "company": (lists.places, lists.places, lists.company_heads, lists.company_tails),
        "event": (lists.places, lists.given, lists.event_heads, lists.event_tails),
    }
    name = "".join(map(rng.choice, forms[kind]))
    if kind == "person" and rng.random() < 0.8:
        return name + rng.choice(lists.given)
    return f"《{name}》" if kind == "work" else name
