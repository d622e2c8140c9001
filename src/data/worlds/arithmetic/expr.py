"""Small arithmetic expressions over named quantities: evaluated exactly, printed with numbers for the `calc` tool.

>>> total = parse("crates * per - broken")
>>> value(total, {"crates": 5, "per": 12, "broken": 3})
57
>>> show(total, {"crates": 5, "per": 12, "broken": 3})
'5 * 12 - 3'
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from ....agents.tools.calc import number_text

Number = int | Fraction
Expr = str | int | tuple[str, "Expr", "Expr"]
"""A name, a constant, or an operator with its two sides."""

_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
_ATOM = 3


def parse(text: str) -> Expr:
    return _from_tree(ast.parse(text.strip(), mode="eval").body)


def _from_tree(node: ast.expr) -> Expr:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)], _from_tree(node.left), _from_tree(node.right)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise ValueError(f"not arithmetic: {ast.unparse(node)}")


def value(expr: Expr, values: Mapping[str, Number]) -> Number:
    """Exact: whole numbers stay plain integers (which are fast), everything else is a fraction."""
    if isinstance(expr, str):
        return values[expr]
    if isinstance(expr, int):
        return expr
    action, left, right = expr
    a, b = value(left, values), value(right, values)
    if action == "+":
        return a + b
    if action == "-":
        return a - b
    if action == "*":
        return a * b
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b
    return whole_if_possible(Fraction(a) / b)


def whole_if_possible(number: Number) -> Number:
    return number.numerator if number.denominator == 1 else number


def replace(expr: Expr, known: Mapping[str, Expr]) -> Expr:
    """The expression with some names spelled out."""
    if isinstance(expr, str):
        return known.get(expr, expr)
    if isinstance(expr, int):
        return expr
    return expr[0], replace(expr[1], known), replace(expr[2], known)


def operators(expr: Expr) -> int:
    return 1 + operators(expr[1]) + operators(expr[2]) if isinstance(expr, tuple) else 0


def show(expr: Expr, values: Mapping[str, Number]) -> str:
    """With numbers in place of names and no bracket that is not needed."""
    return _show(expr, values)[0]


def _show(expr: Expr, values: Mapping[str, Number]) -> tuple[str, int]:
    if isinstance(expr, str):
        return number_text(Fraction(values[expr])), _ATOM
    if isinstance(expr, int):
        return str(expr), _ATOM
    action, left, right = expr
    binds = _BINDS[action]
    left_text, left_binds = _show(left, values)
    right_text, right_binds = _show(right, values)
    if left_binds < binds:
        left_text = f"({left_text})"
    if right_binds < binds or (right_binds == binds and action in "-/"):
        right_text = f"({right_text})"
    return f"{left_text} {action} {right_text}", binds
