"""Questions over articles: a complete question reads like its ambiguous twin; only the articles tell them apart."""

from __future__ import annotations

import msgspec
import pytest

from src.agents.tools import wiki
from src.core.errors import BadInput
from src.core.types import Article
from src.data.difficulty.text_features import clue_overlap
from src.data.pool.source import Item, Want
from src.data.readers import decisive, hotpotqa, strategyqa
from src.data.readers.article_items import make_item
from src.data.readers.articles import (
    MODES,
    ArticleQuestion,
    Mode,
    SpareArticles,
    hidden_article_is_findable,
    search_query,
    spare_articles,
    split_sentences,
    stands_alone,
)
from src.data.readers.hotpotqa import HotpotRecord
from src.data.readers.level_fit import OVERLAP_BANDS, choose_clue, overlap
from src.data.readers.mentions import bare_title
from src.data.readers.strategyqa import Paragraph, StrategyRecord
from tests.data.dataset_records import hotpot, paragraphs, person, strategy


def want(level: str = "medium", clarify: bool = False) -> Want:
    return Want("en", level, clarify, 6, 4, 4, 0.5)  # type: ignore[arg-type]


def reading(number: int = 3, **changes: object) -> ArticleQuestion:
    made = hotpotqa.read(msgspec.convert({**hotpot(number), **changes}, HotpotRecord))
    assert made is not None
    return made


def spares_of(number: int) -> SpareArticles:
    """Articles of other records: what else a vague question may mean."""
    return spare_articles([article for other in range(40) if other != number for article in reading(other).gold])


def item_of(mode: Mode, level: str = "medium", number: int = 3) -> Item:
    item = make_item(reading(number), mode, want(level, mode == "hidden"), 1, spares_of(number))
    assert item is not None
    return item


def test_abbreviations_do_not_end_sentences() -> None:
    text = "Dr. Ek met Mr. Dahl in St. Orn.  They talked. Was it 5 p.m.? Yes!"
    assert split_sentences(text) == ("Dr. Ek met Mr. Dahl in St. Orn.", "They talked.", "Was it 5 p.m.?", "Yes!")


def test_the_clue_comes_as_near_to_the_aim_as_possible() -> None:
    support = ["The old mill by the river burned down in the spring.", "Its owner then built a brewery on the hill."]
    chosen = choose_clue(support, "Who owned the brewery?", support, 0.5, lambda some: len(some) == 1)
    assert chosen is not None
    aim = sum(OVERLAP_BANDS["easy"]) / 2
    reached = {one: clue_overlap(f"{support[one]} Who owned the brewery?", " ".join(support)) for one in (0, 1)}
    assert chosen[0] == min(reached, key=lambda one: abs(reached[one] - aim))
    assert choose_clue(support, "Who?", support, 0.5, lambda some: False) is None


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_twin_and_hidden_item_differ_only_in_the_topic(level: str) -> None:
    hidden, twin = item_of("hidden", level), item_of("twin", level)
    assert (hidden.question, hidden.ambiguity) == (twin.question, twin.ambiguity)
    assert hidden.hidden is not None
    assert twin.hidden is None
    assert twin.topic == hidden.hidden.span
    # The user was reading about the other thing that is compared, which the question names.
    assert hidden.topic in hidden.question


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
@pytest.mark.parametrize("mode", MODES)
def test_items_can_be_replayed_within_the_turns(mode: Mode, level: str) -> None:
    item = item_of(mode, level)
    titles = {article.title for article in item.context}
    assert item.topic in set(map(bare_title, titles))
    assert len(titles) == len(item.context)
    assert len(item.steps) + (item.hidden is not None) + 1 <= 6
    shown = [wiki(item.context, step.input) for step in item.steps]
    assert "nothing found" not in shown
    assert any(fact in page for fact in item.support for page in [*shown, item.clue])
    if item.hidden is not None:
        assert item.hidden.span not in f"{item.premise} {item.clue} {item.question} {item.topic}"
        assert item.hidden.missing == f"which {item.hidden.about[0]} you mean"


def test_a_search_step_shows_the_article_that_is_opened_next() -> None:
    item = item_of("intact", "hard")
    titles = [article.title for article in item.context]
    for step, after in zip(item.steps, item.steps[1:], strict=False):
        if step.input not in titles:
            assert f" {after.input}: " in wiki(item.context, step.input)
    assert len(item.steps) >= 4


def test_levels_differ_in_context_steps_and_overlap() -> None:
    easy, hard = item_of("intact", "easy"), item_of("intact", "hard")
    assert len(easy.steps) == 2  # a search, and the page it shows
    assert len(easy.context) < len(hard.context)
    assert 0.40 < overlap(easy) < 0.65
    assert not hard.clue


def test_a_clue_gives_away_neither_referent_nor_answer() -> None:
    facts = [["Bero Amsel", 0], ["Tor Amsel", 0]]
    context = [
        ["Bero Amsel", ["Bero Amsel was a painter whose only brother was the smith Tor Amsel of Velt."]],
        ["Tor Amsel", ["Tor Amsel was a smith who died in Sorn during the long winter of that year."]],
    ]
    bridge = {"question": "Where did the brother of Bero Amsel die?", "answer": "Sorn", "context": context}
    made = reading(3, supporting_facts=facts, **bridge)
    item = make_item(made, "intact", want("easy"), 1, spare_articles([]))
    assert item is not None
    assert "Sorn" not in item.clue


def test_a_findable_hidden_article_is_recognised() -> None:
    hidden = item_of("hidden")
    assert not hidden_article_is_findable(hidden)
    telling = msgspec.structs.replace(hidden, question="Who was born first, the composer of village 6 and 1530?")
    assert hidden_article_is_findable(telling)
    assert not hidden_article_is_findable(item_of("twin"))


def test_no_query_is_made_of_common_words() -> None:
    item = item_of("intact", "hard")
    page = next(article for article in item.context if article.title == person(6))
    query = search_query(item.context, page, reading())
    assert query
    assert query not in {article.title for article in item.context}


def test_hotpotqa_records_without_their_support_are_left_aside() -> None:
    raw = hotpot(3)
    assert hotpotqa.read(msgspec.convert({**raw, "supporting_facts": [["Nobody", 0]]}, HotpotRecord)) is None
    assert hotpotqa.read(msgspec.convert({**raw, "supporting_facts": [[person(6), 9]]}, HotpotRecord)) is None
    fewer = {**raw, "context": raw["context"][:2]}
    assert hotpotqa.read(msgspec.convert(fewer, HotpotRecord)) is not None


def test_html_marks_in_hotpotqa_are_resolved() -> None:
    raw = hotpot(3)
    raw["context"].append(["Salt &amp; Pepper", ["Salt &amp; Pepper is a film.", " "]])
    made = hotpotqa.read(msgspec.convert(raw, HotpotRecord))
    assert made is not None
    assert made.others[-1].title == "Salt & Pepper"
    assert made.others[-1].sentences == ("Salt & Pepper is a film.",)


def strategy_reading(**changes: object) -> ArticleQuestion | None:
    pages = {name: msgspec.convert(page, Paragraph) for name, page in paragraphs(4).items()}
    record = msgspec.convert({**strategy(4), **changes}, StrategyRecord)
    return strategyqa.read(record, pages, "strategyqa_train.json[4]")


def test_strategyqa_uses_the_annotator_with_most_evidence() -> None:
    both = strategy(4)["evidence"][0]
    made = strategy_reading(evidence=[[["operation"], ["no_evidence"]], [[["Comet 4-1"]]], both])
    assert made is not None
    assert [article.title for article in made.gold] == [person(4), "Comet 4"]
    assert made.answer == "no"
    assert made.support[0].sentence.endswith(".")


def test_strategyqa_without_paragraphs_is_left_aside() -> None:
    assert strategy_reading(evidence=[[["operation"], ["no_evidence"]]]) is None
    with pytest.raises(BadInput, match=r"strategyqa_train.json\[4\].*Gone-7"):
        strategy_reading(evidence=[[[["Gone-7"]]]])


def test_paragraphs_of_one_title_are_one_article_in_order() -> None:
    pages = {
        "Orn-2": Paragraph("Orn", "It is deep.", 2),
        "Orn-1": Paragraph("Orn", "Orn is a lake.", 1),
    }
    record = msgspec.convert({**strategy(4), "evidence": [[[["Orn-2", "Orn-1"]]]]}, StrategyRecord)
    made = strategyqa.read(record, pages, "")
    assert made is not None
    assert made.gold[0].sentences == ("Orn is a lake.", "It is deep.")


BORN = {name: Article(name, (f"{name} (born {year}) is a Danish painter.",)) for name, year in
        (("Bo Ek", 1950), ("Ida Orn", 1970), ("Ole Dahl", 1990), ("Per Fink", 1930))}  # fmt: skip


def test_only_an_article_on_the_other_side_of_the_limit_changes_the_answer() -> None:
    limit = decisive.compared("Who was born first, Bo Ek or Ida Orn?", "Bo Ek", BORN["Bo Ek"], BORN["Ida Orn"])
    assert limit is not None
    assert limit.changes_answer(BORN["Ole Dahl"])
    assert not limit.changes_answer(BORN["Per Fink"])


def test_a_comparison_whose_articles_do_not_show_the_answer_has_no_limit() -> None:
    assert decisive.compared("Who was born first, Bo Ek or Ida Orn?", "Ida Orn", *list(BORN.values())[:2]) is None
    assert decisive.compared("Who is richer, Bo Ek or Ida Orn?", "Bo Ek", *list(BORN.values())[:2]) is None


def test_a_question_whose_clues_fit_one_article_only_hides_nothing() -> None:
    meant = Article("Bo Ek", ("Bo Ek is a painter from Velt county who won a medal.",))
    limit = decisive.unnamed("What county is the painter from?", "painter", meant)
    assert limit is not None
    assert limit.changes_answer(Article("Ida Orn", ("Ida Orn is a painter from the county of Sorn.",)))
    assert not limit.changes_answer(Article("Ole Dahl", ("Ole Dahl is a painter.",)))
    assert decisive.unnamed("What county is the painter of Velt Bridge from?", "painter", meant) is None


def test_whether_somebody_lived_to_see_it_depends_on_who_is_meant() -> None:
    steps = ["When did Bo Ek die?", "When was email invented?", "Is #2 before #1?"]
    old = Article("Bo Ek", ("Bo Ek (1801 – 1870) was a composer.",))
    limit = decisive.reached(old, steps, ["Bo Ek died in 1870.", "Email came up in 1971."], "Bo Ek")
    assert limit is not None
    assert limit.changes_answer(Article("Ida Orn", ("Ida Orn (born 1950) is a composer.",)))
    assert not limit.changes_answer(Article("Ole Dahl", ("Ole Dahl (1850 – 1920) was a composer.",)))
    assert decisive.reached(old, ["Is Bo Ek tall?", "Is #1 true?"], ["Bo Ek was tall."], "Bo Ek") is None


def test_a_record_without_a_limit_is_never_hidden() -> None:
    record = reading(3)
    plain = tuple(msgspec.structs.replace(one, limit=None) for one in record.mentions)
    without = msgspec.structs.replace(record, mentions=plain)
    assert make_item(without, "hidden", want(clarify=True), 1, spares_of(3)) is None
    assert make_item(without, "twin", want(), 1, spares_of(3)) is not None


@pytest.mark.parametrize(
    ("sentence", "alone"),
    [
        ("Bo Ek painted the old harbour of Velt.", True),
        ("On the other hand, Bo Ek painted it.", False),
        ("Bo Ek (3 May 1801 – 1870) was a painter.", True),
        ("He painted the old harbour.", False),
        ("Bo Ek (listen) was a painter.", False),
        ("Bo Ek (Бо Ек) was a painter.", False),
        ("born in Velt.", False),
    ],
)
def test_only_sentences_that_stand_alone_are_restated(sentence: str, alone: bool) -> None:
    assert stands_alone(sentence) == alone
