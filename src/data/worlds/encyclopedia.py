"""The generated encyclopedia: people, towns, works, companies and events with names, dates and amounts.

A world is made of facts. Articles and questions are worded from it later, and answers are derived from the facts alone,
without text. Some facts change over time (a seat, a mayor, a winner, a population): their values carry a year. No name
comes twice in one world, except that of a namesake.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import NamedTuple

from askgate_env.types import Lang, Record

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
        value = self.facts[relation][0].what
        assert isinstance(value, int)
        return value


TELLING_FACT = {"person": "born", "town": "river", "work": "year", "company": "founded", "event": "first"}
"""Kind -> the fact that tells two namesakes with the same tag apart; an article's first sentence states it."""
NAMESAKE_TRIES = 20
BORN = (1800, 1905)
LIFE = (70, 95)
"""Years that people live: longer than any office, prize or job of theirs."""
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


def make_namesake(world: World, of: Entity, same_tag: bool, relation: str) -> Entity:
    """Draw another entity of that name and kind with facts of its own, so that the name alone does not say which is
    meant. If `relation` changes over time, both have it in the same years: a year in the question must not distinguish
    the two by accident. Everything else fits these years."""
    for _ in range(NAMESAKE_TRIES):
        other = _entity(world, of.kind, of.name)
        for add_relation in _ADDED_LATER.get(of.kind, ()):
            add_relation(world, other)
        if relation in CHANGING and relation in of.facts:
            _fit_years(world, other, of, relation)
        other.tag = of.tag if same_tag else world.rng.choice([t for t in world.names.tags[of.kind] if t != of.tag])
        other.facts["tag"] = [Value(other.tag)]
        if not same_tag or other.facts[TELLING_FACT[of.kind]] != of.facts[TELLING_FACT[of.kind]]:
            return other
    return make_namesake(world, of, False, relation)


def make_homonym(world: World, of: Entity) -> Entity:
    """Draw an entity of another kind with that name: a film called like a town, a firm called like a novel."""
    return _entity(world, "company" if of.kind == "work" else "work", of.name.strip("《》"))


def share_fact(world: World, other: Entity, of: Entity, relation: str) -> bool:
    """Give a namesake the same value of a fact, and the dates that fit it; False where that would be odd."""
    rng, value = world.rng, of.facts[relation][0].what
    if relation in ("born_in", "setting", "town", "patron"):
        pass
    elif relation == "teacher" and isinstance(value, Entity):
        _set_born(world, other, of.number("born") + rng.choice((-5, -3, -2, 2, 4, 7)))
        if not _can_teach(value, other):
            return False
    elif relation in ("author", "house") and isinstance(value, Entity):
        author = value if relation == "author" else _as_entity(other.facts["author"][0].what)
        other.facts |= {"author": [Value(author)], "year": [Value(author.number("born") + rng.randint(22, 60))]}
        house = value if relation == "house" else _as_entity(other.facts["house"][0].what)
        if house.number("founded") > other.number("year"):
            return False
    elif relation == "founder" and isinstance(value, Entity):
        founded = value.number("born") + rng.randint(21, 48)
        shift = founded - other.number("founded")
        other.facts["founded"] = [Value(founded)]
        for dated in ("seat", "staff"):
            other.facts[dated] = [Value(one.what, (one.year or 0) + shift) for one in other.facts[dated]]
    else:
        return False
    other.facts[relation] = list(of.facts[relation])
    return other.facts[TELLING_FACT[of.kind]] != of.facts[TELLING_FACT[of.kind]]


def _fit_years(world: World, other: Entity, of: Entity, relation: str) -> None:
    """Give a namesake the years of a relation, with values and dates that were possible in these years."""
    rng = world.rng
    years = [value.year or 0 for value in of.facts[relation]]
    if relation == "employer":
        _set_born(world, other, of.number("born") + rng.choice((-9, -7, -5, -4, -3, -2, -1, 1, 2, 3)))
        firms = [[c for c in world.company if c.number("founded") < year] for year in years]
        first = rng.choice(firms[0])
        second = rng.choice([firm for firm in firms[1] if firm is not first])
        other.facts["employer"] = [Value(first, years[0]), Value(second, years[1])]
    elif relation in ("mayor", "winner"):
        other.facts[relation] = [Value(rng.choice(_alive(world, year)), year) for year in years]
    else:
        values = zip(other.facts[relation], years, strict=True)
        other.facts[relation] = [Value(value.what, year) for value, year in values]
    if of.kind == "company":
        founder = rng.choice([p for p in world.person if p.number("born") + 21 <= of.number("founded")])
        born = founder.number("born")
        founded = rng.randint(born + 21, min(born + 48, of.number("founded")))
        other.facts |= {"founder": [Value(founder)], "founded": [Value(founded)]}
        unasked = "staff" if relation == "seat" else "seat"
        pairs = zip(other.facts[unasked], of.facts[unasked], strict=True)
        other.facts[unasked] = [Value(ours.what, theirs.year) for ours, theirs in pairs]
    elif of.kind == "event":
        dated = [value.year or 0 for name in ("winner", "visitors") for value in other.facts[name]]
        other.facts["first"] = [Value(min(dated) - rng.randint(0, 12))]


def _set_born(world: World, person: Entity, born: int) -> None:
    """Move a person's birth and death, and remove teacher and employers, which might not fit any more."""
    person.facts.pop("teacher", None)
    person.facts.pop("employer", None)
    person.facts["born"] = [Value(born)]
    person.facts["died"] = [Value(born + world.rng.randint(*LIFE))]


def _as_entity(what: Entity | int | str) -> Entity:
    """The value of a fact that is known to be an entity."""
    assert isinstance(what, Entity)
    return what


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
    born = rng.randint(*BORN)
    return {
        "born": [Value(born)],
        "died": [Value(born + rng.randint(*LIFE))],
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
    trading: list[Entity] = []
    while not trading:
        author = rng.choice(world.person)
        year = author.number("born") + rng.randint(22, 60)
        trading = [company for company in world.company if company.number("founded") <= year]
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
    teachers = [other for other in world.person if other is not person and _can_teach(other, person)]
    if teachers:
        person.facts["teacher"] = [Value(world.rng.choice(teachers))]


def _can_teach(teacher: Entity, pupil: Entity) -> bool:
    """Whether the teacher is the elder, and lives until the pupil is grown up."""
    return teacher.number("born") + 12 <= pupil.number("born") <= teacher.number("died") - 18


def _add_employers(world: World, person: Entity) -> None:
    rng, born = world.rng, person.number("born")
    companies = [company for company in world.company if company.number("founded") <= born + 35]
    if len(companies) < 2:
        return
    first, second = rng.sample(companies, 2)
    start = max(born + 20, first.number("founded") + 1) + rng.randint(0, 6)
    move = max(start + rng.randint(2, 9), second.number("founded") + 1)
    person.facts["employer"] = [Value(first, start), Value(second, move)]


def _add_mayors(world: World, town: Entity) -> None:
    town.facts["mayor"] = _holders(world)


def _alive(world: World, year: int) -> list[Entity]:
    """People of an age for an office or a prize in a year; there are some in every year of an office or a prize."""
    return [person for person in world.person if 24 <= year - person.number("born") <= 66]


def _holders(world: World) -> list[Value]:
    """Draw two people, each with a year in which they held a post or won a prize, in order of time."""
    rng = world.rng
    while True:
        holders = [Value(one, one.number("born") + rng.randint(27, 59)) for one in rng.sample(world.person, 2)]
        if holders[0].year != holders[1].year:
            return sorted(holders, key=lambda value: value.year or 0)


_FACTS = {"town": _town, "person": _person, "company": _company, "work": _work, "event": _event}
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
        while True:
            if isinstance(self.lists, ChineseLists):
                name = _chinese_name(self.lists, self.rng, kind)
            else:
                name = _english_name(self.lists, self.rng, kind, woman)
            repeats = len(set(name.split())) < len(name.split())  # not `The Heron of the Midnight Heron`
            if name not in self._used and not repeats:
                self._used.add(name)
                return name


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
    if kind == "company":
        return f"{surname()} {pick(lists.company_tails) if rng.random() < 0.6 else f'& {surname()}'}"
    if kind == "event":
        return f"{surname() if rng.random() < 0.3 else described()} {pick(lists.event_tails)}"
    form = rng.randrange(4)
    if form == 0:
        return f"The {described()}"
    if form == 1:
        return f"The {pick(lists.nouns)} of the {described()}"
    if form == 2:
        return f"{capitalize(with_article(pick(lists.nouns)))} for {pick(lists.women + lists.men)}"
    return f"The {described()} of {pick(lists.women + lists.men)}"


def _chinese_name(lists: ChineseLists, rng: Random, kind: str) -> str:
    forms: dict[str, tuple[Words, ...]] = {
        "person": (lists.surnames, lists.given),
        "town": (lists.places, lists.places, lists.place_ends),
        "work": (lists.given, lists.places, lists.title_tails),
        "company": (lists.places, lists.places, lists.company_heads, lists.company_tails),
        "event": (lists.places, lists.given, lists.event_heads, lists.event_tails),
    }
    name = "".join(map(rng.choice, forms[kind]))
    if kind != "person" and any(one == other for one, other in pairwise(name)):
        return _chinese_name(lists, rng, kind)  # not 云云镇
    if kind == "person" and rng.random() < 0.8:
        return name + rng.choice(lists.given)
    return f"《{name}》" if kind == "work" else name
