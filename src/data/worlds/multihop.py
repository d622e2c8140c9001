"""Multi-hop questions over the encyclopedia, shaped like HotpotQA: bridges of two to four hops, and comparisons."""

from __future__ import annotations

from random import Random

from ..pool.source import Want
from .draft import Draft, Plan, draft
from .grammar import capitalize, fill
from .kb import CHANGING, Entity, Value, World
from .phrase import near_or_far, noun_phrase
from .scene import Leg
from .solver import Combine, Reading, plain
from .wording import WorldText

LITERAL = {"born", "died", "tag", "river", "founded", "elevation", "population", "year", "staff", "first", "visitors"}
TAG_RATE = 0.25
YEAR_RATE = 0.5


def multihop(world: World, text: WorldText, want: Want, rng: Random) -> Draft:
    """Tries until a question comes out that the solver confirms; a world rarely needs more than two tries."""
    while True:
        plan = _comparison(world, text, want, rng) if rng.random() < 0.4 else _bridge(world, text, want, rng)
        if plan is not None and (made := draft(world, text, want, rng, plan)) is not None:
            return made


def _bridge(world: World, text: WorldText, want: Want, rng: Random) -> Plan | None:
    if want.level == "easy":
        # The clue restates the first hop, so what may be open is the year of the second.
        leg = walk(world, text, rng, 2, tag_rate=0.0, last_open=True)
        known = 1
    else:
        hops = 2 if want.level == "medium" else rng.choice((3, 3, 4))
        leg = walk(world, text, rng, hops, tag_rate=TAG_RATE if hops < 4 else 0.0)
        known = 0
        if leg is not None and hops == 4 and not leg.open_years():
            return None
    if leg is None:
        return None
    return Plan([leg], plain, _bridge_text(text, want, rng, leg), known=[known])


def walk(world: World, text: WorldText, rng: Random, hops: int, tag_rate: float, last_open: bool = False) -> Leg | None:
    """A path of that many relations from a random start that passes no entity twice; None at a dead end."""
    start = rng.choice(world.all())
    here, seen = start, {start}
    relations: list[str] = []
    values: list[Value] = []
    years: list[bool] = []
    for step in range(hops):
        last = step == hops - 1
        options = [
            relation
            for relation in here.facts
            if (last and f"{here.kind}.{relation}" in text.questions.asks and (not last_open or relation in CHANGING))
            or (not last and relation not in LITERAL)
        ]
        if not options:
            return None
        relation = rng.choice(options)
        value = rng.choice(here.facts[relation])
        if value.what in seen:
            return None
        relations.append(relation)
        values.append(value)
        years.append(relation in CHANGING and not last_open and rng.random() < YEAR_RATE)
        if isinstance(value.what, Entity):
            here = value.what
            seen.add(here)
    if last_open:
        # An open first hop would be a second gap beside the last.
        years[0] = relations[0] in CHANGING
    return Leg(start, rng.random() < tag_rate, relations, values, years)


def _bridge_text(text: WorldText, want: Want, rng: Random, leg: Leg) -> str:
    asks = text.questions.asks[f"{leg.owners[-1].kind}.{leg.relations[-1]}"]
    ask = rng.choice(near_or_far(text, asks, want, rng))
    when = text.year_phrase(leg.values[-1].year if leg.year_shown[-1] else None)
    phrase = noun_phrase(text, want, rng, leg)
    if rng.random() < 0.4:
        lead = capitalize(fill(rng.choice(text.questions.leads), x=phrase))
        stand_in = rng.choice(text.questions.stand_ins[leg.owners[-1].kind])
        return lead + text.articles.sentence_gap + capitalize(fill(ask, x=stand_in, when=when))
    return capitalize(fill(ask, x=phrase, when=when))


def _comparison(world: World, text: WorldText, want: Want, rng: Random) -> Plan | None:
    fact = rng.choice(list(text.questions.comparisons))
    kind, relation = fact.split(".")
    ((pick, form),) = rng.choice(text.questions.comparisons[fact]).items()
    lengths = {"easy": (1, 1), "medium": (1, 1), "hard": rng.choice(((2, 1), (1, 2)))}[want.level]
    legs = []
    for length in lengths:
        leg = leg_to(world, rng, kind, relation, length, want.level)
        if leg is None:
            return None
        legs.append(leg)
    if legs[0].owners[-1] is legs[1].owners[-1] or legs[0].values[-1].what == legs[1].values[-1].what:
        return None
    if legs[0].start is legs[1].start:
        return None
    phrases = [noun_phrase(text, want, rng, leg) for leg in legs]
    question = capitalize(fill(form, a=phrases[0], b=phrases[1]))
    return Plan(legs, _extreme(pick), question, known=[0, 1] if want.level == "easy" else [0, 0])


def leg_to(world: World, rng: Random, kind: str, relation: str, length: int, level: str) -> Leg | None:
    """A leg whose last owner is of that kind: the entity itself, or one hop before it."""
    if length == 1:
        start = rng.choice([entity for entity in world.all() if entity.kind == kind])
        return _leg(rng, level, [start], [relation])
    before = [
        (entity, first, value)
        for entity in world.all()
        for first, values in entity.facts.items()
        for value in values
        if isinstance(value.what, Entity) and value.what.kind == kind and value.what is not entity
    ]
    if not before:
        return None
    start, first, value = rng.choice(before)
    assert isinstance(value.what, Entity)
    return _leg(rng, level, [start, value.what], [first, relation], value)


def _leg(rng: Random, level: str, owners: list[Entity], relations: list[str], first: Value | None = None) -> Leg:
    """Values for the relations, years shown or not. Easy legs are short on words: no tag, no year."""
    values = [] if first is None else [first]
    values.append(rng.choice(owners[-1].facts[relations[-1]]))
    plain_text = level == "easy"
    shown = [relation in CHANGING and not plain_text and rng.random() < YEAR_RATE for relation in relations]
    tag = not plain_text and len(relations) > 1 and rng.random() < TAG_RATE
    return Leg(owners[0], tag, relations, values, shown)


def _extreme(pick: str) -> Combine:
    def combine(choice: tuple[Reading, ...]) -> str:
        def amount(reading: Reading) -> int:
            assert isinstance(reading.value, int)
            return reading.value

        best = min(choice, key=amount) if pick == "min" else max(choice, key=amount)
        return best.passed[-1].name

    return combine
