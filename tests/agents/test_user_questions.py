"""The user understands questions that people would ask, and keeps what was not asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askgate_env.types import LANGS, TASKS, Lang, Level, Task
from askgate_env.users import rules
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.data.pool.dialogue import item_to_sample
from src.data.pool.source import Want
from src.data.pool.templates import load_pack
from src.data.readers.official import OfficialSource
from tests.agents.question_sets import FOLDER, Asked, AskedRecord, builtin_questions, rates

LEVELS: tuple[Level, ...] = ("medium", "hard")
ACCEPTED, FALSELY_ACCEPTED = 0.90, 0.05
OTHERS_ACCEPTED = 0.08
"""Share of the questions about other samples that may get the information: `Which one do you mean?` fits many."""


@pytest.mark.parametrize("written_by", ["builtin", "strangers", "strangers2", "strangers3"])
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("task", TASKS)
def test_questions_of_people_are_understood(task: Task, lang: Lang, written_by: str) -> None:
    found = rates(rules, [one for one in builtin_questions(lang, written_by) if one.sample.task == task])
    assert found.right >= 60
    assert found.wrong >= 25
    assert found.accepted >= ACCEPTED, found
    assert found.falsely_accepted <= FALSELY_ACCEPTED, found


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("task", TASKS)
def test_questions_about_other_samples_seldom_get_the_information(task: Task, lang: Lang) -> None:
    sets = ("strangers", "strangers2", "strangers3")
    asked = [one for name in sets for one in builtin_questions(lang, name) if one.sample.task == task]
    mixed = [
        Asked(one.sample, one.right, (*other.right, *other.wrong))
        for at in (7, 29)
        for one, other in zip(asked, asked[at:] + asked[:at], strict=True)
    ]
    found = rates(rules, mixed)
    assert found.wrong > 500
    assert found.falsely_accepted <= OTHERS_ACCEPTED, found


def official_questions(source: OfficialSource, name: str) -> Iterator[Asked]:
    pack = load_pack(Path("templates/pack_v2"))
    for row in read_records(FOLDER / name, AskedRecord):
        for level in LEVELS:
            want = Want("en", level, True, 8, 4, 4, 0.5)
            try:
                item = source.item(row.task, f"hidden|{row.source_id}", want, row.seed)
            except BadInput:  # the reader does not take the record at this level
                continue
            if item.hidden is None or item.hidden.span != row.span:
                continue
            yield Asked(item_to_sample(item, pack, ("wiki", "calc"), "train", row.seed), row.right, row.wrong)
            break


def test_questions_about_official_records_are_understood(official_data: Path) -> None:
    source = OfficialSource(official_data)
    for name in ("official_en.jsonl", "official_strangers_en.jsonl"):
        made = list(official_questions(source, name))
        assert made
        for task in {one.sample.task for one in made}:
            found = rates(rules, [one for one in made if one.sample.task == task])
            assert found.accepted >= ACCEPTED, (name, task, found)
            assert found.falsely_accepted <= FALSELY_ACCEPTED, (name, task, found)
