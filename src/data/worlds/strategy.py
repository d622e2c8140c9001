"""Yes/no questions that need two or more facts nobody states in the question, shaped like StrategyQA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from ..pool.source import Step, Want
from .draft import Draft, Plan, draft
from .grammar import capitalize, fill
from .kb import Entity, World
from .multihop import leg_to
from .phrase import near_or_far, noun_phrase
from .scene import Leg
from .solver import Combine, Reading
from .wording import WorldText

Amount = int | str


@dataclass(frozen=True, slots=True)
class Family:
    """Two ends, what is read off each, the test, and the calculation that decides it ('' where none is needed)."""

    name: str
    a: tuple[str, str]
    b: tuple[str, str]
    holds: Callable[[Amount, Amount, int], bool]
    sum: str
    figures: tuple[int, ...] = (0,)
    """A number that the question names, such as an age."""


def _at_least(a: Amount, b: Amount, _: int) -> bool:
    return int(a) >= int(b)


def _below(a: Amount, b: Amount, _: int) -> bool:
    return int(a) < int(b)


def _above(a: Amount, b: Amount, _: int) -> bool:
    return int(a) > int(b)


def _same(a: Amount, b: Amount, _: int) -> bool:
    return a == b


def _ahead(a: Amount, b: Amount, n: int) -> bool:
    return int(b) - int(a) >= n


def _climb(a: Amount, b: Amount, n: int) -> bool:
    return int(b) - int(a) > n


FAMILIES = (
    Family("born_before_work", ("person", "born"), ("work", "year"), _below, "{a} < {b}"),
    Family("born_before_firm", ("person", "born"), ("company", "founded"), _below, "{a} < {b}"),
    Family("lived_to_event", ("person", "died"), ("event", "first"), _at_least, "{a} >= {b}"),
    Family("lived_to_work", ("person", "died"), ("work", "year"), _at_least, "{a} >= {b}"),
    Family("lived_to_firm", ("person", "died"), ("company", "founded"), _at_least, "{a} >= {b}"),
    Family("of_age", ("person", "born"), ("event", "first"), _ahead, "{b} - {a} >= {n}", (16, 18, 21, 25, 30)),
    Family("pupil", ("person", "born"), ("person", "died"), _below, "{a} < {b}"),
    Family("downhill", ("town", "elevation"), ("town", "elevation"), _above, "{a} > {b}"),
    Family("climb", ("town", "elevation"), ("town", "elevation"), _climb, "{b} - {a} > {n}", (50, 100, 150, 200, 300)),
    Family("jobs", ("company", "staff"), ("town", "population"), _at_least, "{a} >= {b}"),
    Family("crowd", ("event", "visitors"), ("town", "population"), _above, "{a} > {b}"),
    Family("crowd_staff", ("event", "visitors"), ("company", "staff"), _above, "{a} > {b}"),
    Family("old_town", ("town", "founded"), ("company", "founded"), _ahead, "{b} - {a} >= {n}", (200, 300, 400, 500)),
    Family("town_event", ("town", "founded"), ("event", "first"), _ahead, "{b} - {a} >= {n}", (250, 350, 450)),
    Family("work_firm", ("work", "year"), ("company", "founded"), _below, "{a} < {b}"),
    Family("work_event", ("work", "year"), ("event", "first"), _below, "{a} < {b}"),
    Family("same_region", ("town", "tag"), ("town", "tag"), _same, ""),
    Family("same_river", ("town", "river"), ("town", "river"), _same, ""),
    Family("same_calling", ("person", "tag"), ("person", "tag"), _same, ""),
    Family("same_trade", ("company", "tag"), ("company", "tag"), _same, ""),
)

LONG = ((2, 1), (1, 2))
"""Hops to each end of a hard question."""


def strategy(world: World, text: WorldText, want: Want, rng: Random) -> Draft:
    while True:
        wish = rng.random() < 0.5
        family = rng.choice(FAMILIES)
        for _ in range(12):
            plan = _plan(world, text, want, rng, family, wish)
            if plan is not None and (made := draft(world, text, want, rng, plan)) is not None:
                return made


def _plan(world: World, text: WorldText, want: Want, rng: Random, family: Family, wish: bool) -> Plan | None:
    # A tag is what tells namesakes apart: said, it would answer the question, so one end must lie a hop away.
    by_tag = family.a[1] == "tag"
    if by_tag and want.level == "easy":
        return None
    lengths = rng.choice(LONG) if by_tag or want.level == "hard" else (1, 1)
    legs: list[Leg] = []
    for (kind, relation), length in zip((family.a, family.b), lengths, strict=True):
        leg = leg_to(world, rng, kind, relation, length, want.level)
        if leg is None:
            return None
        legs.append(leg)
    if legs[0].start is legs[1].start or legs[0].owners[-1] is legs[1].owners[-1]:
        return None
    n = rng.choice(family.figures)
    a, b = (leg.values[-1].what for leg in legs)
    assert not isinstance(a, Entity)
    assert not isinstance(b, Entity)
    if family.holds(a, b, n) != wish:
        return None
    if family.sum and int(b) - int(a) in (0, n):
        return None  # a tie: everyday wording does not say which way it goes
    ends = {
        end: text.amount(noun_phrase(text, want, rng, leg), leg.values[-1].year if leg.year_shown[-1] else None)
        for end, leg in zip("ab", legs, strict=True)
    }
    form = rng.choice(near_or_far(text, text.questions.strategy[family.name], want, rng))
    question = capitalize(fill(form, **ends, n=n))
    closing = (Step("calc", family.sum.format(a=a, b=b, n=n)),) if family.sum else ()
    # Restating the second end makes a question easy; what may be open is then the first.
    return Plan(legs, _verdict(text, family, n), question, [0, 1 if want.level == "easy" else 0], closing)


def _verdict(text: WorldText, family: Family, n: int) -> Combine:
    def combine(choice: tuple[Reading, ...]) -> str:
        a, b = choice[0].value, choice[1].value
        assert isinstance(a, int | str)
        assert isinstance(b, int | str)
        return text.questions.answer_yes if family.holds(a, b, n) else text.questions.answer_no

    return combine
