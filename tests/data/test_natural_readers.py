"""Readers of AmbigNQ, SituatedQA, IN3 and UMWP: which rows lack information, and how an ask names it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from askgate_env.types import Hidden
from src.core.errors import BadInput
from src.data.pool.voice import voice_in
from src.data.readers.ambignq import ambiguous_item, name_readings
from src.data.readers.natural import NaturalSource
from src.data.readers.natural_records import Reading, contrast
from tests.data.natural_rows import write_rows

AMBIGUOUS = {
    "id": "1", "question": "Who won the cup?", "answer": [], "ambiguous": True,
    "disambiguations": [[
        {"question": "Who won the cup in 1990?", "answer": ["Ghana"]},
        {"question": "Who won the cup in 1994?", "answer": ["Peru", "the Peru team"]},
    ]],
}  # fmt: skip


def test_readings_that_share_an_answer_make_no_ambiguous_sample(tmp_path: Path) -> None:
    same = json.loads(json.dumps(AMBIGUOUS).replace('"Ghana"', '"peru"'))
    source = NaturalSource("ambignq", write_rows(tmp_path / "ambignq", [same]).parent)
    assert source.left_aside == {"detect": 1}


def test_an_ambiguous_question_names_its_readings(tmp_path: Path) -> None:
    source = NaturalSource("ambignq", write_rows(tmp_path / "ambignq", [AMBIGUOUS]).parent)
    item = source._items["ambignq:1/1"]
    assert item.hidden is not None
    assert {reading[0] for reading in item.hidden.readings} == {"1990", "1994"}
    assert {page.title for page in item.context} == {"Won the cup in 1990", "Won the cup in 1994"}


@pytest.mark.parametrize(
    ("question", "phrases", "options"),
    [
        ("Who won the cup?", ["1990", "1994"], ["1990", "1994"]),
        ("Who played Anne?", ["in the 1985 film", "the 1934 film"], ["the 1985 film", "the 1934 film"]),
        ("When did the movie come out?", ["in Japan", "the US"], ["Japan", "the US"]),
        ("When was the first season of the show?", ["American", "Irish"], ["the American one", "the Irish one"]),
        ("When did it come out?", ["1990", "1994"], None),  # asks for what the reading tells
        ("Who is the mayor?", ["2015", "2016"], None),  # means now
        ("Who sings it?", ["actor", "rapper"], None),  # both together are the answer
        ("Who played Regina?", ["young", "adult"], None),  # has a default
    ],
)
def test_readings_are_named_by_noun_phrases(question: str, phrases: list[str], options: list[str] | None) -> None:
    named = name_readings(question, phrases)
    assert (named[1] if named else None) == options


@pytest.mark.parametrize(
    ("question", "phrases", "slot"),
    [
        ("Who sang the song Blue?", ["1990", "in 1994"], "year"),
        ("Who played Anne?", ["the 1985 film", "the 1934 film"], "version"),
        ("When did it come out?", ["in Japan", "in France"], "country"),
        ("When did it come out?", ["in Japan", "in Europe"], "region"),
        ("When did it open?", ["in London", "in the US"], "place"),
        ("When did it become a holiday?", ["in the UK", "in Scotland"], None),  # one is a part of the other
        ("When did it come out?", ["North America", "Canada"], None),
        ("When did it air?", ["English", "Japanese"], None),  # who asks in English means the English one
    ],
)
def test_an_ask_says_what_the_readings_differ_in(question: str, phrases: list[str], slot: str | None) -> None:
    named = name_readings(question, phrases)
    assert (named[0] if named else None) == slot


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Where is Blue set?", ("suburb of Velt", "Velt, Texas")),
        ("Who sang Blue in the sixties?", ("Ann", "Bo")),
        ("Who sang the country song Blue?", ("Ann", "Bo")),
    ],
)
def test_a_question_that_one_answer_fits_makes_no_ambiguous_sample(question: str, answers: tuple[str, str]) -> None:
    readings = [Reading(f"{question[:-1]} in {year}?", (one,)) for year, one in zip((1961, 1964), answers, strict=True)]
    assert ambiguous_item("ambignq:1/1", question, readings) is None
    other = "Where did Ann sing Blue?" if question.startswith("Where") else "Who sang the song Blue?"
    readings = [Reading(f"{other[:-1]} in {year}?", (one,)) for year, one in ((1961, "Orn"), (1964, "Velt"))]
    assert ambiguous_item("ambignq:1/1", other, readings) is not None


def test_places_that_are_one_place_make_no_two_readings(tmp_path: Path) -> None:
    row = {"question": "when did old age pensions start", "answer": ["1908"]}
    rows = [{**row, "id": at, "location": place, "edited_question": f"{row['question']} in {place}", "answer": [year]}
            for at, (place, year) in enumerate([("us", "1935"), ("usa", "1940")] * 2)]  # fmt: skip
    same = NaturalSource("situatedqa", write_rows(tmp_path / "situatedqa", rows).parent)._items
    assert not [item for item in same.values() if item.hidden]
    apart = json.loads(json.dumps(rows).replace("usa", "peru"))
    found = NaturalSource("situatedqa", write_rows(tmp_path / "b/situatedqa", apart).parent)._items
    readings = [item.hidden.readings for item in found.values() if item.hidden]
    assert [{names[0] for names in one} for one in readings] == [{"the United States", "Peru"}]


def test_a_single_answer_event_is_neither_complete_nor_ambiguous(tmp_path: Path) -> None:
    """It leaves the year open, and what happened in other years is not known."""
    asked = [
        "who won the irish grand national race",
        "who won the irish grand national in 2018",
        "who wrote the song help",
    ]
    told = [(at, one, "2018", "Ann") for at, one in enumerate(asked)]
    told += [
        (7, "who won the welsh grand national race", year, winner) for year, winner in (("2018", "Bo"), ("2019", "Cy"))
    ]
    rows = [
        {"question": one, "id": at, "date": year, "edited_question": f"{one} as of {year}", "answer": [answer]}
        for at, one, year, answer in told
    ]
    found = NaturalSource("situatedqa", write_rows(tmp_path / "situatedqa", rows).parent)._items
    assert {key: item.hidden is not None for key, item in found.items()} == {
        "situatedqa:1": False, "situatedqa:2": False, "situatedqa:7": True,
    }  # fmt: skip


def test_only_an_unnamed_object_is_missing_from_a_task(tmp_path: Path) -> None:
    detail = {
        "description": "Politician's name",
        "importance": "3",
        "inquiry": "Which?",
        "options": ["Ann Roe", "Bo Ek"],
    }
    row = {
        "category": "x",
        "task": "Pull the tweets of a specific politician.",
        "vague": True,
        "missing_details": [detail],
    }
    optional = {**row, "task": "Explain tides.", "missing_details": [{**detail, "description": "Level of detail"}]}
    placeholder = {
        **row,
        "task": "Rate a politician.",
        "missing_details": [{**detail, "options": ["Name of", "Party of"]}],
    }
    items = NaturalSource("in3", write_rows(tmp_path / "in3", [row, optional, placeholder]).parent)._items
    assert [item.hidden.missing for item in items.values() if item.hidden] == ["which politician you mean"]


def test_my_city_is_the_one_that_the_user_is_in(tmp_path: Path) -> None:
    detail = {"description": "City", "importance": "3", "inquiry": "Which?", "options": ["Velt", "Orn"]}
    rows = [
        {"category": "x", "task": f"List the parks of {whose} city.", "vague": True, "missing_details": [detail]}
        for whose in ("my", "a certain")
    ]
    items = NaturalSource("in3", write_rows(tmp_path / "in3", rows).parent)._items
    asked = [item.hidden.missing for item in items.values() if item.hidden]
    assert asked == ["which city you are in", "which city you mean"]


def test_numbered_options_are_listed_in_order() -> None:
    readings = tuple((f"season {number}",) for number in (10, 2, 3))
    hidden = Hidden("sense", "season 10", "which season you mean", ("season",), readings)
    for seed in range(8):
        _, ask = voice_in("en").ask(hidden, ["Season 2, season 3 and season 10 of the show."], Random(seed))
        assert "season 2, season 3 or season 10" in ask


def test_a_question_about_now_lacks_no_year(tmp_path: Path) -> None:
    row = {"question": "who is the current mayor", "id": 1, "answer": ["A"], "date": "2001", "any_answer": []}
    rows = [{**row, "edited_question": f"who is the current mayor as of {year}", "date": year, "answer": [name]}
            for year, name in (("2001", "Ann"), ("2005", "Bob"))]  # fmt: skip
    assert not NaturalSource("situatedqa", write_rows(tmp_path / "situatedqa", rows).parent)._items
    open_year = [json.loads(json.dumps(one).replace("is the current mayor", "won the cup")) for one in rows]
    kept = NaturalSource("situatedqa", write_rows(tmp_path / "b/situatedqa", open_year).parent)._items
    assert [item.hidden.kind for item in kept.values() if item.hidden] == ["year"]


def test_an_impossible_condition_is_challenged(tmp_path: Path) -> None:
    whole = {"id": 1, "question": "Bo had 5 eggs. He ate 3 eggs. How many are left?", "answer": [2.0],
             "answerable": True, "category": None, "relevant_ids": None}  # fmt: skip
    broken = {**whole, "id": 2, "question": "Bo had 5 eggs. He ate 9 eggs. How many are left?", "answer": None,
              "answerable": False, "category": 3, "relevant_ids": [1]}  # fmt: skip
    items = NaturalSource("umwp", write_rows(tmp_path / "umwp", [whole, broken]).parent)._items
    hidden = items["umwp:1/2"].hidden
    assert hidden is not None
    assert hidden.kind == "premise"
    assert hidden.span == "He ate 3 eggs."
    assert hidden.missing == "whether “He ate 9 eggs” is right"
    absurd = {**broken, "question": "Bo had 5 eggs. He ate -3 eggs. How many are left?"}
    assert "umwp:1/2" not in NaturalSource("umwp", write_rows(tmp_path / "b/umwp", [whole, absurd]).parent)._items


def test_an_ask_names_the_vague_amount_or_the_unknown_thing(tmp_path: Path) -> None:
    told = "Bo has 5 red pens and 3 blue pens. How many blue pens does he have?"
    whole = {"id": 1, "question": told, "answer": [3.0], "answerable": True, "category": None, "relevant_ids": None}
    variant = {**whole, "id": 2, "answerable": False, "relevant_ids": [1], "answer": None}
    vague = {**variant, "category": 2, "question": told.replace("3 blue", "several blue")}
    unknown = {**variant, "category": 4, "question": told.replace("many blue", "many green")}
    cut_off = {**variant, "category": 5, "question": told.replace("many blue pens does he have", "many?")}
    asked = []
    for number, row in enumerate((vague, unknown, cut_off)):
        items = NaturalSource("umwp", write_rows(tmp_path / str(number) / "umwp", [whole, row]).parent)._items
        asked += [item.hidden.missing for item in items.values() if item.hidden]
    assert asked == [
        "how many blue pens you mean by “several blue pens”",
        "whether “green pens” is right, as the problem gives no figure for it",
    ]


@pytest.mark.parametrize(
    ("told", "sentence", "variant", "category"),
    [
        ("A jug holds 9 cups. {} How many ounces is that?", "There are 8 ounces of milk in a cup.", "", 1),
        ("Ann drinks 9 cups. {}", "How many cups of hot milk are left?", "How many cups of hot spending are left?", 4),
        ("Ann saves $9 a day. {}", "How long does she have to save?", "How long does she have to lend all?", 4),
        ("There are 9 juniors. {}", "How many juniors sing?", "How many senior sing?", 4),
        ("Ann has pens. {} How many?", "She has 7 red and 5 blue ones.", "She has less than 7 red and some blues.", 2),
        ("Ann bakes. {} How many pies are there?", "She bakes 7 pies.", "She bakes pies. If she bakes well.", 1),
    ],
)  # fmt: skip
def test_a_problem_with_an_unnatural_ask_is_left_aside(
    told: str, sentence: str, variant: str, category: int, tmp_path: Path
) -> None:
    whole = {"id": 1, "question": told.format(sentence), "answer": [3.0], "answerable": True, "category": None,
             "relevant_ids": None}  # fmt: skip
    row = {**whole, "id": 2, "answerable": False, "relevant_ids": [1], "answer": None, "category": category,
           "question": " ".join(told.format(variant).split())}  # fmt: skip
    assert "umwp:1/2" not in NaturalSource("umwp", write_rows(tmp_path / "umwp", [whole, row]).parent)._items


def test_a_total_is_asked_for_in_whole_words(tmp_path: Path) -> None:
    told = "Ann builds a house with rooms. {} How big is a room?"
    whole = {"id": 1, "question": told.format("There are 6 rooms in total."), "answer": [3.0], "answerable": True,
             "category": None, "relevant_ids": None}  # fmt: skip
    row = {**whole, "id": 2, "answerable": False, "relevant_ids": [1], "answer": None, "category": 1,
           "question": "Ann builds a house with rooms. How big is a room?"}  # fmt: skip
    hidden = NaturalSource("umwp", write_rows(tmp_path / "umwp", [whole, row]).parent)._items["umwp:1/2"].hidden
    assert hidden is not None
    assert hidden.missing == "how many rooms there are"


def test_a_problem_with_two_gaps_is_left_aside(tmp_path: Path) -> None:
    whole = {"id": 1, "question": "Bo had 5 eggs and 7 figs. How many does he have?", "answer": [12.0],
             "answerable": True, "category": None, "relevant_ids": None}  # fmt: skip
    variant = {**whole, "id": 2, "answerable": False, "category": 2, "relevant_ids": [1], "answer": None}
    one_gap = {**variant, "question": "Bo had some eggs and 7 figs. How many does he have?"}
    two_gaps = {**variant, "question": "Bo had some eggs and several figs. How many does he have?"}
    other = {**variant, "question": "Bo had some eggs and 9 figs. How many does he have?"}
    for name, row, used in (("a", one_gap, True), ("b", two_gaps, False), ("c", other, False)):
        items = NaturalSource("umwp", write_rows(tmp_path / name / "umwp", [whole, row]).parent)._items
        assert ("umwp:1/2" in items) == used


def test_a_folder_without_the_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no umwp data here"):
        NaturalSource("umwp", tmp_path)


def test_contrast_keeps_the_noun_of_a_number() -> None:
    assert contrast(["When is season 1 out?", "When is season 2 out?"]) == ["season 1", "season 2"]
    assert contrast(["Who won?", "Who won in May?"]) is None
