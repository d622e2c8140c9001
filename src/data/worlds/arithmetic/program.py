"""Programs of word problems: stated quantities, derived steps, one answer. The text adds words and no numbers.

Formulas are small arithmetic expressions over named quantities. They are evaluated exactly and printed with numbers for
the `calc` tool.

>>> total = parse("crates * per - broken")
>>> evaluate(total, {"crates": 5, "per": 12, "broken": 3})
57
>>> show(total, {"crates": 5, "per": 12, "broken": 3})
'5 * 12 - 3'
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from random import Random

from msgspec import Struct

from askgate_env.tools import number_text
from askgate_env.types import Record

from ..texts import Words, load_text

COUNTED = "n"
"""Kind of the quantities that must be whole: nobody packs 3.5 bottles."""
LARGEST = 2_000_000
"""Largest number that a story may contain."""
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

Number = int | Fraction
Expr = str | int | tuple[str, "Expr", "Expr"]
"""A name, a constant, or an operator with its two sides."""

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_DIRECT: dict[str, Callable[[Number, Number], Number]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


def parse(text: str) -> Expr:
    try:
        return _from_tree(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"not arithmetic: {text}") from None


def _from_tree(node: ast.expr) -> Expr:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)], _from_tree(node.left), _from_tree(node.right)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise ValueError(f"not arithmetic: {ast.unparse(node)}")


def evaluate(expr: Expr, values: Mapping[str, Number]) -> Number:
    """Evaluate exactly. Whole numbers stay plain integers, which are fast; everything else is a fraction."""
    if isinstance(expr, str):
        return values[expr]
    if isinstance(expr, int):
        return expr
    sign, left, right = expr
    a, b = evaluate(left, values), evaluate(right, values)
    if sign != "/":
        return _DIRECT[sign](a, b)
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return _whole_if_possible(Fraction(a) / b)


def _whole_if_possible(number: Number) -> Number:
    return number.numerator if number.denominator == 1 else number


def substitute(expr: Expr, known: Mapping[str, Expr]) -> Expr:
    if isinstance(expr, str):
        return known.get(expr, expr)
    if isinstance(expr, int):
        return expr
    return expr[0], substitute(expr[1], known), substitute(expr[2], known)


def count_operators(expr: Expr) -> int:
    return 1 + count_operators(expr[1]) + count_operators(expr[2]) if isinstance(expr, tuple) else 0


def show(expr: Expr, values: Mapping[str, Number], inside: int = 0) -> str:
    """Print an expression with numbers in place of names and no bracket that is not needed.

    `inside` is the lowest precedence that goes without brackets where the expression is put.
    """
    if isinstance(expr, str):
        return number_text(Fraction(values[expr]))
    if isinstance(expr, int):
        return str(expr)
    sign, left, right = expr
    precedence = _PRECEDENCE[sign]
    shown_right = show(right, values, precedence + (sign in "-/"))
    text = f"{show(left, values, precedence)} {sign} {shown_right}"
    return f"({text})" if precedence < inside else text


class Quantity:
    """A quantity that is drawn, from its text in `programs.yaml`: `n 6..40`, `$ 2,4,8`, `n =crates * per`.

    `kind`: n counted, w measured, $ money, % percent, d day of a month, M month, a not told to anybody.
    """

    def __init__(self, text: str) -> None:
        self.kind, rule = text.split(" ", 1)
        self.formula = parse(rule[1:]) if rule.startswith("=") else None
        """Set where the quantity follows from others, so that the answer comes out even."""
        self.domain: tuple[Number, ...] = () if self.formula is not None else _domain(rule)


def _domain(rule: str) -> tuple[Number, ...]:
    if ".." not in rule:
        return tuple(_number(part) for part in rule.split(","))
    bounds, _, width = rule.partition("/")
    low, high = (_number(part) for part in bounds.split(".."))
    step = _number(width or "1")
    count = int((high - low) / step) + 1
    return tuple(_whole_if_possible(low + place * step) for place in range(count))


def _number(text: str) -> Number:
    return _whole_if_possible(Fraction(text.strip()))


class Step:
    """A quantity that is computed from others, from its text in `programs.yaml`: `n = crates * per`."""

    def __init__(self, text: str) -> None:
        self.kind, formula = text.split(" = ", 1)
        self.formula = parse(formula)


class ScenePlan(Record, frozen=True):
    """Calculation of a scene, before any number is drawn."""

    gives: str
    quantities: dict[str, Quantity]
    steps: dict[str, Step]
    group: str = ""
    takes: Words = Words()
    """Kinds of result that it can continue from; empty for a scene that opens a story."""
    hideable: Words = Words()
    """Quantities that a message may leave out."""

    @property
    def operations(self) -> int:
        return sum(count_operators(step.formula) for step in self.steps.values())


class ScenePlans(Record, frozen=True):
    """`programs.yaml`: scenes that open a story, and scenes that continue from the result of another."""

    opening: dict[str, ScenePlan]
    further: dict[str, ScenePlan]

    def __getitem__(self, key: str) -> ScenePlan:
        return self.opening.get(key) or self.further[key]


@cache
def scene_plans() -> ScenePlans:
    return load_text("programs.yaml", ScenePlans)


class Program(Struct, frozen=True):
    """Plans with numbers drawn: `givens` are what the story states, `values` also hold every derived step."""

    givens: dict[str, Number]
    kinds: dict[str, str]
    steps: dict[str, Expr]
    """Name of each derived quantity -> its formula; the last is the answer."""
    values: dict[str, Number]

    @property
    def answer(self) -> Fraction:
        return Fraction(self.values[list(self.steps)[-1]])

    @property
    def operations(self) -> int:
        """Operators in the `calc` calls when every step has a call of its own."""
        return sum(map(count_operators, self.steps.values()))


EMPTY = Program({}, {}, {}, {})


def extend(program: Program, plan: ScenePlan, rng: Random, tries: int) -> Program | None:
    """Draw a plan's quantities and add its steps to a program; None where no draw gave plausible numbers."""
    before = list(program.steps)[-1] if program.steps else ""
    steps = {name: substitute(step.formula, {"prev": before}) for name, step in plan.steps.items()}
    for _ in range(tries):
        drawn = _draw(plan, rng, {"prev": program.values[before]} if before else {})
        values = {**program.values, **drawn}
        is_positive = min(drawn.values()) > 0 and _derive(steps, values)
        if is_positive and all(_plausible(values[name], step.kind) for name, step in plan.steps.items()):
            return Program(
                givens={**program.givens, **drawn},
                kinds={**program.kinds, **{name: quantity.kind for name, quantity in plan.quantities.items()}},
                steps={**program.steps, **steps},
                values=values,
            )
    return None


def _draw(plan: ScenePlan, rng: Random, known: Mapping[str, Number]) -> dict[str, Number]:
    drawn: dict[str, Number] = {}
    for name, quantity in plan.quantities.items():
        if quantity.formula is not None:
            drawn[name] = evaluate(quantity.formula, {**known, **drawn})
        else:
            drawn[name] = quantity.domain[int(rng.random() * len(quantity.domain))]
        if quantity.kind == "M":
            drawn["days_in_month"] = MONTH_DAYS[int(drawn[name]) - 1]
    return drawn


def _derive(steps: Mapping[str, Expr], values: dict[str, Number]) -> bool:
    """Add every step's value; False as soon as one is not positive."""
    for name, formula in steps.items():
        result = evaluate(formula, values)
        if result <= 0:
            return False
        values[name] = result
    return True


def _plausible(number: Number, kind: str) -> bool:
    """Whole where things are counted, at most two decimals elsewhere, and not too large for a story."""
    if number > LARGEST:
        return False
    return number.denominator == 1 if kind == COUNTED else 100 % number.denominator == 0


def consistent_answers(program: Program, hidden: str) -> set[Fraction]:
    """Return the answers that fit when the quantity `hidden` is not told: the true one and those of other values."""
    answers = {program.answer}
    for other in plausible_others(program.givens[hidden], program.kinds[hidden]):
        values = {**program.givens, hidden: other}
        if _derive(program.steps, values):
            answers.add(Fraction(values[list(program.steps)[-1]]))
    return answers


def plausible_others(number: Number, kind: str) -> tuple[Number, ...]:
    """Return values that the same quantity could as well have had. None is 1: not `1 crowns a kilogram`."""
    if kind == "%":
        return number + 5, number + 10
    others = (number * 2, number * 3) if number < 2 else (number + 1, number - 1, number + 2, number * 2)
    return tuple(other for other in others if other != 1)


def expressions(program: Program, calls: int) -> list[str]:
    """Return the expressions of that many `calc` calls; steps without a call of their own are spelled out in place."""
    last = len(program.steps) - 1
    calls = max(1, min(calls, last + 1))
    kept = {round((place + 1) * (last + 1) / calls) - 1 for place in range(calls)} | {last}
    spelled: dict[str, Expr] = {}
    shown = []
    for place, (name, formula) in enumerate(program.steps.items()):
        formula = substitute(formula, spelled)
        if place in kept:
            shown.append(show(formula, program.values))
        else:
            spelled[name] = formula
    return shown


def can_be_missed(program: Program, name: str) -> bool:
    """Tell whether a quantity's number is nowhere else in the story and without it there is more than one answer."""
    told: set[Number] = set()
    for other, kind in program.kinds.items():
        if other != name and kind != "a":
            # A stay that starts in a month ends in the next.
            told |= {program.givens[other], program.givens[other] + 1} if kind == "M" else {program.givens[other]}
    return program.givens[name] not in told and len(consistent_answers(program, name)) > 1
