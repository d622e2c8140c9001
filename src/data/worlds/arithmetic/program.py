"""A problem is a program first: stated quantities, derived steps, one answer. The text adds words, no numbers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from random import Random

from msgspec import Struct

from ....core.errors import BadInput
from ....core.types import Record
from ..texts import FOLDER, Words, load_text
from .expr import Expr, Number, operators, parse, replace, show, value
from .expr import whole_if_possible as plain

PROGRAMS = "programs.yaml"
COUNTED = frozenset("n")
"""Kinds whose values must be whole: nobody packs 3.5 bottles."""
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Given(Struct, frozen=True):
    """A quantity that is drawn. `kind`: n counted, w measured, $ money, % percent, d day of a month, M
    month, a not told to anybody."""

    name: str
    kind: str
    domain: tuple[Number, ...] = ()
    formula: Expr | None = None
    """Set where the quantity follows from others, so that the answer comes out even."""


class Derived(Struct, frozen=True):
    name: str
    kind: str
    formula: Expr


class Plan(Struct, frozen=True):
    """What a scene computes, before any number is drawn."""

    key: str
    group: str
    takes: tuple[str, ...]
    """The kinds of result that it can go on from; none for a scene that opens a story."""
    gives: str
    givens: tuple[Given, ...]
    steps: tuple[Derived, ...]
    hideable: tuple[str, ...]


class Program(Struct, frozen=True):
    """Numbers drawn: `givens` are what the story states, `values` also hold every derived step."""

    givens: dict[str, Number]
    kinds: dict[str, str]
    steps: tuple[Derived, ...]
    values: dict[str, Number]

    @property
    def answer(self) -> Fraction:
        return Fraction(self.values[self.steps[-1].name])


EMPTY = Program({}, {}, (), {})


class PlanText(Record, frozen=True):
    """A plan as `programs.yaml` writes it."""

    gives: str
    quantities: dict[str, str]
    steps: dict[str, str]
    group: str = ""
    takes: Words = Words()
    hideable: Words = Words()


class PlanTexts(Record, frozen=True):
    """`programs.yaml`."""

    opening: dict[str, PlanText]
    further: dict[str, PlanText]


class ScenePlans(Struct, frozen=True):
    """What the scenes compute: those that open a story, and those that go on from the result of another."""

    opening: dict[str, Plan]
    further: dict[str, Plan]


@cache
def scene_plans() -> ScenePlans:
    texts = load_text(PROGRAMS, PlanTexts)
    return ScenePlans(
        *({key: _read_plan(key, text) for key, text in part.items()} for part in (texts.opening, texts.further))
    )


def _read_plan(key: str, text: PlanText) -> Plan:
    try:
        givens = tuple(_read_given(name, rule) for name, rule in text.quantities.items())
        steps = tuple(_read_step(name, rule) for name, rule in text.steps.items())
    except (ValueError, SyntaxError) as error:
        raise BadInput(
            str(error), where=f"{FOLDER / PROGRAMS}, scene {key}", remedy="see the head of the file"
        ) from None
    return Plan(key, text.group, text.takes, text.gives, givens, steps, text.hideable)


def _read_given(name: str, rule: str) -> Given:
    kind, domain = rule.split(" ", 1)
    if domain.startswith("="):
        return Given(name, kind, formula=parse(domain[1:]))
    if ".." not in domain:
        return Given(name, kind, tuple(_number(part) for part in domain.split(",")))
    bounds, _, width = domain.partition("/")
    low, high = (_number(part) for part in bounds.split(".."))
    step = _number(width or "1")
    return Given(name, kind, tuple(plain(low + place * step) for place in range(int((high - low) / step) + 1)))


def _number(text: str) -> Number:
    return plain(Fraction(text.strip()))


def _read_step(name: str, rule: str) -> Derived:
    kind, formula = rule.split(" = ", 1)
    return Derived(name, kind, parse(formula))


def extend(program: Program, plan: Plan, rng: Random, tries: int) -> Program | None:
    """The program with this plan's quantities drawn and steps added; None where no draw came out nice."""
    before = program.steps[-1].name if program.steps else ""
    steps = plan.steps
    if before:
        steps = tuple(Derived(step.name, step.kind, replace(step.formula, {"prev": before})) for step in steps)
    for _ in range(tries):
        drawn = draw(plan, rng, {"prev": program.values[before]} if before else {})
        values = {**program.values, **drawn}
        if (
            min(drawn.values()) > 0
            and derive(steps, values)
            and all(nice(values[step.name], step.kind) for step in steps)
        ):
            return Program(
                givens={**program.givens, **drawn},
                kinds={**program.kinds, **{given.name: given.kind for given in plan.givens}},
                steps=program.steps + steps,
                values=values,
            )
    return None


def draw(plan: Plan, rng: Random, known: Mapping[str, Number]) -> dict[str, Number]:
    drawn: dict[str, Number] = {}
    for given in plan.givens:
        if given.formula is not None:
            drawn[given.name] = value(given.formula, {**known, **drawn})
        else:
            drawn[given.name] = given.domain[int(rng.random() * len(given.domain))]
        if given.kind == "M":
            drawn["days_in_month"] = MONTH_DAYS[int(drawn[given.name]) - 1]
    return drawn


def derive(steps: tuple[Derived, ...], values: dict[str, Number]) -> bool:
    """Fill in every step's value; False as soon as one is not positive."""
    for step in steps:
        result = value(step.formula, values)
        if result <= 0:
            return False
        values[step.name] = result
    return True


def nice(number: Number, kind: str) -> bool:
    """Whole where things are counted, at most two decimals elsewhere, and of a size that a story can bear."""
    if number > 2_000_000:
        return False
    return number.denominator == 1 if kind in COUNTED else 100 % number.denominator == 0


def consistent_answers(program: Program, hidden: str) -> set[Fraction]:
    """Every answer that fits what is left when the quantity `hidden` is not told: the true one and those of others."""
    found = {program.answer}
    for other in plausible_others(program.givens[hidden], program.kinds[hidden]):
        values = {**program.givens, hidden: other}
        if derive(program.steps, values):
            found.add(Fraction(values[program.steps[-1].name]))
    return found


def plausible_others(number: Number, kind: str) -> tuple[Number, ...]:
    """Values that the same quantity could as well have had."""
    if kind == "%":
        return number + 5, number + 10
    if number < 2:
        return number * 2, number * 3
    return number + 1, number - 1, number + 2, number * 2


def expressions(program: Program, calls: int) -> list[tuple[str, str]]:
    """(step name, expression with numbers) for so many calc calls: steps in between are spelled out in place."""
    last = len(program.steps) - 1
    calls = max(1, min(calls, last + 1))
    kept = {round((place + 1) * (last + 1) / calls) - 1 for place in range(calls)} | {last}
    spelled: dict[str, Expr] = {}
    out = []
    for place, step in enumerate(program.steps):
        formula = replace(step.formula, spelled)
        if place in kept:
            out.append((step.name, show(formula, program.values)))
        else:
            spelled[step.name] = formula
    return out


def operations(program: Program) -> int:
    """Operators in the calc calls when every step has one of its own."""
    return sum(operators(step.formula) for step in program.steps)


def told_numbers(program: Program) -> list[tuple[str, Number]]:
    """Quantities with every number that a reader may see for them: a stay that starts in a month ends in the next."""
    seen: list[tuple[str, Number]] = []
    for name, kind in program.kinds.items():
        if kind != "a":
            seen.append((name, program.givens[name]))
        if kind == "M":
            seen.append((name, program.givens[name] + 1))
    return seen
