"""A flag value that cannot be parsed is refused with the flag and an example."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.types import TASKS
from src.cli import parse
from src.core.errors import BadInput


@pytest.mark.parametrize(
    ("read", "text", "flag", "problem"),
    [
        (parse.mix, "hotpotqa:0.45,strategyqa:0.30,gsm8k:0.20", "--mix", "sum to 0.95"),
        (parse.mix, "hotpotqa:0.5,triviaqa:0.5", "--mix", "'triviaqa' is not known"),
        (parse.mix, "hotpotqa:1.5,gsm8k:-0.5", "--mix", "share of gsm8k is -0.5"),
        (parse.mix, "hotpotqa:nan,gsm8k:1", "--mix", "share of hotpotqa is nan"),
        (parse.mix, "hotpotqa:inf", "--mix", "share of hotpotqa is inf"),
        (parse.mix, "hotpotqa:half,gsm8k:0.5", "--mix", "'half' is not a number"),
        (parse.mix, "hotpotqa,gsm8k:1", "--mix", "'hotpotqa' has no share"),
        (parse.mix, "gsm8k:0.5,gsm8k:0.5", "--mix", "gsm8k is named twice"),
        (parse.mix, "", "--mix", "'' is not known"),
        (parse.mix, "gsm8k:0", "--mix", "sum to 0"),
        (parse.target, "easy:0.25,medium:0.45,hard:0.40", "--target", "sum to 1.1"),
        (parse.target, "easy:0.5,brutal:0.5", "--target", "'brutal' is not known"),
        (parse.tasks, "hotpotqa,squad", "--by-task", "'squad' is not known"),
        (parse.tasks, "gsm8k,gsm8k", "--by-task", "names one twice"),
        (parse.tools, "wiki,shell", "--tools", "'shell' is not known"),
        (parse.langs, "en,fr", "--lang", "'fr' is not known"),
    ],
)
def test_unparseable_values_are_named_with_their_flag(
    read: Callable[[str], object], text: str, flag: str, problem: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read(text)
    assert caught.value.where == flag
    assert problem in caught.value.what
    assert caught.value.remedy


def test_the_example_in_a_remedy_parses() -> None:
    with pytest.raises(BadInput) as caught:
        parse.mix("gsm8k:0.9")
    assert set(parse.mix(caught.value.remedy.removeprefix("write it like "))) == set(TASKS)


def test_shares_may_have_spaces_and_zeros_are_dropped() -> None:
    assert parse.mix(" gsm8k : 1.0 , hotpotqa : 0 ") == {"gsm8k": 1.0}


def test_shares_may_miss_1_by_a_millionth() -> None:
    assert sum(parse.mix("hotpotqa:0.3333333,strategyqa:0.3333333,gsm8k:0.3333333").values()) == pytest.approx(1)
    with pytest.raises(BadInput):
        parse.mix("hotpotqa:0.33333,strategyqa:0.33333,gsm8k:0.33333")


def test_without_lang_all_languages_of_the_source_are_used() -> None:
    assert parse.langs("") == ()
    assert parse.langs("zh") == ("zh",)
    assert parse.langs("en, zh") == ("en", "zh")


@given(st.text())
def test_no_text_crashes_a_flag(text: str) -> None:
    for read in (parse.mix, parse.target, parse.tasks, parse.langs, parse.tools):
        with contextlib.suppress(BadInput):
            assert read(text) is not None
