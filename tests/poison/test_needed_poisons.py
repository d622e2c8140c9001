"""Asks that are not needed: a problem that is complete without its sentence."""

from __future__ import annotations

from msgspec.structs import replace

from src.core.types import Hidden, Sample
from src.data.quality.needed import rest_is_complete
from tests.data.samples import make_sample

from .table import poison


def real(sample: Sample) -> Sample:
    return replace(sample, provenance=replace(sample.provenance, source="dir"))


def problem(prompt: str, span: str, expression: str) -> Sample:
    sample = real(make_sample("a", prompt, hidden=Hidden("quantity", span, "how many", ("eggs",))))
    calls = [replace(turn, text=expression) if turn.act == "call" else turn for turn in sample.dialogue]
    return replace(sample, dialogue=tuple(calls))


@poison("pool/consistency")
def test_a_dropped_addend_that_leaves_a_complete_problem_is_named() -> None:
    rest = "Trisha found 6 eggs in the back yard. How many eggs did she find?"
    assert rest_is_complete(problem(rest, "There was also a nest with 4 eggs in her front yard.", "6+4"))
    assert rest_is_complete(problem(rest, "There was also a nest with 4 eggs in her front yard.", "(6+4)*2"))


def test_a_dropped_addend_that_the_rest_compares_with_leaves_a_gap() -> None:
    rest = "The jar has $24. Martha spent half as much as Doris. How much is left?"
    assert not rest_is_complete(problem(rest, "Doris spent $6 from the jar.", "24-6"))


def test_a_dropped_rate_leaves_a_gap() -> None:
    rest = "Ida fills 5 crates. How many bottles does she need?"
    assert not rest_is_complete(problem(rest, "Each crate holds 12 bottles.", "5*12"))


@poison("pool/consistency")
def test_a_dropped_number_that_nothing_uses_leaves_a_complete_problem() -> None:
    rest = "Ida fills 5 crates with 3 bottles each. How many bottles does she need?"
    assert rest_is_complete(problem(rest, "Her sister has 12 cats.", "5*3"))
