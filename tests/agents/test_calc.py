"""The calculator is exact, bounded, and never runs code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.tools import MAX_BITS, MAX_CHARS, CalcError, calc, evaluate

TraceFunction = Callable[[FrameType, str, Any], Any]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("2-3-4", "-5"),
        ("24/4/2", "3"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("7 % 4", "3"),
        ("0.1+0.2", "0.3"),
        (".5*4", "2"),
        ("--3", "3"),
        ("1/3*3", "1"),
        ("100*1.05", "105"),
        ("3 >= 3", "yes"),
        ("1+1 != 2", "no"),
        ("0.1+0.2 == 0.3", "yes"),
        ("  12  ", "12"),
        ("１２+1", "13"),
    ],
)
def test_arithmetic_as_at_school(expression: str, value: str) -> None:
    assert calc(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1+",
        "(1",
        "1)",
        "1 2",
        "1/0",
        "5%0",
        "0**-1",
        "2**0.5",
        "x",
        "__import__('os')",
        "1,000",
        "1 < 2 < 3",
        "((",
    ],
)
def test_bad_expressions_return_an_error(expression: str) -> None:
    assert calc(expression).startswith("error: ")


def lines_run(expression: str) -> int:
    """Number of Python lines that an expression executes. Unlike the time, it is the same on every machine."""
    count = 0

    def traced(frame: FrameType, event: str, argument: object) -> TraceFunction:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        result = calc(expression)
    finally:
        sys.settrace(before)
    assert result.startswith("error: ")
    return count


@pytest.mark.parametrize(
    ("expression", "most"),
    [
        ("(" * 1_000_000, 10),
        ("(" * 500_000 + "1" + ")" * 500_000, 10),
        ("1+" * 500_000 + "1", 10),
        ("__import__('os').system('true')", 20),
        ("9**9**9", 500),
        ("10**999", 200),
        ("9" * MAX_CHARS, 100),
        ("(" * MAX_CHARS, 3_000),
        ("-" * (MAX_CHARS - 1) + "1", 3_000),
        ("9**" * 100 + "9", 3_000),
        ("2**" * 100 + "2", 3_000),
    ],
)
def test_every_expression_is_cheap(expression: str, most: int) -> None:
    assert 0 < lines_run(expression) <= most


@given(st.text(alphabet="0123456789+-*/%(). ", max_size=MAX_CHARS))
def test_no_result_is_larger_than_the_bound(expression: str) -> None:
    """The number of lines bounds the cost only if all numbers stay small."""
    try:
        value = evaluate(expression)
    except CalcError:
        return
    assert not isinstance(value, bool)
    assert max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS


@given(st.text(max_size=MAX_CHARS + 10))
def test_any_text_gives_a_text(expression: str) -> None:
    assert calc(expression)


@given(st.text(alphabet="0123456789+-*/%().<>= ", max_size=60))
def test_any_sum_gives_a_number_a_verdict_or_an_error(expression: str) -> None:
    value = calc(expression)
    assert value in ("yes", "no") or value.startswith("error: ") or float(value) == float(value)


whole = st.integers(-(10**6), 10**6)


@given(whole, whole, whole)
def test_results_are_exact(a: int, b: int, c: int) -> None:
    assert evaluate(f"({a}) * ({b}) - ({c})") == a * b - c
    if b:
        assert evaluate(f"({a}) / ({b}) + ({c})") == Fraction(a, b) + c
