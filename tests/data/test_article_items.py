"""Questions over articles: worded as their authors did, at the level asked for, with steps that can be replayed."""

from __future__ import annotations

import msgspec
import pytest

from askgate_env.tools import wiki
from askgate_env.types import Article
from src.core.errors import BadInput
from src.data.difficulty.text_features import clue_overlap
from src.data.pool.source import Item, Want
from src.data.readers.article_items import make_item
from src.data.readers.articles import (
    ArticleQuestion,
    HotpotRecord,
    Paragraph,
    QuestionStyle,
    StrategyRecord,
    Support,
    read_hotpotqa,
    read_strategyqa,
    reads_well,
    search_query,
    split_sentences,
    stands_alone,
    titles_and_words,
)
from src.data.readers.level_fit import OVERLAP_BANDS, choose_clue, overlap
from tests.data.dataset_records import hotpot, paragraphs, person, strategy


def want(level: str = "medium", clarify: bool = False) -> Want:
    return Want("en", level, clarify, 6, 4, 4, 0.5)  # type: ignore[arg-type]


def reading(number: int = 3, **changes: object) -> ArticleQuestion:
    made = read_hotpotqa(msgspec.convert({**hotpot(number), **changes}, HotpotRecord))
    assert made is not None
    return made


def item_of(level: str = "medium", number: int = 3) -> Item:
    spares = [article for other in range(40) if other != number for article in reading(other).gold]
    item = make_item(reading(number), want(level), 1, spares)
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
def test_items_can_be_replayed_within_the_turns(level: str) -> None:
    item = item_of(level)
    assert item.hidden is None
    assert item.question == reading().question
    titles = {article.title for article in item.context}
    assert len(titles) == len(item.context)
    assert len(item.steps) + 1 <= 6
    shown = [wiki(item.context, step.input) for step in item.steps]
    assert "nothing found" not in shown
    assert any(fact in page for fact in item.support for page in [*shown, item.clue])


def test_a_search_step_shows_the_article_that_is_opened_next() -> None:
    item = item_of("hard")
    titles = [article.title for article in item.context]
    for step, after in zip(item.steps, item.steps[1:], strict=False):
        if step.input not in titles:
            assert f" {after.input}: " in wiki(item.context, step.input)
    assert len(item.steps) >= 4


def test_levels_differ_in_context_steps_and_overlap() -> None:
    easy, hard = item_of("easy"), item_of("hard")
    assert len(easy.steps) == 2  # a search, and the page it shows
    assert len(easy.context) < len(hard.context)
    assert 0.40 < overlap(easy) < 0.65
    assert not hard.clue


def test_a_clue_does_not_give_the_answer_away() -> None:
    facts = [["Bero Amsel", 0], ["Tor Amsel", 0]]
    context = [
        ["Bero Amsel", ["Bero Amsel was a painter whose only brother was the smith Tor Amsel of Velt."]],
        ["Tor Amsel", ["Tor Amsel was a smith who died in Sorn during the long winter of that year."]],
    ]
    bridge = {"question": "Where did the brother of Bero Amsel die?", "answer": "Sorn", "context": context}
    made = reading(3, supporting_facts=facts, **bridge)
    item = make_item(made, want("easy"), 1, [])
    assert item is not None
    assert "Sorn" not in item.clue


def lead_of(sentence: str, question: str, answer: str, title: str = "") -> str:
    """The clue of an easy item whose only other fact says nothing about the question."""
    pages = (Article("Velt", ("Velt is a town with a mill.", "Nobody mills there.")),)
    facts = (Support(title, sentence), Support("", "Rain is wet."))
    record = ArticleQuestion("strategyqa", "strategyqa:1", question, answer, pages, facts, ())
    item = make_item(record, want("easy"), 1, [])
    assert item is not None
    return item.clue


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "title"),
    [
        ("The company sold its mill in 1990.", "Does the mill of Tor Amsel belong to the company?", "no", ""),
        ("The Danish smith had four children in Velt.", "Could the children of Danish smith Amsel sing?", "yes", ""),
        ("In old tales, it lives near the mill of Velt.", "Is a troll found near a mill?", "yes", ""),
        (
            "Amsel is a son of the smith Tor Amsel of Velt.",
            "What is the name of Bero Amsel's father?",
            "Ole",
            "Bero Amsel",
        ),
        (
            "Tor Amsel is the smith of Velt.",
            "Which is the smith of Velt: Tor Amsel or Ole Ek?",
            "Tor Amsel",
            "Tor Amsel",
        ),
        ("Tor Amsel can therefore mill.", "Does Tor Amsel own a mill?", "yes", ""),
        ("Tor Amsel does not own a mill.", "Does Tor Amsel own a mill?", "no", ""),
        ("Chalk is a soft rock.", "Did Tor Amsel own a mill?", "yes", ""),
        ("Tor Amsel is a smith She sings in Velt.", "Did Tor Amsel own a mill?", "yes", ""),
        ("Tor Ole Amsel is a smith of Velt.", "Which smith of Velt sings?", "Tor Amsel", ""),
        (
            "Tor Amsel has owned the old mill near Velt.",
            "Who, if Amsel has owned the old mill near Velt, sold it?",
            "Ole",
            "",
        ),
    ],
)
def test_a_sentence_not_introducing_the_question_is_not_said(
    sentence: str, question: str, answer: str, title: str
) -> None:
    assert lead_of(sentence, question, answer, title) == ""


def test_a_sentence_about_what_the_question_names_is_said_first() -> None:
    said = "Tor Amsel is a smith of Velt."
    assert lead_of(said, "Did Tor Amsel own a mill?", "yes") == said
    assert lead_of(said, "Which town is the home of Tor Amsel?", "Sorn", "Tor Amsel") == said


def test_no_query_is_made_of_common_words() -> None:
    item = item_of("hard")
    page = next(article for article in item.context if article.title == person(6))
    query = search_query(titles_and_words(item.context), page, reading())
    assert query
    assert query not in {article.title for article in item.context}


def test_hotpotqa_records_without_their_support_are_left_aside() -> None:
    raw = hotpot(3)
    assert read_hotpotqa(msgspec.convert({**raw, "supporting_facts": [["Nobody", 0]]}, HotpotRecord)) is None
    assert read_hotpotqa(msgspec.convert({**raw, "supporting_facts": [[person(6), 9]]}, HotpotRecord)) is None
    fewer = {**raw, "context": raw["context"][:2]}
    assert read_hotpotqa(msgspec.convert(fewer, HotpotRecord)) is not None


def test_html_marks_in_hotpotqa_are_resolved() -> None:
    raw = hotpot(3)
    raw["context"].append(["Salt &amp; Pepper", ["Salt &amp; Pepper is a film.", " "]])
    made = read_hotpotqa(msgspec.convert(raw, HotpotRecord))
    assert made is not None
    assert made.others[-1].title == "Salt & Pepper"
    assert made.others[-1].sentences == ("Salt & Pepper is a film.",)


def strategy_reading(**changes: object) -> ArticleQuestion | None:
    pages = {name: msgspec.convert(page, Paragraph) for name, page in paragraphs(4).items()}
    record = msgspec.convert({**strategy(4), **changes}, StrategyRecord)
    return read_strategyqa(record, pages, "strategyqa_train.json[4]")


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
    made = read_strategyqa(record, pages, "")
    assert made is not None
    assert made.gold[0].sentences == ("Orn is a lake.", "It is deep.")


@pytest.mark.parametrize(
    "question",
    [
        "Would a compass be a bad gift for an elf??",
        "What sport does golf and Bo Ek have in common?",
        "This term presented what about his works?",
        "Who was born more recent.y, Bo Ek or Ida Orn?",
        "The club is named after its founder.",
    ],
)
def test_questions_with_a_plain_slip_are_left_aside(question: str) -> None:
    assert not reads_well(question)
    assert read_hotpotqa(msgspec.convert({**hotpot(3), "question": question}, HotpotRecord)) is None
    assert strategy_reading(question=question) is None


def test_well_written_questions_rank_before_clumsy_ones() -> None:
    articles = ["He saw a horse and a horse.", "Did what come first? He played."] * 2
    good = "Did a horse come first?"
    style = QuestionStyle([good], articles)
    assert style.faults(good) == (False, 0)
    for clumsy in ("Did horse come first?", "Did a hrose come first?", "Did he played first?"):
        assert style.faults(clumsy) > (False, 2)
    assert style.faults("A horse is what?") == (False, 1)


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
