"""Asks that are not needed: a hidden article that can be found, a problem that is complete without its sentence."""

from __future__ import annotations

from msgspec.structs import replace

from askgate_env.types import Article, Hidden, Sample
from src.data.quality.consistency import hidden_article_is_findable, rest_is_complete
from tests.data.samples import make_sample

from .table import poison

DOGS = (
    Article("Basset Hound", ("The Basset Hound is a short-legged dog.",)),
    Article("Great Dane", ("The Great Dane is a large German dog.",)),
    Article("Robert Wadlow", ("Robert Wadlow was the tallest man.",)),
)
DOG = Hidden("subject", "Great Dane", "which dog you mean", ("dog",), (("Great Dane",), ("Basset Hound",)))


def real(sample: Sample) -> Sample:
    return replace(sample, provenance=replace(sample.provenance, source="dir"))


def about_a_dog(*context: Article) -> Sample:
    prompt = "Would Robert Wadlow tower over the dog?"
    return real(make_sample("a", prompt, task="strategyqa", context=context, hidden=DOG, answer="yes"))


@poison("pool/consistency")
def test_the_only_hidden_article_of_its_noun_is_findable() -> None:
    assert hidden_article_is_findable(about_a_dog(DOGS[1], DOGS[2]))


@poison("pool/consistency")
def test_a_hidden_article_ranked_first_for_its_noun_is_findable() -> None:
    assert hidden_article_is_findable(about_a_dog(DOGS[1], DOGS[0], DOGS[2]))


def test_a_hidden_article_behind_another_of_its_noun_is_unfindable() -> None:
    assert not hidden_article_is_findable(about_a_dog(*DOGS))


def problem(prompt: str, span: str, expression: str) -> Sample:
    sample = real(make_sample("a", prompt, hidden=Hidden("quantity", span, "how many", ("eggs",))))
    calls = [replace(turn, text=expression) if turn.act == "call" else turn for turn in sample.dialogue]
    return replace(sample, dialogue=tuple(calls))


@poison("pool/consistency")
def test_a_dropped_addend_that_leaves_a_complete_problem_is_named() -> None:
    rest = "Trisha found 6 eggs in the back yard. How many eggs did she find?"
    assert rest_is_complete(problem(rest, "There was also a nest with 4 eggs in her front yard.", "6+4"))
    assert rest_is_complete(problem(rest, "There was also a nest with 4 eggs in her front yard.", "(6+4)*2"))


def test_dropping_an_addend_that_others_compare_with_leaves_gaps() -> None:
    rest = "The jar has $24. Martha spent half as much as Doris. How much is left?"
    assert not rest_is_complete(problem(rest, "Doris spent $6 from the jar.", "24-6"))


def test_a_dropped_rate_leaves_a_gap() -> None:
    rest = "Ida fills 5 crates. How many bottles does she need?"
    assert not rest_is_complete(problem(rest, "Each crate holds 12 bottles.", "5*12"))


@poison("pool/consistency")
def test_a_dropped_number_that_nothing_uses_leaves_a_complete_problem() -> None:
    rest = "Ida fills 5 crates with 3 bottles each. How many bottles does she need?"
    assert rest_is_complete(problem(rest, "Her sister has 12 cats.", "5*3"))
