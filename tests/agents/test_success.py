"""A correct answer is accepted in any common format, a wrong answer in none."""

from __future__ import annotations

import pytest

from askgate_env.success import correct
from askgate_env.types import Sample, Task
from tests.data.samples import changed, make_sample


def asked(task: Task, gold: str, *aliases: str) -> Sample:
    return changed(make_sample("a", "q", task=task, answer=gold), aliases=aliases)


@pytest.mark.parametrize(
    ("task", "gold", "answer"),
    [
        ("hotpotqa", "The Frozen Ship", "frozen  ship."),
        ("hotpotqa", "U.S. Navy", "us navy"),
        ("hotpotqa", "《冰船》", "冰船。"),
        ("hotpotqa", "１９０５", "1905"),
        ("hotpotqa", "The The", "the the"),
        ("hotpotqa", "!!!", "!!!"),
        ("strategyqa", "yes", "Yes."),
        ("strategyqa", "no", "No"),
        ("strategyqa", "是", "是。"),
        ("strategyqa", "否", "否"),
        ("strategyqa", "否", "no"),
        ("strategyqa", "yes", "True"),
        ("strategyqa", "yes", "Yes, it was."),
        ("strategyqa", "是", "没错"),
        ("strategyqa", "是", "是的，早于后者。"),
        ("strategyqa", "否", "并非"),
        ("gsm8k", "1250.5", "$1,250.50"),
        ("gsm8k", "4320", "4320块"),
        ("gsm8k", "0.333333", "0.3333334"),
        ("gsm8k", "-3", "-3"),
        ("gsm8k", "0.5", ".5"),
        ("gsm8k", "42", "The answer is 42."),
        ("gsm8k", "42", "４２"),
    ],
)
def test_correct_answers(task: Task, gold: str, answer: str) -> None:
    assert correct(asked(task, gold), answer)


@pytest.mark.parametrize(
    ("task", "gold", "answer"),
    [
        ("hotpotqa", "The Frozen Ship", "ship"),
        ("hotpotqa", "The Frozen Ship", "The Frozen Ship or The Old Mill"),
        ("hotpotqa", "The The", "."),
        ("strategyqa", "yes", "no"),
        ("strategyqa", "yes", "yes and no"),
        ("strategyqa", "yes", "yes, no"),
        ("strategyqa", "no", "It is not known."),
        ("strategyqa", "是", "不是"),
        ("strategyqa", "yes", "maybe"),
        ("gsm8k", "42", "42 or 43"),
        ("gsm8k", "42", "42.00001"),
        ("gsm8k", "42", "-42"),
        ("gsm8k", "42", "4 2"),
        ("gsm8k", "1250", "1,25,0"),
        ("gsm8k", "42", "forty-two"),
        ("gsm8k", "42", "9" * 5_000),
        ("hotpotqa", "Lund", ""),
        ("gsm8k", "42", " "),
    ],
)
def test_wrong_answers(task: Task, gold: str, answer: str) -> None:
    assert not correct(asked(task, gold), answer)


def test_an_alias_is_as_good_as_the_gold_answer() -> None:
    assert correct(asked("hotpotqa", "New York City", "NYC"), "nyc")
    assert not correct(asked("hotpotqa", "New York City"), "nyc")


def test_no_answer_is_wrong() -> None:
    assert not correct(asked("hotpotqa", "Lund"), None)
