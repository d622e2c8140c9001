"""The user gives what was held back to who asks for it, and never tells the answer or the label."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from askgate_env.success import verdict
from askgate_env.tokenize import occurs
from askgate_env.types import Article, Hidden, Lang, Sample
from askgate_env.user_simulator import REPLIES, gives, informs, reply
from tests.data.samples import changed, make_sample

BARE = {
    "en": [
        "please clarify",
        "Could you clarify?",
        "Can you be more specific?",
        "What do you mean?",
        "What is missing?",
        "Tell me everything.",
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
        "How many zebras live in Zanzibar?",
    ],
    "zh": ["屋顶刷的啥漆？", "喜欢小提琴吗？", "把答案告诉我", "动物园有几只斑马？"],
}
PRICE = Hidden(
    "quantity", "A straw hat is 18 pounds.", "how much one straw hat costs", ("price", "straw hat"), unit="money"
)
NAME = Hidden(
    "entity",
    "the chemist",
    "which Vera Lindqvist you mean",
    ("Vera Lindqvist", "person", "profession"),
    (("the chemist", "chemist"), ("the painter", "painter")),
)
THREE = replace(NAME, readings=(*NAME.readings, ("the weaver", "weaver")))
YEAR = Hidden(
    "year", "in 1899", "which year you mean", ("Oldby", "year", "mayor", "elected"), (("in 1899",), ("in 1874",))
)
PRICE_ZH = Hidden("quantity", "儿童票7元一张。", "儿童票多少钱一张", ("儿童", "孩子", "票价"), unit="money")
NAME_ZH = Hidden(
    "entity", "那位画家", "您说的林宁是哪位", ("林宁", "人", "职业"), (("那位画家", "画家"), ("那位版画家", "版画家"))
)
YEAR_ZH = Hidden("year", "1899年", "您问的是哪一年", ("石镇", "年", "镇长"), (("1899年",), ("1874年",)))


RIVERS = (
    Article(
        "Sulby (Eastmere)", ("Sulby is a town on the river Vern in Eastmere.", "Sulby was founded by Ada Lund in 1487.")
    ),
    Article("Sulby (Isel)", ("Sulby is a town on the river Marn in Isel.", "Sulby was founded by Otto Kern in 1726.")),
)
TOWN = Hidden(
    "entity",
    "the one in Eastmere",
    "which Sulby you mean",
    ("Sulby", "town", "region"),
    (("the one in Eastmere", "Eastmere", "Sulby (Eastmere)"), ("the one in Isel", "Isel", "Sulby (Isel)")),
)
MAYORS = (Article("Oldby", ("Ada Lund was elected mayor of Oldby in 1899, followed by Otto Kern in 1874.",)),)
FAST_ZH = Hidden("quantity", "快车时速是95千米。", "快车每小时走多少千米", ("快车", "时速"), unit="rate")
HONEY_ZH = Hidden("quantity", "每批放200克蜂蜜。", "每批用多少克蜂蜜", ("每批", "多少克", "蜂蜜"), unit="weight")

CINEMA = "The cinema has 12 rows of seats. Ada counts 9 empty seats. Each guest pays 5 pounds. What does Ada collect?"
SEATS = Hidden("quantity", "Each row has 20 seats.", "how many seats a row has", ("row", "seats"), unit="count")
TEST = "Ada answers 30 questions correctly. For every mistake, 3 points are deducted. What is her result?"
POINTS = Hidden(
    "quantity", "A correct answer earns 9 points.", "how many points a right answer is worth", ("points", "answer")
)
SHOP = "Ada buys 9 scarves and 2 hats. A scarf costs 13 pounds. What does Ada spend?"
TYPING_ZH = "陈明要打900个字。店里每小时付他30块钱。他一共能得多少元？"
SPEED_ZH = Hidden("quantity", "他每分钟打60字。", "陈明每分钟打多少字", ("每分钟", "打字"), unit="count")
FIRMS = tuple(
    Article(f"Lund & Kern (paper, {year})", (f"Lund & Kern is a paper company founded in {year}.",))
    for year in (1916, 1870)
)
FIRM = Hidden(
    "entity",
    "the one founded in 1916",
    "which Lund & Kern you mean",
    ("Lund & Kern", "company", "founded", "year"),
    tuple((f"the one founded in {year}", str(year), f"Lund & Kern (paper, {year})") for year in (1916, 1870)),
)
TOWN_ZH = Hidden(
    "entity",
    "青陵省那个",
    "您说的南河镇是哪一个",
    ("南河镇", "镇", "省份"),
    (("青陵省那个", "青陵省"), ("雪域省那个", "雪域省")),
)
STAFF_ZH = Hidden(
    "year",
    "1889年",
    "临河公司的员工人数，您问的是哪一年的",
    ("临河公司", "年", "员工", "人数"),
    (("1889年",), ("1876年",)),
)


def lacking(pool: list[Sample]) -> list[Sample]:
    return [sample for sample in pool if sample.needs_clarification]


def asked_of(hidden: Hidden | None, lang: Lang = "en", prompt: str = "A question") -> Sample:
    return changed(make_sample("a", prompt, hidden=hidden), dialogue=(), lang=lang)


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
        (NAME, "en", "Who is Vera Lindqvist?"),
        (NAME, "en", "Which one?"),
        (NAME, "en", "the painter or the chemist?"),
        (YEAR, "en", "In what year?"),
        (YEAR, "en", "When was that?"),
        (YEAR, "en", "1874 or 1899?"),
        (YEAR, "en", "Which of the mayors do you mean?"),
        (PRICE_ZH, "zh", "儿童票一张多少钱？"),
        (PRICE_ZH, "zh", "孩子的票价呢？"),
        (NAME_ZH, "zh", "您指的是哪位林宁？"),
        (NAME_ZH, "zh", "林宁是画家还是版画家？"),
        (YEAR_ZH, "zh", "请问是什么时候的事？"),
        (YEAR_ZH, "zh", "1874年还是1899年？"),
    ],
)
def test_a_question_in_own_words_gets_the_hidden_span(hidden: Hidden, lang: Lang, ask: str) -> None:
    sample = asked_of(hidden, lang)
    assert hidden.span in reply(sample, ask)
    assert reply(sample, ask) == reply(sample, ask)


@pytest.mark.parametrize(
    ("hidden", "lang", "ask"),
    [
        (PRICE, "en", "How much does a pack of paper cost?"),
        (PRICE, "en", "How many straws are in a bale?"),
        (PRICE, "en", "How many straw hats are there?"),
        (NAME, "en", "When was Vera Lindqvist born?"),
        (NAME, "en", "Which year do you mean?"),
        (YEAR, "en", "Which one do you mean?"),
        (YEAR, "en", "How many litres a year does it take?"),
        (YEAR, "en", "When was Oldby founded?"),
        (PRICE_ZH, "zh", "一升油多少钱？"),
        (NAME_ZH, "zh", "您问的是哪一年？"),
        (NAME_ZH, "zh", "林宁有孩子没有？"),
        (YEAR_ZH, "zh", "您指的是哪一位？"),
    ],
)
def test_unrelated_questions_get_nothing(hidden: Hidden, lang: Lang, ask: str) -> None:
    assert not informs(reply(asked_of(hidden, lang), ask))


@pytest.mark.parametrize(
    ("hidden", "lang", "right", "wrong"),
    [
        (NAME, "en", "Do you mean the chemist?", "Is it the painter?"),
        (NAME_ZH, "zh", "是画家林宁吗？", "林宁是版画家吗？"),
        (YEAR, "en", "In 1899?", "Do you mean 1874?"),
        (YEAR_ZH, "zh", "是1899年吗？", "是1874年吗？"),
    ],
)
def test_a_guess_among_two_readings_is_informative_either_way(
    hidden: Hidden, lang: Lang, right: str, wrong: str
) -> None:
    yes, no = reply(asked_of(hidden, lang), right), reply(asked_of(hidden, lang), wrong)
    assert yes == REPLIES["yes"][lang].format(span=hidden.span)
    assert no == REPLIES["no_but"][lang].format(span=hidden.span)
    assert informs(yes)
    assert informs(no)


def test_a_wrong_guess_among_three_readings_gets_only_a_no() -> None:
    said = reply(asked_of(THREE), "Do you mean the painter?")
    assert said == REPLIES["no"]["en"]
    assert not informs(said)
    assert informs(reply(asked_of(THREE), "Do you mean the chemist?"))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ("Which river is your Sulby on?", "give"),
        ("Which region is Sulby in?", "give"),
        ("Who founded the Sulby you mean?", "give"),
        ("Would that be the Sulby founded in 1726?", "no_but"),
        ("Was it founded by Ada Lund?", "yes"),
        ("Who founded Sulby?", "refusal"),
        ("Which river is your hotel on?", "refusal"),
    ],
)
def test_the_difference_between_candidates_may_be_asked_for_or_guessed(ask: str, said: str) -> None:
    sample = changed(asked_of(TOWN), context=RIVERS)
    assert reply(sample, ask) == REPLIES[said]["en"].format(span=TOWN.span)


def test_a_year_is_named_by_what_happened_in_it() -> None:
    sample = changed(asked_of(YEAR), context=MAYORS)
    assert YEAR.span in reply(sample, "Do you mean Otto Kern's election or the other one?")
    assert not informs(reply(sample, "In which year did Newby have 400 inhabitants?"))


@pytest.mark.parametrize(
    ("hidden", "prompt", "ask", "given"),
    [
        (
            FAST_ZH,
            "慢车时速是40千米。后一段坐快车，走了2个钟头。共走了多少千米？",
            "有慢车的速度了，快车一个小时能开多远？",
            True,
        ),
        (HONEY_ZH, "她做四批面包。共要用多少千克蜂蜜？", "每批要用多少面粉？", False),
        (HONEY_ZH, "她做四批面包。共要用多少千克蜂蜜？", "每批蜂蜜的分量是多少？", True),
        (NAME_ZH, "我在看攻略。林宁生于哪年？", "您看的是哪个攻略？", False),
        (NAME_ZH, "林宁生于哪年？", "能说一下林宁的职业吗？", True),
    ],
)
def test_questions_of_chinese_strangers(hidden: Hidden, prompt: str, ask: str, given: bool) -> None:
    assert informs(reply(asked_of(hidden, "zh", prompt), ask)) == given


@pytest.mark.parametrize(
    ("hidden", "lang", "prompt", "ask", "given"),
    [
        (SEATS, "en", CINEMA, "How many seats are there in each row of the cinema?", True),
        (SEATS, "en", CINEMA, "What is the number of seats in each of the rows?", True),
        (SEATS, "en", CINEMA, "How many empty seats are there in each row?", False),
        (SEATS, "en", CINEMA, "How many rows of seats does the cinema have?", False),
        (POINTS, "en", TEST, "How many points does she get for one correct answer?", True),
        (POINTS, "en", TEST, "How many points does she lose for each wrong answer?", False),
        (POINTS, "en", TEST, "How many points are needed for a diploma?", False),
        (PRICE, "en", SHOP, "A scarf is 13 pounds; what about a straw hat?", True),
        (PRICE, "en", SHOP, "A straw hat, I see; what about the weather?", False),
        (SPEED_ZH, "zh", TYPING_ZH, "他打字的速度是多少？", True),
        (SPEED_ZH, "zh", TYPING_ZH, "店里每小时付多少钱？", False),
        (FIRM, "en", "", "Is it the older company or the younger one?", True),
        (TOWN_ZH, "zh", "南河镇的海拔是多少？", "这个镇名重名了，请说一下省份。", True),
        (TOWN_ZH, "zh", "南河镇的海拔是多少？", "金柳湾镇重名了，请说一下省份。", False),
        (YEAR, "en", "", "Could you give me a year, please?", True),
        (STAFF_ZH, "zh", "临河公司的员工比石镇的居民多吗？", "员工人数要哪一年的？", True),
        (STAFF_ZH, "zh", "临河公司的员工比石镇的居民多吗？", "石镇的居民人数要哪一年的？", False),
    ],
)
def test_what_a_question_counts_or_names_decides(
    hidden: Hidden, lang: Lang, prompt: str, ask: str, given: bool
) -> None:
    final = re.split(r"[.。]\s*", prompt)[-1]
    sample = changed(asked_of(hidden, lang, prompt), question=final, context=(*FIRMS, Article("石镇", ())))
    assert gives(hidden, lang, reply(sample, ask)) is given


@pytest.mark.parametrize(("number", "kind"), [("18", "yes"), ("17", "no")])
def test_a_guessed_number_gets_yes_or_no(number: str, kind: str) -> None:
    said = reply(asked_of(PRICE), f"Is it {number} pounds for a straw hat?")
    assert said == REPLIES[kind]["en"].format(span=PRICE.span)


def test_two_questions_in_one_get_two_answers() -> None:
    said = reply(asked_of(PRICE), "How much is a straw hat? And where is the market?")
    assert PRICE.span in said
    assert REPLIES["refusal"]["en"] in said
    assert informs(said)


def test_many_questions_in_one_get_nothing() -> None:
    ask = "How much is a straw hat? Which market? What day is it? Who sells it? How many are there?"
    assert reply(asked_of(PRICE), ask) == REPLIES["refusal"]["en"]


def test_replies_use_the_words_of_the_demonstration(pool: list[Sample]) -> None:
    for sample in lacking(pool):
        said = [after for turn, after in zip(sample.dialogue, sample.dialogue[1:], strict=False) if turn.act == "ask"]
        assert reply(sample, ask_of(sample)) == said[0].text


def test_a_bare_demand_is_always_asked_back(pool: list[Sample]) -> None:
    """Were the replies different, the cheapest ask would tell what only reading should."""
    for sample in pool:
        assert {reply(sample, ask) for ask in BARE[sample.lang]} == {REPLIES["ask_back"][sample.lang]}


def test_refusals_do_not_reveal_the_label(pool: list[Sample]) -> None:
    """A sample and its twin, in which nothing is missing, say the same to a question about something else."""
    for sample in lacking(pool):
        twin = changed(sample, hidden=None, needs_clarification=False)
        for ask in (*ASIDE[sample.lang], *BARE[sample.lang]):
            assert reply(sample, ask) == reply(twin, ask), (ask, sample.hidden)


def test_complete_samples_have_one_refusal(pool: list[Sample]) -> None:
    asks = {lang: [ask_of(sample) for sample in lacking(pool) if sample.lang == lang][:20] for lang in ("en", "zh")}
    for sample in pool:
        if not sample.needs_clarification:
            assert {reply(sample, ask) for ask in asks[sample.lang]} == {REPLIES["refusal"][sample.lang]}


def test_other_questions_never_reveal_the_span(pool: list[Sample]) -> None:
    """Asks of other samples too, as far as they want another kind of thing."""
    given = []
    for sample in lacking(pool):
        assert sample.hidden is not None
        others = [
            ask_of(other)
            for other in lacking(pool)
            if other.lang == sample.lang and other.hidden and other.hidden.kind != sample.hidden.kind
        ]
        assert len(others) > 20
        for ask in (*BARE[sample.lang], *ASIDE[sample.lang]):
            assert sample.hidden.span not in reply(sample, ask), (ask, sample.hidden)
        given += [sample.hidden.span in reply(sample, ask) for ask in others]
    assert sum(given) < len(given) / 100


def test_a_price_is_seldom_taken_for_another_price(pool: list[Sample]) -> None:
    """Of the same kind and worded alike (a litre of fuel, a litre of gloss) some are: fewer than one in fifty."""
    given = [
        sample.hidden.span in reply(sample, ask_of(other))
        for sample in lacking(pool)
        for other in lacking(pool)
        if sample.hidden and other.hidden and sample.lang == other.lang
        if sample.hidden.kind == other.hidden.kind != "year" and sample.hidden.missing != other.hidden.missing
        if not any(reading[1] in ask_of(other) for reading in sample.hidden.readings)  # options that are also its own
    ]
    assert len(given) > 1_000
    assert sum(given) < len(given) / 50


def test_no_reply_holds_the_gold_answer_unless_the_span_does(pool: list[Sample]) -> None:
    asks = {lang: [ask_of(sample) for sample in lacking(pool) if sample.lang == lang] for lang in ("en", "zh")}
    for sample in pool:
        span = sample.hidden.span if sample.hidden else ""
        some = (*asks[sample.lang][:15], *asks[sample.lang][-15:], sample.answer)
        for ask in (*BARE[sample.lang], *ASIDE[sample.lang], *some):
            said = reply(sample, ask)
            if sample.task == "strategyqa":
                assert verdict(said) is None
            else:
                assert not occurs(sample.answer, said) or occurs(sample.answer, span)


def test_replies_do_not_depend_on_the_gold_answer(pool: list[Sample]) -> None:
    for sample in lacking(pool):
        assert reply(changed(sample, answer="?", aliases=()), ask_of(sample)) == reply(sample, ask_of(sample))


def test_repeating_the_prompt_rarely_helps(pool: list[Sample]) -> None:
    needy = [sample for sample in pool if sample.hidden is not None]
    opened = [informs(reply(sample, f"Which one do you mean, what year, who: {sample.prompt}")) for sample in needy]
    assert sum(opened) < 0.1 * len(needy)


@pytest.mark.parametrize(
    ("hidden", "lang", "said", "given"),
    [
        (NAME, "en", "I meant the chemist.", True),
        (NAME, "en", "I meant the painter.", False),
        (PRICE, "en", "They are 18 pounds each.", True),
        (PRICE, "en", "They are not cheap.", False),
        (NAME_ZH, "zh", "是画家。", True),
        (NAME_ZH, "zh", "是版画家。", False),
        (YEAR_ZH, "zh", "我说的是1899年的事。", True),
    ],
)
def test_a_text_gives_the_information_or_not(hidden: Hidden, lang: Lang, said: str, given: bool) -> None:
    assert gives(hidden, lang, said) == given


def test_readings_and_units_are_stored_with_the_hidden_information(pool: list[Sample]) -> None:
    for sample in lacking(pool):
        assert sample.hidden is not None
        if sample.hidden.kind == "quantity":
            assert sample.hidden.unit
        else:
            assert len(sample.hidden.readings) >= 2
            assert sample.hidden.readings[0][0] == sample.hidden.span
