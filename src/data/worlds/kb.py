"""The generated encyclopedia: people, towns, works, companies and events with dates and amounts.

A world is facts first. Articles and questions are worded from it later, and answers are read off it by `solver`,
which never sees a word of text. Some facts change over time (a seat, a mayor, a winner, a population): their values
carry the year.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from .names import Names


class Value(NamedTuple):
    """What a fact says, and the year if it holds for a time only."""

    what: Entity | int | str
    year: int | None = None


@dataclass(eq=False, slots=True)
class Entity:
    """`tag` is the short descriptor that tells namesakes apart: a profession, a region, a form, a trade."""

    kind: str
    name: str
    tag: str = ""
    woman: bool = False
    facts: dict[str, list[Value]] = field(default_factory=dict)

    def entity(self, relation: str) -> Entity:
        found = self.facts[relation][0].what
        assert isinstance(found, Entity)
        return found

    def number(self, relation: str) -> int:
        found = self.facts[relation][0].what
        assert isinstance(found, int)
        return found


CHANGING = frozenset({"employer", "mayor", "population", "seat", "staff", "winner", "visitors"})
"""Relations with a value for each of several years."""

SIZES = {"town": 6, "person": 11, "company": 4, "work": 6, "event": 4}


@dataclass(eq=False, slots=True)
class World:
    names: Names
    rng: Random
    town: list[Entity] = field(default_factory=list)
    person: list[Entity] = field(default_factory=list)
    company: list[Entity] = field(default_factory=list)
    work: list[Entity] = field(default_factory=list)
    event: list[Entity] = field(default_factory=list)
    dialect: dict[str, str] = field(default_factory=dict)
    """The words that this world prefers, where its language has a choice."""

    def all(self) -> list[Entity]:
        return [*self.town, *self.person, *self.company, *self.work, *self.event]


def make_world(names: Names, rng: Random) -> World:
    world = World(names, rng)
    world.town = [_town(world, names.town()) for _ in range(SIZES["town"])]
    for _ in range(SIZES["person"]):
        name, woman = names.person()
        world.person.append(_person(world, name, woman))
    for person in world.person:
        _schooling(world, person)
    world.company = [_company(world, names.company()) for _ in range(SIZES["company"])]
    for person in world.person:
        _jobs(world, person)
    for town in world.town:
        _mayors(world, town)
    world.work = [_work(world, names.work()) for _ in range(SIZES["work"])]
    world.event = [_event(world, names.event()) for _ in range(SIZES["event"])]
    return world


def make_namesake(world: World, of: Entity, same_tag: bool) -> Entity:
    """Another entity of that name with facts of its own, so that the name alone does not say which is meant."""
    other = _MAKERS[of.kind](world, of)
    other.tag = of.tag if same_tag else world.rng.choice([t for t in world.names.tags(of.kind) if t != of.tag])
    if "tag" in other.facts:
        other.facts["tag"] = [Value(other.tag)]
    # The same years as the namesake's: a year in the question must not tell the two apart by accident.
    for relation in CHANGING & of.facts.keys() & other.facts.keys():
        years = [value.year for value in of.facts[relation]]
        other.facts[relation] = [
            Value(value.what, year) for value, year in zip(other.facts[relation], years, strict=False)
        ]
    return other


def _town(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("town"))
    first, second = sorted(rng.sample(range(1880, 2011, 10), 2))
    size = rng.randint(40, 900) * 10
    later = max(120, int(size * rng.uniform(0.5, 2.4)))
    return Entity(
        "town",
        name,
        tag,
        facts={
            "tag": [Value(tag)],
            "river": [Value(rng.choice(world.names.rivers))],
            "founded": [Value(rng.randint(1080, 1790))],
            "elevation": [Value(rng.randint(4, 880))],
            "population": [Value(size, first), Value(later, second)],
        },
    )


def _person(world: World, name: str, woman: bool) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("person"))
    born = rng.randint(1800, 1930)
    return Entity(
        "person",
        name,
        tag,
        woman,
        facts={
            "tag": [Value(tag)],
            "born": [Value(born)],
            "died": [Value(born + rng.randint(61, 93))],
            "born_in": [Value(rng.choice(world.town))],
        },
    )


def _schooling(world: World, person: Entity) -> None:
    older = [p for p in world.person if p is not person and p.number("born") + 12 <= person.number("born")]
    if older:
        person.facts["teacher"] = [Value(world.rng.choice(older))]


def _jobs(world: World, person: Entity) -> None:
    rng, born = world.rng, person.number("born")
    firms = [c for c in world.company if c.number("founded") <= born + 45]
    if len(firms) < 2:
        return
    first, second = rng.sample(firms, 2)
    start = max(born + 20, first.number("founded") + 1) + rng.randint(0, 6)
    move = max(start + rng.randint(2, 9), second.number("founded") + 1)
    person.facts["employer"] = [Value(first, start), Value(second, move)]


def _mayors(world: World, town: Entity) -> None:
    town.facts["mayor"] = _holders(world)


def _holders(world: World) -> list[Value]:
    """Two people with the years in which they held a post or won a prize, in order of time."""
    rng = world.rng
    while True:
        people = rng.sample(world.person, 2)
        found = sorted(
            (Value(p, p.number("born") + rng.randint(27, 59)) for p in people), key=lambda value: value.year or 0
        )
        if found[0].year != found[1].year:
            return found


def _company(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("company"))
    founder = rng.choice(world.person)
    founded = founder.number("born") + rng.randint(21, 48)
    here, there = rng.sample(world.town, 2)
    early, late = founded + rng.randint(3, 20), founded + rng.randint(24, 60)
    return Entity(
        "company",
        name,
        tag,
        facts={
            "tag": [Value(tag)],
            "founder": [Value(founder)],
            "founded": [Value(founded)],
            "seat": [Value(here, founded), Value(there, founded + rng.randint(8, 50))],
            "staff": [Value(rng.randint(12, 900), early), Value(rng.randint(30, 6000), late)],
        },
    )


def _work(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("work"))
    author = rng.choice(world.person)
    year = author.number("born") + rng.randint(22, 60)
    trading = [firm for firm in world.company if firm.number("founded") <= year] or world.company
    return Entity(
        "work",
        name,
        tag,
        facts={
            "tag": [Value(tag)],
            "author": [Value(author)],
            "year": [Value(year)],
            "house": [Value(rng.choice(trading))],
            "setting": [Value(rng.choice(world.town))],
        },
    )


def _event(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("event"))
    winners = _holders(world)
    first = min(value.year or 0 for value in winners) - rng.randint(0, 18)
    early, late = first + rng.randint(1, 9), first + rng.randint(12, 40)
    return Entity(
        "event",
        name,
        tag,
        facts={
            "tag": [Value(tag)],
            "town": [Value(rng.choice(world.town))],
            "first": [Value(first)],
            "patron": [Value(rng.choice(world.company))],
            "winner": winners,
            "visitors": [Value(rng.randint(2, 90) * 50, early), Value(rng.randint(4, 160) * 50, late)],
        },
    )


def _town_namesake(world: World, of: Entity) -> Entity:
    other = _town(world, of.name)
    _mayors(world, other)
    return other


def _person_namesake(world: World, of: Entity) -> Entity:
    other = _person(world, of.name, of.woman)
    _schooling(world, other)
    _jobs(world, other)
    return other


_MAKERS: dict[str, Callable[[World, Entity], Entity]] = {
    "town": _town_namesake,
    "person": _person_namesake,
    "company": lambda world, of: _company(world, of.name),
    "work": lambda world, of: _work(world, of.name),
    "event": lambda world, of: _event(world, of.name),
}
