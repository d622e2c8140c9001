"""Sources of natural ambiguity: what is needed, detectable and said by whom, and pools from the real files."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from askgate_env.success import correct, normalized
from askgate_env.tokenize import occurs
from askgate_env.tools import search
from askgate_env.types import Hidden, Sample
from askgate_env.user_simulator import informs, reply
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.meta import PoolMeta
from src.data.pool.plan import BuildPlan
from src.data.pool.voice import voice_in
from src.data.quality.shortcuts import observation_auc, observe, shortcut_auc
from src.data.readers import messages
from src.data.readers.ambignq import ambiguous_item, name_readings
from src.data.readers.natural import NaturalSource, _herd, _without_same_story
from src.data.readers.natural_records import NATURAL, Reading, contrast

DATA = Path(__file__).parents[3] / "shared/data"
SIZES = {"ambignq": 300, "situatedqa": 200, "umwp": 300, "in3": 150, "abg_coqa": 60}


def write_rows(folder: Path, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def pool_of(source: str, data: Path, out: Path, n: int, rate: float = 0.3) -> tuple[list[Sample], PoolMeta]:
    plan = BuildPlan(
        n=n, mix={"hotpotqa": 1.0}, seed=5, langs=(), templates_dir=Path("templates/pack_v2"), source=source,
        data_dir=data, clarify_rate=rate,
    )  # fmt: skip
    meta = build_pool(plan, out / "pool.jsonl")
    return list(read_records(out / "pool.jsonl", Sample)), meta


@pytest.fixture(scope="module", params=sorted(SIZES))
def pool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sample], PoolMeta]:
    if not (DATA / request.param).is_dir():
        pytest.skip("the dataset files are not here")
    return pool_of(request.param, DATA, tmp_path_factory.mktemp(request.param), SIZES[request.param])


def test_every_ambiguous_sample_has_a_reading_that_the_reply_gives(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        if sample.hidden is not None:
            said = [turn.text for turn in sample.dialogue if turn.by == "user"][1]
            assert sample.hidden.span in said
            assert sample.hidden.span not in sample.prompt


def test_the_share_of_ambiguous_samples_is_the_one_asked_for_less_what_lacks(
    pool: tuple[list[Sample], PoolMeta],
) -> None:
    samples, meta = pool
    ambiguous = sum(sample.needs_clarification for sample in samples)
    assert ambiguous == round(0.3 * len(samples)) - sum(meta.fewer_ambiguous.values())
    assert ambiguous


def test_no_group_of_records_is_used_twice(pool: tuple[list[Sample], PoolMeta]) -> None:
    groups = Counter(sample.provenance.source_id.partition("/")[0] for sample in pool[0])
    assert max(groups.values()) == 1


def test_the_users_words_are_those_of_the_dataset(pool: tuple[list[Sample], PoolMeta]) -> None:
    assert all(sample.prompt == f"{sample.premise} {sample.question}".strip() for sample in pool[0])


def test_the_question_of_the_demonstration_gets_the_information(pool: tuple[list[Sample], PoolMeta]) -> None:
    asked = [
        (sample, turn.text) for sample in pool[0] if sample.hidden for turn in sample.dialogue if turn.act == "ask"
    ]
    assert sum(informs(reply(sample, ask)) for sample, ask in asked) >= 0.9 * len(asked)


@pytest.mark.parametrize("source", ["ambignq", "situatedqa"])
def test_the_first_look_shows_two_readings_with_different_answers(source: str, tmp_path: Path) -> None:
    if not (DATA / source).is_dir():
        pytest.skip("the dataset files are not here")
    for sample in pool_of(source, DATA, tmp_path, 120)[0]:
        if sample.hidden is not None:
            look = next(turn.text for turn in sample.dialogue if turn.act == "call")
            shown = {normalized(page.text) for page in search(sample.context, look)[:2]}
            assert len(shown) == 2, sample.prompt


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


def test_a_complete_question_is_not_the_title_of_its_page(pool: tuple[list[Sample], PoolMeta]) -> None:
    """A title in the words of the message would tell complete questions from ambiguous ones, whose titles say more."""
    for sample in pool[0]:
        assert sample.question.rstrip(" ?") not in {page.title for page in sample.context}


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


def test_an_event_with_one_known_answer_is_neither_complete_nor_ambiguous(tmp_path: Path) -> None:
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


def test_a_pool_has_no_more_ambiguous_samples_than_complete_ones_are_like_them(tmp_path: Path) -> None:
    if not (DATA / "situatedqa").is_dir():
        pytest.skip("the dataset files are not here")
    samples, meta = pool_of("situatedqa", DATA, tmp_path, 505)
    assert sum(sample.needs_clarification for sample in samples) == NATURAL["most_ambiguous"]["situatedqa"]
    assert meta.fewer_ambiguous == {"hotpotqa": 151 - NATURAL["most_ambiguous"]["situatedqa"]}
    needs = np.array([sample.needs_clarification for sample in samples])
    for lower in (
        shortcut_auc([sample.prompt for sample in samples], needs, 5).lower,
        observation_auc([observe(sample) for sample in samples], 5).lower,
    ):
        assert lower is not None
        assert lower <= 0.70


def test_chosen_questions_have_the_features_of_the_others_as_often() -> None:
    """Half of `like` has feature 0, so half of what is chosen has it, whatever most keys have."""
    has = {f"often:{at}": np.array([0, 2]) for at in range(40)} | {f"seldom:{at}": np.array([1, 2]) for at in range(10)}
    has |= {"a": np.array([0, 2]), "b": np.array([1, 2])}
    chosen = _herd([key for key in has if ":" in key], ["a", "b"], 20, has, np.array([5, 5, 5]))
    assert Counter(key.partition(":")[0] for key in chosen) == {"often": 10, "seldom": 10}


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


def test_an_ask_lists_the_options_that_the_tools_showed(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        if sample.hidden is not None and sample.hidden.kind in ("place", "sense", "year") and sample.context:
            at = next(place for place, turn in enumerate(sample.dialogue) if turn.act == "ask")
            seen = " ".join(turn.text for turn in sample.dialogue[:at] if turn.act == "result")
            if all(any(occurs(name, seen) for name in names) for names in sample.hidden.readings):
                asked = sample.dialogue[at].text
                assert all(names[0] in asked for names in sample.hidden.readings), asked


def test_the_user_replies_with_a_sentence_or_a_phrase(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        if sample.hidden is not None:
            said = [turn.text for turn in sample.dialogue if turn.by == "user"][1]
            assert said in (sample.hidden.span, f"I mean {sample.hidden.span}.")


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
def test_a_problem_that_nobody_would_ask_about_so_is_left_aside(
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


def test_a_story_with_other_numbers_and_names_is_not_in_a_pool_and_its_shadow_set() -> None:
    told = "Ed had 10 more marbles than Doug. Doug lost 11 of his marbles. How many more marbles has Ed?"
    again = "Tom had 7 more marbles than Doug. Doug lost 2 of his marbles. How many more marbles has Tom?"
    other = "A baker sells 12 rolls an hour. How many rolls does he sell in 3 hours?"
    texts = {"told": told, "again": again, "other": other}
    assert _without_same_story(["again", "other"], ["told"], texts) == ["other"]


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


def test_detection_has_no_success(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        assert correct(sample, sample.answer) == (sample.task != "detect")


OWN = [
    {"messages": [{"role": "user", "content": f"{verb} the {noun}?"}, {"role": "assistant", "content": answer}], **more}
    for verb, noun, answer, more in (
        ("Who painted", "old harbour", "Ida Roth", {}),
        ("Where can I buy", "blue ticket", "at the pier", {}),
        ("Which bus goes to", "mountain hut", "line nine", {"hidden": {"span": "the hut above Graz"}}),
        ("When was", "bridge", "in June", {"hidden": {"span": "the iron one", "options": ["the stone one"]}}),
        ("What grows in", "south garden", "roses", {}),
        ("Who runs", "night market", "the guild", {}),
    )
]


def test_own_messages_become_samples_with_their_hidden_information(tmp_path: Path) -> None:
    source = NaturalSource("messages", write_rows(tmp_path, OWN))
    by_question = {item.question: item for item in source._items.values()}
    hidden = by_question["When was the bridge?"].hidden
    assert hidden is not None
    assert hidden.span == "the iron one"
    assert hidden.missing == "which you mean: the iron one, the stone one"
    assert by_question["Who painted the old harbour?"].answer == "Ida Roth"
    assert source.mix == {"hotpotqa": 1.0}


def test_share_gpt_rows_without_answers_are_for_detection(tmp_path: Path) -> None:
    rows = [{"conversations": [{"from": "human", "value": f"Plan trip {at}"}, {"from": "gpt", "value": "x " * 40}]}
            for at in range(3)]  # fmt: skip
    assert NaturalSource("messages", write_rows(tmp_path, rows)).mix == {"detect": 1.0}


def test_an_id_of_the_user_may_have_any_character(tmp_path: Path) -> None:
    folder = write_rows(tmp_path, [{**row, "id": f"~me 3~{place}|x"} for place, row in enumerate(OWN)])
    samples, meta = pool_of("messages", folder, tmp_path / "out", 2, 0.0)
    assert all("~me" in one.provenance.source_id for one in samples)
    assert meta.reused == {}


def test_messages_share_gpt_and_alpaca_rows_give_the_same_item(tmp_path: Path) -> None:
    question, answer = "When was the bridge built?\n\nThe iron one.", "in June"
    call = {"role": "assistant", "content": None, "tool_calls": []}
    parts = [{"type": "text", "text": "When was the bridge built?\n"}, {"type": "text", "text": "The iron one."}]
    rows: list[dict[str, object]] = [
        {"messages": [{"role": "user", "content": question}, call, {"role": "assistant", "content": answer}]},
        {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": answer}]},
        {"conversations": [{"from": "human", "value": question}, {"from": "gpt", "value": answer}]},
        {"instruction": "When was the bridge built?", "input": "The iron one.", "output": answer},
    ]
    made = []
    for place, row in enumerate(rows):
        made.append(messages.read([write_rows(tmp_path / str(place), [row]) / "rows.jsonl"]))
    assert made == made[:1] * 4
    [item] = made[0][0]
    assert (item.question, item.answer) == (question, answer)


def dialogue(*texts: str, **more: object) -> dict[str, object]:
    roles = ("user", "assistant") * len(texts)
    return {"messages": [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)], **more}


def test_a_clarifying_question_without_hidden_is_no_complete_sample(tmp_path: Path) -> None:
    asks = ("When does the shop open?", "Which shop do you mean?", "the one in Lyon", "at 9 am")
    rows = [
        dialogue(*asks),
        dialogue("What does it cost?", "Which size?"),
        dialogue("Where is the key?", "At the desk. Anything else?"),
        dialogue("Is it open on Sundays?", "您指的是哪一家？", "the mill", "no", hidden=None),
        dialogue("Who runs the inn?", "Which inn?", "the Bear", "Ida Roth", hidden="the Bear"),
    ]
    folder = write_rows(tmp_path, rows)
    items = {item.question: item for item in NaturalSource("messages", folder)._items.values()}
    assert list(items) == [rows[at]["messages"][0]["content"] for at in (2, 3, 4)]  # type: ignore[index]
    assert [item.hidden.span if item.hidden else "" for item in items.values()] == ["", "", "the Bear"]
    first, second = messages.skipped_rows(folder)
    assert "rows.jsonl:1: skipped: the assistant asks 'Which shop do you mean?' and is told 'the one in Lyon'" in first
    assert 'has no `hidden`: give the words that the question lacks, "hidden": {"span": ' in first
    assert "rows.jsonl:2: skipped: the assistant asks 'Which size?', and the row" in second


@pytest.mark.parametrize("hidden", [["Lyon"], {"missing": "which shop"}, 7])
def test_a_hidden_field_of_another_form_is_refused_with_an_example(hidden: object, tmp_path: Path) -> None:
    folder = write_rows(tmp_path, [dialogue("When does the shop open?", "at 9", hidden=hidden)])
    with pytest.raises(BadInput, match=r'rows.jsonl:1: .*\$\.hidden.*"hidden": \{"span": "the shop in Lyon"'):
        NaturalSource("messages", folder)


def test_csv_and_question_and_answer_rows_give_the_same_items(tmp_path: Path) -> None:
    hidden = {"span": "the shop in Lyon", "missing": "which shop you mean", "options": ["the shop in Nice"]}
    rows: list[dict[str, object]] = [
        {"question": "When does the shop open?", "answer": "at 9 am", "hidden": hidden},
        {"question": "Who runs the inn,\nand since when?", "answer": "Ida Roth"},
        {"question": "What next?", "answer": "x " * 13},
    ]
    made = messages.read([write_rows(tmp_path, rows) / "rows.jsonl"])
    (tmp_path / "csv").mkdir()
    file = tmp_path / "csv" / "rows.csv"
    file.write_text(
        "\ufeffQuestion;Answer;Hidden;Missing;Options\n"
        "When does the shop open?;at 9 am;the shop in Lyon;which shop you mean;the shop in Nice\n"
        '"Who runs the inn,\nand since when?";Ida Roth;;;\n'
        f"What next?;{'x ' * 13};;;\n"
    )
    assert messages.read([file]) == made
    file.write_text(file.read_text() + "And then?;;;;\n")
    long, silent = messages.skipped_rows(file.parent)
    assert long.startswith(f"{file}:5: skipped: the last assistant message has more than 12 words")
    assert silent.startswith(f"{file}:6: skipped: the row has no answer, and most rows have a short answer")
    file.write_text("q,a\n1,2\n")
    with pytest.raises(BadInput, match=r"rows\.csv:1: the header has q, a. What to do: name the columns question"):
        messages.read([file])


def test_a_json_array_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("[\n{}\n]")
    with pytest.raises(BadInput, match=r"jq -c '\.\[\]' .*rows\.jsonl > rows\.lines\.jsonl"):
        NaturalSource("messages", tmp_path)


def test_an_alpaca_row_without_instruction_is_skipped_and_named(tmp_path: Path) -> None:
    rows = [{"instruction": "Name a colour.", "output": "red"}, {"instruction": "", "input": "x", "output": "y"}]
    [told] = messages.skipped_rows(write_rows(tmp_path, rows))
    assert told.endswith("rows.jsonl:2: skipped: the row has input, instruction, output: give `messages` with role and "
                         "content, `conversations`, or `instruction`.")  # fmt: skip


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"instruction": "Where?", "output": "there", "hiden": {"span": "the shop"}}, "'hiden' .did you mean 'hidden'"),
        ({"instruction": "Where?", "output": "there", "Answer": "here"}, "'Answer' .did you mean 'answer'"),
        ({"instruction": "Where?", "hidden": {"span": "the shop", "option": ["x"]}}, "hidden: .*mean 'options'"),
        ({"messages": [{"role": "用户", "content": "Where?"}]}, "roles are 用户; known are human, user"),
        ({"问题": "Where?"}, "the row has 问题"),
    ],
)
def test_a_misspelt_field_and_an_unknown_role_are_named_with_their_row(
    row: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=rf"rows.jsonl:1.*{said}"):
        messages.read([write_rows(tmp_path, [row]) / "rows.jsonl"])


def test_fields_of_exported_chats_are_accepted(tmp_path: Path) -> None:
    extra = {"metadata": {}, "source": "app", "idx": 1, "conversation_id": "c", "system": "", "tools": [], "uid": "u"}
    items, rows = messages.read([write_rows(tmp_path, [{**row, **extra} for row in OWN]) / "rows.jsonl"])
    assert rows == len(items) == len(OWN)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").touch()
    with pytest.raises(BadInput, match=r"rows.jsonl: has no rows"):
        NaturalSource("messages", tmp_path)


def test_two_chinese_characters_count_as_one_word_of_an_answer(tmp_path: Path) -> None:
    answers = ["好" * 24, "好" * 25, "在北门", "九点"]
    rows = [{"instruction": f"第{place}问？", "output": answer} for place, answer in enumerate(answers)]
    items, _ = messages.read([write_rows(tmp_path, rows) / "rows.jsonl"])
    assert [item.answer for item in items] == [answers[0], *answers[2:]]


def test_too_large_a_size_names_one_that_works(tmp_path: Path) -> None:
    words = ("harbour", "library", "windmill", "orchard", "station", "chapel", "tunnel", "bakery", "museum", "quarry")
    verbs = ("painted", "sold", "burnt", "designed", "measured", "repaired")
    rows = [{"instruction": f"Who {verb} our {word}?", "output": "Ida"} for verb in verbs for word in words]
    for row in rows[::2]:
        row |= {"hidden": {"span": f"{row['instruction'][-9:-1]} of Lyon"}}
    folder = write_rows(tmp_path, rows)
    with pytest.raises(BadInput) as refused:
        pool_of("messages", folder, tmp_path / "out", 60, 0.3)
    n = int(re.search(r"with --n (\d+)", str(refused.value))[1])  # type: ignore[index]
    samples, _ = pool_of("messages", folder, tmp_path / "out", n, 0.3)
    assert len(samples) == n > 10
    counts = NaturalSource("messages", folder).row_counts()
    assert counts.rows == 60 == counts.skipped + counts.train + counts.shadow + counts.alike


def test_a_span_that_is_in_the_question_is_refused(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "When was the iron bridge built?"}], "hidden": {"span": "iron"}}
    with pytest.raises(BadInput, match="already in the question"):
        NaturalSource("messages", write_rows(tmp_path, [row]))


def test_a_folder_without_the_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no umwp data here"):
        NaturalSource("umwp", tmp_path)


def test_contrast_keeps_the_noun_of_a_number() -> None:
    assert contrast(["When is season 1 out?", "When is season 2 out?"]) == ["season 1", "season 2"]
    assert contrast(["Who won?", "Who won in May?"]) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"question,answer,hiden\nWhen?,at 9,the shop\n", "rows.csv:1: unknown field 'hiden' .did you mean 'hidden'"),
        (
            "question,answer\n几点开门,九点\n".encode("gbk"),
            r"rows.csv: invalid UTF-8 at byte 16.*iconv -f GBK .* > new.csv",
        ),
        ("question,answer\nWhen?,at 9\n".encode("utf-16"), r"rows.csv: .*iconv -f UTF-16 -t UTF-8 .* > new.csv"),
        (b"", "rows.csv:1: its first line is empty. What to do: name the columns"),
        (b"question,reply,note\nWhen?,at 9,x\n", "rows.csv:1: there is no column answer, and reply, note would not be"),
        (b'question,answer\nWhen?,at 9\n"Where,there\n' + b"Who?,me\n" * 20_000, "rows.csv:3: is no row of a CSV file"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(BadInput, match=said):
        NaturalSource("messages", tmp_path)


def test_only_bare_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    """`8 pm` would be as right as `8 am`."""
    for place, (answers, task) in enumerate(
        {
            ("8 am", "7.30 am"): "hotpotqa",
            ("上午8点", "18元"): "hotpotqa",
            ("12", "$3.50"): "gsm8k",
            ("5%", "1,250"): "gsm8k",
        }.items()
    ):
        rows = [dialogue(f"When is lesson {at}?", answer) for at, answer in enumerate(answers)]
        items, _ = messages.read([write_rows(tmp_path / str(place), rows) / "rows.jsonl"])
        assert {one.task for one in items} == {task}, answers


def test_missing_and_options_may_stand_beside_the_hidden_text(tmp_path: Path) -> None:
    more = {"missing": "which shop you mean", "options": ["the shop in Nice"]}
    rows = [dialogue("When does the shop open?", "9 am", hidden="the shop in Lyon", **more)]
    nested = [dialogue("When does the shop open?", "9 am", hidden={"span": "the shop in Lyon", **more})]
    made = [
        messages.read([write_rows(tmp_path / str(at), one) / "rows.jsonl"]) for at, one in enumerate((rows, nested))
    ]
    assert made[0] == made[1]
    assert made[0][0][0].hidden is not None
    folder = write_rows(tmp_path / "without", [*rows, dialogue("When does the bank open?", "8 am", **more)])
    assert "`missing` and `options` belong in `hidden`" in messages.skipped_rows(folder)[0]
