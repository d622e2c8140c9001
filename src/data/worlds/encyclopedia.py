"""The generated encyclopedia: people, towns, works, companies and events with dates and amounts.

A world is made of facts. Articles and questions are worded from it later, and `solver` derives answers from the facts
alone, without text. Some facts change over time (a seat, a mayor, a winner, a population): their values carry a year.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from .names import Names


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
    woman: bool = False
    facts: Facts = field(default_factory=dict)

    def number(self, relation: str) -> int:
        """Return the first value of a numeric relation."""
        value = self.facts[relation][0].what
        assert isinstance(value, int)
        return value


CHANGING = frozenset({"employer", "mayor", "population", "seat", "staff", "winner", "visitors"})
"""Relations with a value for each of several years."""
ENTITIES_PER_WORLD = {"town": 6, "person": 11, "company": 4, "work": 6, "event": 4}


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
    world.town = [_town(world, names.town()) for _ in range(ENTITIES_PER_WORLD["town"])]
    for _ in range(ENTITIES_PER_WORLD["person"]):
        name, woman = names.person()
        world.person.append(_person(world, name, woman))
    for person in world.person:
        _add_teacher(world, person)
    world.company = [_company(world, names.company()) for _ in range(ENTITIES_PER_WORLD["company"])]
    for person in world.person:
        _add_employers(world, person)
    for town in world.town:
        _add_mayors(world, town)
    world.work = [_work(world, names.work()) for _ in range(ENTITIES_PER_WORLD["work"])]
    world.event = [_event(world, names.event()) for _ in range(ENTITIES_PER_WORLD["event"])]
    return world


def make_namesake(world: World, of: Entity, same_tag: bool) -> Entity:
    """Draw another entity of that name with facts of its own, so that the name alone does not say which is meant."""
    other = _NAMESAKE_MAKERS[of.kind](world, of)
    other.tag = of.tag if same_tag else world.rng.choice([t for t in world.names.tags(of.kind) if t != of.tag])
    if "tag" in other.facts:
        other.facts["tag"] = [Value(other.tag)]
    # Both get the same years: a year in the question must not tell the two apart by accident.
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


def _company(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("company"))
    founder = rng.choice(world.person)
    founded = founder.number("born") + rng.randint(21, 48)
    first_seat, second_seat = rng.sample(world.town, 2)
    early, late = founded + rng.randint(3, 20), founded + rng.randint(24, 60)
    return Entity(
        "company",
        name,
        tag,
        facts={
            "tag": [Value(tag)],
            "founder": [Value(founder)],
            "founded": [Value(founded)],
            "seat": [Value(first_seat, founded), Value(second_seat, founded + rng.randint(8, 50))],
            "staff": [Value(rng.randint(12, 900), early), Value(rng.randint(30, 6000), late)],
        },
    )


def _work(world: World, name: str) -> Entity:
    rng = world.rng
    tag = rng.choice(world.names.tags("work"))
    author = rng.choice(world.person)
    year = author.number("born") + rng.randint(22, 60)
    trading = [company for company in world.company if company.number("founded") <= year] or world.company
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
    _add_mayors(world, other)
    return other


def _person_namesake(world: World, of: Entity) -> Entity:
    other = _person(world, of.name, of.woman)
    _add_teacher(world, other)
    _add_employers(world, other)
    return other


_NAMESAKE_MAKERS: dict[str, Callable[[World, Entity], Entity]] = {
    "town": _town_namesake,
    "person": _person_namesake,
    "company": lambda world, of: _company(world, of.name),
    "work": lambda world, of: _work(world, of.name),
    "event": lambda world, of: _event(world, of.name),
}
