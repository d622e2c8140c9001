"""Pools from the real files of each natural source: shares, dialogues, and the choice of samples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from askgate_env.success import correct, normalized
from askgate_env.tokenize import occurs
from askgate_env.tools import search
from askgate_env.types import Sample
from askgate_env.user_simulator import informs, reply
from src.data.pool.meta import PoolMeta
from src.data.quality.shortcuts import observation_auc, observe, shortcut_auc
from src.data.readers.natural import _herd, _without_same_story
from src.data.readers.natural_records import NATURAL
from tests.conftest import OFFICIAL
from tests.data.natural_rows import pool_of

SIZES = {"ambignq": 300, "situatedqa": 200, "umwp": 300, "in3": 150, "abg_coqa": 60}


@pytest.fixture(scope="module", params=sorted(SIZES))
def pool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sample], PoolMeta]:
    if not (OFFICIAL / request.param).is_dir():
        pytest.skip("the dataset files are not here")
    return pool_of(request.param, OFFICIAL, tmp_path_factory.mktemp(request.param), SIZES[request.param])


def test_every_ambiguous_sample_has_a_reading_that_the_reply_gives(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        if sample.hidden is not None:
            said = [turn.text for turn in sample.dialogue if turn.by == "user"][1]
            assert sample.hidden.span in said
            assert sample.hidden.span not in sample.prompt


def test_the_ambiguous_share_is_as_asked_minus_missing_ones(
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
    if not (OFFICIAL / source).is_dir():
        pytest.skip("the dataset files are not here")
    for sample in pool_of(source, OFFICIAL, tmp_path, 120)[0]:
        if sample.hidden is not None:
            look = next(turn.text for turn in sample.dialogue if turn.act == "call")
            shown = {normalized(page.text) for page in search(sample.context, look)[:2]}
            assert len(shown) == 2, sample.prompt


def test_a_complete_question_is_not_the_title_of_its_page(pool: tuple[list[Sample], PoolMeta]) -> None:
    """A title in the words of the message would tell complete questions from ambiguous ones, whose titles say more."""
    for sample in pool[0]:
        assert sample.question.rstrip(" ?") not in {page.title for page in sample.context}


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


def test_detection_has_no_success(pool: tuple[list[Sample], PoolMeta]) -> None:
    for sample in pool[0]:
        assert correct(sample, sample.answer) == (sample.task != "detect")


def test_ambiguous_samples_are_capped_by_similar_complete_ones(tmp_path: Path) -> None:
    if not (OFFICIAL / "situatedqa").is_dir():
        pytest.skip("the dataset files are not here")
    samples, meta = pool_of("situatedqa", OFFICIAL, tmp_path, 505)
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
    """Half of `reference` has feature 0, so half of what is chosen has it, whatever most keys have."""
    has = {f"often:{at}": np.array([0, 2]) for at in range(40)} | {f"seldom:{at}": np.array([1, 2]) for at in range(10)}
    has |= {"a": np.array([0, 2]), "b": np.array([1, 2])}
    chosen = _herd([key for key in has if ":" in key], ["a", "b"], 20, has, np.array([5, 5, 5]))
    assert Counter(key.partition(":")[0] for key in chosen) == {"often": 10, "seldom": 10}


def test_pool_and_shadow_set_never_tell_the_same_story() -> None:
    told = "Ed had 10 more marbles than Doug. Doug lost 11 of his marbles. How many more marbles has Ed?"
    again = "Tom had 7 more marbles than Doug. Doug lost 2 of his marbles. How many more marbles has Tom?"
    other = "A baker sells 12 rolls an hour. How many rolls does he sell in 3 hours?"
    texts = {"told": told, "again": again, "other": other}
    assert _without_same_story(["again", "other"], ["told"], texts) == ["other"]
