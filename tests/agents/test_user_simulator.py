"""The user simulator gives hidden information when asked, says when nothing is missing, and never tells the answer."""

from __future__ import annotations

import pytest

from src.agents.success import verdict
from src.agents.user_simulator import informs, reply
from src.core.types import Hidden, Sample
from src.data.quality.consistency import occurs
from tests.data.samples import changed, make_sample

BARE = {
    "en": [
        "please clarify",
        "Could you clarify?",
        "Can you be more specific?",
        "What do you mean?",
        "What is missing?",
        "?",
    ],
    "zh": ["请说清楚", "能再具体一点吗？", "您指的是什么？", "请补充说明", "缺少什么信息？", "？"],
}
ASIDE = {
    "en": [
        "What is the colour of the roof?",
        "Do you like violins?",
        "Tell me the answer, please.",
        "Where was Zorblax born?",
    ],
    "zh": ["屋顶刷的啥漆？", "喜欢小提琴吗？", "把答案告诉我"],
}
ASK_BACK = {"en": "What exactly would you like to know?", "zh": "您具体想知道哪一点？"}
NOTHING = {"en": "Nothing is missing", "zh": "没有遗漏"}

PRICE = Hidden(
    "quantity", "A straw hat is 18 pounds.", "how much one straw hat costs", ("cost", "costs", "price", "straw hat")
)
NAME = Hidden("entity", "the chemist", "which Vera Lindqvist you mean", ("Vera", "Lindqvist", "which one", "mean"))
YEAR = Hidden("year", "in 1899", "which year you mean", ("year", "when", "date", "time", "period"))
PRICE_ZH = Hidden("quantity", "儿童票7元一张。", "儿童票多少钱一张", ("儿童", "孩子", "票价", "多少钱"))
NAME_ZH = Hidden("entity", "那位画家", "您说的林宁是哪位", ("林宁", "哪一", "指的"))
YEAR_ZH = Hidden("year", "1899年", "您问的是哪一年", ("年", "时间", "时候", "何时", "日期"))


def lacking(pool: list[Sample]) -> list[Sample]:
    return [sample for sample in pool if sample.needs_clarification]


def without_demonstration(hidden: Hidden, lang: str = "en") -> Sample:
    return changed(make_sample("a", "A question", hidden=hidden), dialogue=(), lang=lang)


def ask_of(sample: Sample) -> str:
    return next(turn.text for turn in sample.dialogue if turn.act == "ask")


@pytest.mark.parametrize(
    ("hidden", "lang", "ask"),
    [
        (PRICE, "en", "How much does one straw hat cost?"),
        (PRICE, "en", "What is the price?"),
        (PRICE, "en", "Captain, tell me what the straw hats cost!"),
        (NAME, "en", "Which Vera Lindqvist do you mean?"),
        (NAME, "en", "Which Lindqvist, the painter or the chemist?"),
        (YEAR, "en", "In what year?"),
        (YEAR, "en", "When was that?"),
        (YEAR, "en", "For which year do you want the inhabitants?"),
        (PRICE_ZH, "zh", "儿童票一张多少钱？"),
        (PRICE_ZH, "zh", "孩子的票价呢？"),
        (NAME_ZH, "zh", "您指的是哪位林宁？"),
        (YEAR_ZH, "zh", "请问是什么时候的事？"),
        (YEAR_ZH, "zh", "说的是哪一年的居民？"),
    ],
)
def test_a_question_in_own_words_gets_the_hidden_span(hidden: Hidden, lang: str, ask: str) -> None:
    sample = without_demonstration(hidden, lang)
    assert hidden.span in reply(sample, ask)
    assert reply(sample, ask) == reply(sample, ask)


@pytest.mark.parametrize(
    ("hidden", "lang", "ask"),
    [
        (PRICE, "en", "How much does a pack of paper cost?"),
        (PRICE, "en", "How many straws are in a bale?"),
        (NAME, "en", "When was Vera Lindqvist born?"),
        (NAME, "en", "Which year do you mean?"),
        (YEAR, "en", "Which one do you mean?"),
        (YEAR, "en", "How many litres a year does it take?"),
        (PRICE_ZH, "zh", "一升油多少钱？"),
        (NAME_ZH, "zh", "您问的是哪一年？"),
        (NAME_ZH, "zh", "林宁有孩子没有？"),
        (YEAR_ZH, "zh", "您指的是哪一位？"),
    ],
)
def test_unrelated_questions_get_nothing(hidden: Hidden, lang: str, ask: str) -> None:
    assert hidden.span not in reply(without_demonstration(hidden, lang), ask)


def test_replies_use_the_words_of_the_demonstration(pool: list[Sample]) -> None:
    for sample in lacking(pool):
        said = [after for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False) if turn.act == "ask"]
        assert reply(sample, ask_of(sample)) == said[0].text


def test_a_bare_demand_is_always_asked_back(pool: list[Sample]) -> None:
    """If the replies differed, the cheapest ask would reveal which samples are incomplete."""
    for sample in pool:
        assert {reply(sample, ask) for ask in BARE[sample.lang]} == {ASK_BACK[sample.lang]}


def test_complete_samples_say_so_in_their_language(pool: list[Sample]) -> None:
    asks = {lang: [ask_of(sample) for sample in lacking(pool) if sample.lang == lang][:20] for lang in ("en", "zh")}
    for sample in pool:
        if not sample.needs_clarification:
            for ask in asks[sample.lang]:
                assert reply(sample, ask).startswith(NOTHING[sample.lang])


def test_other_questions_never_reveal_the_span(pool: list[Sample]) -> None:
    """Includes asks from other samples that want another kind of information."""
    for sample in lacking(pool):
        assert sample.hidden is not None
        others = [
            ask_of(other)
            for other in lacking(pool)
            if other.lang == sample.lang and other.hidden and other.hidden.kind != sample.hidden.kind
        ]
        assert len(others) > 20
        for ask in (*BARE[sample.lang], *ASIDE[sample.lang], *others):
            assert sample.hidden.span not in reply(sample, ask), (ask, sample.hidden)


def test_a_price_is_seldom_taken_for_another_price(pool: list[Sample]) -> None:
    """Two prices in similar words (a litre of fuel, a litre of gloss) are confused in fewer than 2% of cases."""
    given = [
        sample.hidden.span in reply(sample, ask_of(other))
        for sample in lacking(pool)
        for other in lacking(pool)
        if sample.hidden and other.hidden and sample.lang == other.lang
        if sample.hidden.kind == other.hidden.kind != "year" and sample.hidden.about != other.hidden.about
    ]
    assert len(given) > 1_000
    assert sum(given) < len(given) / 50


def test_no_reply_holds_the_gold_answer_unless_the_span_does(pool: list[Sample]) -> None:
    asks = {lang: [ask_of(sample) for sample in lacking(pool) if sample.lang == lang] for lang in ("en", "zh")}
    for sample in pool:
        span = sample.hidden.span if sample.hidden else ""
        for ask in (
            *BARE[sample.lang],
            *ASIDE[sample.lang],
            *asks[sample.lang][:30],
            *asks[sample.lang][-30:],
            sample.answer,
        ):
            told = reply(sample, ask)
            if sample.task == "strategyqa":
                assert verdict(told) is None
            else:
                assert not occurs(sample.answer, told) or occurs(sample.answer, span)


def test_replies_do_not_depend_on_the_gold_answer(pool: list[Sample]) -> None:
    for sample in lacking(pool):
        assert reply(changed(sample, answer="?", aliases=()), ask_of(sample)) == reply(sample, ask_of(sample))


@pytest.mark.parametrize(
    ("hidden", "lang", "ask"), [(NAME, "en", "Which one do you mean?"), (NAME_ZH, "zh", "您指的是哪一位？")]
)
def test_a_generic_which_one_is_asked_back(hidden: Hidden, lang: str, ask: str) -> None:
    """Otherwise one generic ask would reveal every hidden name."""
    assert not informs(reply(without_demonstration(hidden, lang), ask))


def test_repeating_the_prompt_rarely_helps(pool: list[Sample]) -> None:
    needy = [sample for sample in pool if sample.hidden is not None]
    opened = [informs(reply(sample, f"Which one do you mean, what year, who: {sample.prompt}")) for sample in needy]
    assert sum(opened) < 0.1 * len(needy)
