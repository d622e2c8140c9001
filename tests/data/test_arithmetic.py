"""Word problems: right answers, no hint in the wording whether to ask, every level, both languages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from statistics import median

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgate_env.tokenize import tokens
from askgate_env.tools import calc, evaluate, wiki
from askgate_env.types import LANGS, LEVELS, Lang, Level, Sample, join_sentences
from src.core.defaults import MIN_TURNS
from src.core.files import shipped
from src.data.difficulty.metrics import measure_all
from src.data.pool.dialogue import item_to_sample
from src.data.pool.source import Item, Want
from src.data.pool.templates import load_pack
from src.data.quality.near_duplicates import near_duplicates
from src.data.quality.shortcuts import shortcut_auc
from src.data.quality.token_stream import token_stream
from src.data.worlds.arithmetic.language import Slots, language_of
from src.data.worlds.arithmetic.problem import UNSTATED, make_problem
from src.data.worlds.arithmetic.program import Expr, consistent_answers, scene_plans, show
from src.data.worlds.arithmetic.program import evaluate as evaluate_formula
from src.data.worlds.arithmetic.story import draw_story
from src.data.worlds.texts import render
from tests.data.samples import slots_of

REPOSITORY = Path(__file__).resolve().parents[2]
langs, levels, keys = st.sampled_from(LANGS), st.sampled_from(LEVELS), st.integers(0, 10**9).map(str)


def wanted(lang: Lang, level: Level, clarify: bool, max_turns: int = 6) -> Want:
    return Want(lang, level, clarify, max_turns=max_turns, tool_hops=4, ops_numeric=4, paraphrase=0.5)


def problem(lang: Lang, level: Level, clarify: bool, key: str) -> Item:
    return make_problem(wanted(lang, level, clarify), key)


def message(item: Item) -> str:
    return join_sentences([item.premise, item.clue, item.question])


@cache
def pool(lang: Lang, count: int) -> tuple[Item, ...]:
    """Problems with the shares of levels and asks of a real pool."""
    rng = Random(f"pool:{lang}")
    return tuple(
        problem(lang, rng.choices(LEVELS, (0.25, 0.45, 0.30))[0], rng.random() < 0.3, f"pool:{lang}:{number}")
        for number in range(count)
    )


def numbers_in(text: str) -> set[Fraction]:
    digits = {Fraction(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}
    words = language_of("en").text.number_words
    spelled = {Fraction(words.index(word)) for word in tokens(text.lower()) if word in words[2:]}
    return digits | spelled


@settings(max_examples=300, deadline=None)
@given(langs, levels, st.booleans(), keys)
def test_replaying_the_steps_gives_the_answer(lang: Lang, level: Level, clarify: bool, key: str) -> None:
    item = problem(lang, level, clarify, key)
    results = [calc(step.input) for step in item.steps if step.tool == "calc"]
    assert results[-1] == item.answer
    assert not any(result.startswith("error") for result in results)
    for step in item.steps:
        if step.tool == "wiki":
            assert wiki(item.context, step.input).startswith(f"{step.input}: ")


@settings(max_examples=200, deadline=None)
@given(langs, levels, st.booleans(), keys)
def test_answers_are_plausible_numbers(lang: Lang, level: Level, clarify: bool, key: str) -> None:
    answer = Fraction(problem(lang, level, clarify, key).answer)
    assert 0 < answer <= 2_000_000
    assert 100 % answer.denominator == 0


@settings(max_examples=200, deadline=None)
@given(langs, levels, keys)
def test_a_hidden_quantity_is_nowhere_in_the_prompt(lang: Lang, level: Level, key: str) -> None:
    item = problem(lang, level, True, key)
    assert item.hidden is not None
    visible = " ".join([message(item), *(article.text for article in item.context)])
    assert item.hidden.span not in visible
    assert item.hidden.span in item.support
    assert item.hidden.span in item.original
    if lang == "en":
        assert numbers_in(item.hidden.span).isdisjoint(numbers_in(visible))
    else:
        digits = set(re.findall(r"\d+(?:\.\d+)?", item.hidden.span))
        assert digits.isdisjoint(re.findall(r"\d+(?:\.\d+)?", visible))
    assert item.hidden.missing
    assert all(item.hidden.about)


@settings(max_examples=200, deadline=None)
@given(langs, levels, keys)
def test_without_the_hidden_quantity_several_answers_fit(lang: Lang, level: Level, key: str) -> None:
    story = draw_story(language_of(lang), wanted(lang, level, True), True, Random(key))
    answers = consistent_answers(story.program, story.key.name)
    assert story.program.answer in answers
    assert len(answers) > 1


@settings(max_examples=200, deadline=None)
@given(langs, levels, keys)
def test_a_complete_problem_has_the_message_of_an_incomplete_one(lang: Lang, level: Level, key: str) -> None:
    """With the same key, the user's message is the same whether an ask is needed or not; only the articles differ."""
    complete, asking = problem(lang, level, False, key), problem(lang, level, True, key)
    assert complete.hidden is None
    if UNSTATED not in complete.ambiguity:
        assert all(sentence in message(complete) for sentence in complete.support)
        return
    assert (complete.premise, complete.clue, complete.question) == (asking.premise, asking.clue, asking.question)
    assert (complete.original, complete.answer) == (asking.original, asking.answer)
    assert complete.steps[0].tool == "wiki"
    assert asking.hidden is not None
    shown = wiki(complete.context, complete.steps[0].input)
    stated = re.findall(r"\d+(?:\.\d+)?", asking.hidden.span)
    if stated:
        assert stated[-1] in re.findall(r"\d+(?:\.\d+)?", shown)
    titles = {article.title for article in asking.context}
    assert complete.steps[0].input in {article.title for article in complete.context}
    assert asking.ask_after == 1
    assert asking.steps[0].input in titles


@settings(max_examples=200, deadline=None)
@given(langs, levels, st.booleans(), keys, st.integers(MIN_TURNS, 8))
def test_no_dialogue_has_more_turns_than_wanted(
    lang: Lang, level: Level, clarify: bool, key: str, max_turns: int
) -> None:
    item = make_problem(wanted(lang, level, clarify, max_turns), key)
    assert len(item.steps) + int(item.hidden is not None) + 1 <= max_turns


@cache
def dressed(lang: Lang) -> tuple[tuple[Level, Sample], ...]:
    pack = load_pack(shipped(Path("templates/pack_v2")))
    samples = []
    for level in LEVELS:
        for number in range(300):
            item = problem(lang, level, number % 3 == 0, f"dressed:{lang}:{level}:{number}")
            samples.append((level, item_to_sample(item, pack, ("wiki", "calc"), "train", 7)))
    return tuple(samples)


@pytest.mark.parametrize("lang", LANGS)
def test_items_have_the_wanted_level_and_asks_make_them_harder(lang: Lang) -> None:
    """A look at the page and an ask add turns: with them a sample is at least as hard as wanted."""
    records = measure_all([sample for _, sample in dressed(lang)])
    hits: Counter[tuple[Level, bool]] = Counter()
    asked: Counter[tuple[Level, bool]] = Counter()
    for (level, sample), record in zip(dressed(lang), records, strict=True):
        asked[level, sample.needs_clarification] += 1
        harder = sample.needs_clarification and LEVELS.index(record.level) > LEVELS.index(level)
        hits[level, sample.needs_clarification] += record.level == level or harder
    shares = {group: hits[group] / count for group, count in asked.items()}
    assert min(shares.values()) >= 0.92, shares


@pytest.mark.parametrize("lang", LANGS)
def test_easy_questions_restate_more_of_their_story_than_hard_ones(lang: Lang) -> None:
    records = measure_all([sample for _, sample in dressed(lang)])
    overlaps: dict[Level, list[float]] = {level: [] for level in LEVELS}
    for (level, _), record in zip(dressed(lang), records, strict=True):
        overlaps[level].append(record.clue_overlap)
    assert 0.42 <= median(overlaps["easy"]) <= 0.60
    assert 0.10 <= median(overlaps["hard"]) <= 0.20
    inside = [0.42 <= overlap <= 0.60 for overlap in overlaps["easy"]]
    assert sum(inside) / len(inside) >= 0.95


@pytest.mark.parametrize("lang", LANGS)
def test_the_message_does_not_tell_whether_to_ask(lang: Lang) -> None:
    items = pool(lang, 3000)
    needs = np.array([item.hidden is not None for item in items])
    found = shortcut_auc([message(item) for item in items], needs, seed=1)
    assert found.auc is not None
    assert found.auc <= 0.62


@pytest.mark.parametrize("lang", LANGS)
def test_problems_are_not_near_copies_of_each_other(lang: Lang) -> None:
    found = near_duplicates(token_stream([message(item) for item in pool(lang, 3000)]))
    assert found.duplicate.mean() < 0.005


@pytest.mark.parametrize("lang", LANGS)
def test_the_wording_is_as_varied_as_human_wording(lang: Lang) -> None:
    """Word problems by humans have a distinct-2 of 0.70 in windows of 5,000 tokens."""
    stream = [token for item in pool(lang, 3000) for token in tokens(message(item))]
    shares = []
    for window in range(30):
        start = Random(window).randrange(len(stream) - 5000)
        pairs = list(zip(stream[start : start + 4999], stream[start + 1 : start + 5000], strict=True))
        shares.append(len(set(pairs)) / len(pairs))
    assert sum(shares) / len(shares) >= 0.62


def test_the_same_key_gives_the_same_bytes_in_another_process() -> None:
    script = (
        "import hashlib, msgspec\n"
        "from src.data.pool.source import Want\n"
        "from src.data.worlds.arithmetic.problem import make_problem\n"
        "wants = [Want(lang, level, clarify, 6, 4, 4, 0.5) for lang in ('en', 'zh')\n"
        "         for level in ('easy', 'medium', 'hard') for clarify in (True, False)]\n"
        "items = [make_problem(want, f'{n}') for n in range(10) for want in wants]\n"
        "print(hashlib.sha256(msgspec.json.encode(items)).hexdigest())\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_two_keys_give_two_problems() -> None:
    items = {msgspec.json.encode(problem("en", "medium", False, str(number))) for number in range(50)}
    assert len(items) == 50


@pytest.mark.parametrize("lang", LANGS)
def test_every_scene_has_all_its_texts(lang: Lang) -> None:
    language = language_of(lang)
    opening, further = scene_plans().opening, scene_plans().further
    assert set(language.scenes.opening) == set(opening)
    assert set(language.scenes.further) == set(further)
    assert len(opening) >= 30
    for key, plan in (*opening.items(), *further.items()):
        scene = language.scene(key)
        stated = sorted(name for names in scene.facts for name in names.split("+"))
        assert stated == sorted(name for name, given in plan.quantities.items() if given.kind not in "aM"), key
        assert all(len(variants) > 1 for variants in scene.facts.values()), key
        assert len(scene.ask) > 1, key
        assert len(scene.far) > 1, key
        assert set(scene.missing) == set(scene.listing) == set(scene.about) == set(plan.hideable), key
        assert set(plan.hideable) <= set(scene.facts), key
        if plan.group:
            assert plan.hideable, key
            assert len(scene.open) > 1, key
            assert all("{P}" in opening and "{N}" in opening for opening in scene.open), key


@pytest.mark.parametrize("lang", LANGS)
def test_every_sentence_about_a_quantity_states_it(lang: Lang) -> None:
    language = language_of(lang)
    for scene in (*language.scenes.opening.values(), *language.scenes.further.values()):
        for key, variants in scene.facts.items():
            assert all(set(key.split("+")) <= slots_of(variant) for variant in variants), key
        for name, variants in scene.listing.items():
            assert all(name in slots_of(variant) for variant in variants), name


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_asked_for_names_only_what_the_story_fixed(lang: Lang) -> None:
    """A filler that is drawn on first use may be a taxi in the story and a van in the question about it."""
    language = language_of(lang)
    fixed = {"N", "N2", "P", "things", "base", "unit", *language.text.pronouns["woman"]}
    for key, scene in (*language.scenes.opening.items(), *language.scenes.further.items()):
        nouns = {noun + end for noun in scene.nouns for end in ("", language.text.second_form_suffix)}
        stated = {f"a {noun}" for noun in nouns} | nouns | fixed | set(scene_plans()[key].quantities)
        texts = [*scene.missing.values(), *(line for lines in scene.listing.values() for line in lines)]
        assert all(slots_of(text) <= stated for text in texts), key


@pytest.mark.parametrize("lang", LANGS)
def test_premise_and_clue_tell_the_facts_in_order(lang: Lang) -> None:
    for item in pool(lang, 120):
        told = join_sentences([item.premise, item.clue])
        places = [told.find(sentence) for sentence in item.support]
        found = [place for place in places if place >= 0]
        assert found == sorted(found), told


@pytest.mark.parametrize("lang", LANGS)
def test_remarks_contain_no_numbers(lang: Lang) -> None:
    language = language_of(lang)
    for number, remark in enumerate(language.text.remarks * 5):
        rng = Random(number)
        slots = Slots(language, rng)
        language.cast(slots, rng)
        slots["P"] = language.place(("X",), rng)
        assert not numbers_in(render(remark, rng, slots)), remark


expressions: st.SearchStrategy[Expr] = st.recursive(
    st.sampled_from(["a", "b", "c"]) | st.integers(1, 9),
    lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(expressions)
def test_calc_and_program_agree_on_an_expression(expression: Expr) -> None:
    values = {"a": 3, "b": Fraction(5, 2), "c": 70}
    try:
        meant = evaluate_formula(expression, values)
    except ZeroDivisionError:
        return
    assert evaluate(show(expression, values)) == meant


@settings(max_examples=150, deadline=None)
@given(langs, levels, st.booleans(), keys)
def test_no_page_contradicts_itself(lang: Lang, level: Level, clarify: bool, key: str) -> None:
    """A kind of line comes once: two lines of one article never differ in their numbers alone."""
    item = problem(lang, level, clarify, key)
    for article in item.context:
        without_numbers = [re.sub(r"\d+(?:\.\d+)?", "#", line) for line in article.sentences]
        assert len(set(without_numbers)) == len(without_numbers)


@settings(max_examples=150, deadline=None)
@given(langs, levels, keys)
def test_premise_and_clue_keep_the_order_of_the_story(lang: Lang, level: Level, key: str) -> None:
    item = problem(lang, level, False, key)
    told = [sentence for sentence in item.support if sentence in item.premise or sentence in item.clue]
    text = f"{item.premise} {item.clue}"
    places = [text.find(sentence) for sentence in told]
    assert places == sorted(places)


@pytest.mark.parametrize("lang", LANGS)
def test_a_page_has_equally_many_figures_without_the_key(lang: Lang) -> None:
    counts: dict[bool, list[int]] = {True: [], False: []}
    for item in pool(lang, 900):
        if item.steps and item.steps[0].tool == "wiki":
            shown = wiki(item.context, item.steps[0].input)
            counts[item.hidden is not None].append(len(re.findall(r"\d+", shown)))
    means = {need: sum(found) / len(found) for need, found in counts.items()}
    assert abs(means[True] - means[False]) < 0.8
