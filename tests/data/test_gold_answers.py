"""Gold answers of built-in samples, computed again from their text by a program that shares no code with the pool
builder."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from bench.gold_answers import builtin
from tests.data.build_samples import built, small_plan


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    return [msgspec.to_builtins(sample) for sample in built(small_plan(36))]


def test_the_text_of_a_sample_gives_only_its_answer(samples: list[dict[str, Any]]) -> None:
    wrong = [(one["prompt"], one["answer"], found) for one in samples if (found := builtin(one)) != {one["answer"]}]
    assert not wrong


def test_without_the_hidden_fact_several_answers_or_none_are_left(samples: list[dict[str, Any]]) -> None:
    hidden = [one for one in samples if one["hidden"]]
    assert hidden
    for one in hidden:
        assert builtin(one | {"hidden": None}) != {one["answer"]}, one["prompt"]


def test_another_number_in_the_articles_gives_another_answer(samples: list[dict[str, Any]]) -> None:
    """The answer comes from the text: with a year changed in it, the old answer is not found."""
    asked = next(one for one in samples if one["task"] == "hotpotqa" and one["answer"].isdecimal())
    changed = json.dumps(asked["context"]).replace(asked["answer"], str(int(asked["answer"]) + 1))
    assert builtin(asked | {"context": json.loads(changed)}) == {str(int(asked["answer"]) + 1)}
