"""GSM8K: one calculation per annotation, correct results, and a hidden number that only one sentence states."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.tools import calc, wiki
from src.data.pool.source import Want
from src.data.readers.asks import asked_for
from src.data.readers.gsm8k import (
    MODES,
    GsmRecord,
    Mode,
    WordProblem,
    make_item,
    merge,
    numbers_in,
    omissions,
    parse_number,
    parse_solution,
    read,
    reads_on,
    source_id,
)
from tests.data.dataset_records import gsm


def want(level: str = "medium", clarify: bool = False) -> Want:
    return Want("en", level, clarify, 6, 4, 4, 0.5)  # type: ignore[arg-type]


def record(question: str, answer: str) -> GsmRecord:
    return GsmRecord(question, answer)


def test_annotations_keep_their_order() -> None:
    steps = parse_solution("May: 48/2 = $<<48/2=24>>24 clips.\nAll: 1,048+24 = <<1,048+24=1072>>1072 clips.")
    assert [(one.expression, one.value) for one in steps] == [("48/2", Fraction(24)), ("1048+24", Fraction(1072))]


@pytest.mark.parametrize("solution", ["No marks here.", "<<2+2=5>>5", "<<2+x=5>>5", "<<2+2>>4"])
def test_annotations_that_do_not_compute_are_no_solution(solution: str) -> None:
    assert parse_solution(solution) == ()


def test_negative_answers_and_thousands_commas_are_numbers() -> None:
    assert parse_number(" -12") == -12
    assert parse_number("1,234.50") == Fraction("1234.5")
    assert parse_number("twelve") is None


@given(st.lists(st.integers(2, 40), min_size=2, max_size=6), st.integers(1, 5))
def test_merged_steps_compute_the_same(numbers: list[int], count: int) -> None:
    """A running sum with one annotation per term."""
    marks, total = [], numbers[0]
    for number in numbers[1:]:
        marks.append(f"<<{total}+{number}={total + number}>>")
        total += number
    steps = parse_solution("\n".join(marks))
    merged = merge(steps, count, frozenset())
    if merged is not None:
        assert len(merged) <= max(count, 1)
        assert calc(merged[-1].expression) == str(total)
        assert all(calc(one.expression) == str(one.value) for one in merged)


def test_a_result_equal_to_a_given_number_is_not_merged() -> None:
    steps = parse_solution("<<2*3=6>>\n<<6+6=12>>")
    assert merge(steps, 1, frozenset({Fraction(6)})) is None
    assert merge(steps, 1, frozenset()) is not None


def test_records_without_a_way_to_their_answer_are_left_aside() -> None:
    story = "Ann has 3 hens. Each lays 2 eggs. How many eggs are there?"
    assert isinstance(read(record(story, "3*2 = <<3*2=6>>6\n#### 6")), WordProblem)
    assert "no steps" in str(read(record(story, "It is six.\n#### 6")))
    assert "last step" in str(read(record(story, "3*2 = <<3*2=6>>6 and one more.\n#### 7")))
    assert "no number" in str(read(record(story, "3*2 = <<3*2=6>>6")))
    assert "two sentences" in str(read(record("How many eggs do 3 hens lay?", "<<3*2=6>>\n#### 6")))


def test_the_id_follows_the_text_not_the_row() -> None:
    first = record("Ann has 3 hens.  How many?", "#### 3")
    assert source_id(first) == source_id(record("ann has 3 hens. How many?", "other"))
    assert source_id(first) != source_id(record("Ann has 4 hens. How many?", "#### 4"))


def test_questions_for_omitted_sentences_are_good_english() -> None:
    problem = read(record(**gsm(0)))
    assert isinstance(problem, WordProblem)
    assert [one.missing for one in problem.omissions] == [
        "how many boxes Alda has",
        "how many pens each box holds",
        "how much the pens cost each",
    ]


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Each box holds 13 pens.", "There are 13 boxes."),
        ("Each box holds thirteen pens.", "There are 13 boxes."),
        ("Each box holds 13 red and 4 blue pens.", "There are 9 boxes."),
        ("Each box holds twice as many pens.", "There are 13 boxes."),
        ("In each box there are 13 pens.", "There are 9 boxes."),
        ("Each box holds 99 pens.", "There are 9 boxes."),
    ],
)
def test_a_number_repeated_unused_or_hard_to_ask_for_stays(sentence: str, rest: str) -> None:
    steps = parse_solution("<<9*13=117>>")
    found = omissions(["Ann runs a shop.", sentence, rest], "How many pens are there?", steps)
    assert sentence not in [one.sentence for one in found]


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
@pytest.mark.parametrize("mode", MODES)
def test_each_mode_gives_a_consistent_item(mode: Mode, level: str) -> None:
    problem = read(record(**gsm(3)))
    assert isinstance(problem, WordProblem)
    item = make_item(problem, mode, want(level, mode == "hidden"), seed=1)
    assert item is not None
    assert item == make_item(problem, mode, want(level, mode == "hidden"), seed=1)
    visible = f"{item.premise} {item.clue} {item.question}"
    assert len(item.steps) + (item.hidden is not None) + 1 <= 6
    assert calc(item.steps[-1].input) == item.answer
    assert item.original == " ".join(record(**gsm(3)).question.split())
    left_out = [one.sentence for one in problem.omissions if one.sentence not in visible]
    if mode == "intact":
        assert not left_out
        assert item.hidden is None
        assert item.steps[0].input == item.context[0].title
        assert set(item.context[0].sentences) <= set(problem.premise)
        return
    assert len(left_out) == 1
    (notes,) = item.context
    shown = wiki(item.context, item.steps[0].input)
    assert shown.startswith(f"{notes.title}: ")
    if mode == "twin":
        assert item.hidden is None
        assert left_out[0] in shown
    else:
        assert item.hidden is not None
        assert item.hidden.span == left_out[0]
        assert item.ask_after == 1
        assert not numbers_in(left_out[0]) & numbers_in(f"{visible} {shown}")
        assert any(word in item.hidden.missing.lower() for word in item.hidden.about)


def test_the_clue_of_an_easy_problem_is_its_end() -> None:
    problem = read(record(**gsm(5)))
    assert isinstance(problem, WordProblem)
    item = make_item(problem, "intact", want("easy"), seed=1)
    assert item is not None
    assert item.clue
    assert f"{item.premise} {item.clue}".strip() == " ".join(problem.premise)


@pytest.mark.parametrize(
    ("sentence", "story", "asked"),
    [
        ("She only has 2 hours in a day.", "Sanya washes.", "how many hours she has in a day"),
        ("The cost of admission is $10 per student.", "", "what the cost of admission is per student"),
        ("Movie tickets are $8 per person.", "Two sisters buy movie tickets.", "how much movie tickets are per person"),
        ("They charge $8.00 a ticket.", "A theater sells tickets.", None),
        ("The theater charges $8.00 a ticket.", "A theater opens.", "how much the theater charges per ticket"),
        ("The usher charges $8.00 a ticket.", "A theater opens.", None),
        ("On Saturday, she sold 60 boxes.", "Tanika sells.", "how many boxes she sold on Saturday"),
        ("Jim has 20 more toads than Tim does.", "Tim has toads.", "how many toads Jim has"),
        (
            "Jim has 20 more toads than Tim.",
            "Al has as many toads as Jim. How many toads does Tim have?",
            "how many more toads Jim has than Tim",
        ),
        (
            "Jim has 20 more toads than Tim.",
            "Jim has 32 toads. Al has as many toads as Tim.",
            "how many more toads Jim has than Tim",
        ),
        ("He needs 3 cups of flour for a cake.", "A cake has flour.", "how many cups of flour he needs for a cake"),
        ("He needs 3 cups of flour for a cake.", "Bo bakes.", "how many cups he needs"),
        ("Ada can row 5 miles per hour on a calm lake.", "Ada rows home.", "how many miles Ada can row per hour"),
        (
            "Each shelf has 7 heavy planks in the barn.",
            "A barn has planks and a shelf.",
            "how many planks each shelf has",
        ),
        ("On Mondays, Ada rows 5 miles at the club.", "Ada rows home.", "how many miles Ada rows on Mondays"),
        ("The choir sings 2 songs for its finale.", "The choir sings 9 songs in May.", None),
        ("A pie needs 4 apples per pie.", "A pie is good.", None),
        ("She re-applies sunscreen after 2 hours.", "Ann swims.", None),
        ("Each home needed 10 panels capable of power.", "", None),
        ("The rest of the days she spends 30 minutes there.", "", None),
        ("Her books all cost 15 dollars apiece.", "Dianne sells.", None),
        ("Each day she collects her favorite 10 shells.", "Evie swims.", None),
    ],
)
def test_an_ask_is_good_english_or_the_sentence_stays(sentence: str, story: str, asked: str | None) -> None:
    found = asked_for(sentence, story)
    assert (found and found[0]) == asked


@pytest.mark.parametrize(
    ("sentence", "rest", "solution"),
    [
        # An extra cost or a second activity: the rest is a complete problem without it.
        ("His fuel costs $50 per hour.", "He earns $15 per photo, 6 photos per hour.", "<<15*6=90>><<90-50=40>>"),
        ("She spends 30 minutes on dinner.", "She spends 20 minutes on 7 lunches.", "<<7*20=140>><<140+30=170>>"),
    ],
)
def test_a_gap_that_nobody_can_see_is_not_made(sentence: str, rest: str, solution: str) -> None:
    found = omissions(["Pat works.", sentence, rest], "How much is it in all?", parse_solution(solution))
    assert sentence not in [one.sentence for one in found]


@pytest.mark.parametrize(
    ("before", "sentence", "after"),
    [
        ("Bo runs a farm.", "He has 8 hens.", "Then he buys 5 of his neighbour's hens."),
        ("Bo runs a farm.", "He has 8 hens.", "They lay 3 eggs each."),
        ("Bo prepares a quiz.", "There are 40 questions.", "25 are about history."),
        ("Bo reads a lot.", "On Friday, he read 12 pages.", "On Sunday, he read twice that number."),
        ("Bo reads a lot.", "In May, he read 12 pages.", "In June, he read 3 pages more than the month before."),
        ("Bo has two parcels.", "The red parcel weighs 12 pounds.", "The blue parcel weighs three times as much."),
        ("Bo has two parcels.", "The red parcel has 12 maps.", "The blue parcel has 20% more maps."),
        (
            "Bo has two parcels.",
            "The red parcel has 12 maps.",
            "The blue parcel has twice the number of maps, all new.",
        ),
        ("One scarf takes 3 balls of wool.", "Tilda knits 8 scarves.", "She has 5 balls of wool."),
        ("Bo threw 5 stones.", "Tilda threw 12 more stones than Bo.", "Some fell into the pond."),
        ("Bo has 30 coins.", "He lost 12 coins in a ditch.", "Ann found half of them in the ditch."),
        ("Bo sleeps 8 hours.", "There are 7 days in a week.", "He naps too."),
        ("Bo drinks tea.", "A pint has 2 cups.", "He likes it."),
    ],
)
def test_a_sentence_that_later_ones_need_stays_in(before: str, sentence: str, after: str) -> None:
    question = "How many did Bo have in all?"
    assert not reads_on([before], sentence, [after, question])
    assert reads_on([before], sentence, ["Bo is busy with scarves.", f"Tilda helps on Friday in May. {question}"]) == (
        "week" not in sentence and "pint" not in sentence
    )


def test_they_may_stay_where_the_sentence_before_says_who() -> None:
    after = ["They sell 21 cakes.", "How much do they earn?"]
    assert reads_on(["Ann and Bo bake.", "They spent $9."], "The cakes are $4 each.", after)
    assert not reads_on(["Ann bakes."], "The cakes are $4 each.", after)


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("Tilda has 3 hens. She feeds them.", "Notes of Tilda"),
        ("Mrs. Holm buys 3 hens. She feeds them.", "Notes of Mrs. Holm"),
        ("A farmer has 3 hens. How many does Bo have if he has 2 more? Bo is old.", "Notes of Bo"),
        ("Four men run. Their shoes are new.", "Notes"),
        ("Swiss cheese costs $3. She buys it.", "Notes"),
        ("Boxes of Snaxo bars cost $3. He buys two of the Snaxo boxes.", "Notes"),
        ("A girl wants a new zPhone. The zPhone costs $300. She saves.", "Notes"),
    ],
)
def test_notes_are_named_after_a_person_only(first: str, title: str) -> None:
    problem = read(record(f"{first} How many hens are there?", "<<3*2=6>>6\n#### 6"))
    assert isinstance(problem, WordProblem)
    item = make_item(problem, "intact", want(), seed=1)
    assert item is not None
    assert item.context[0].title == title
