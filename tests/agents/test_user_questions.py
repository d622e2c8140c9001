"""The user understands questions that people would ask, and keeps what was not asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from src.agents.users import rules
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.core.types import LANGS, TASKS, Lang, Task
from src.data.pool.dialogue import item_to_sample
from src.data.pool.source import Want
from src.data.pool.templates import load_pack
from src.data.readers.official import OfficialSource
from tests.agents.question_sets import FOLDER, Asked, AskedRecord, builtin_questions, rates

ACCEPTED, FALSELY_ACCEPTED = 0.90, 0.05


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("task", TASKS)
def test_questions_of_people_are_understood(task: Task, lang: Lang) -> None:
    found = rates(rules, [one for one in builtin_questions(lang) if one.sample.task == task])
    assert found.right >= 60
    assert found.wrong >= 25
    assert found.accepted >= ACCEPTED, found
    assert found.falsely_accepted <= FALSELY_ACCEPTED, found


def official_questions(folder: Path) -> Iterator[Asked]:
    source, pack = OfficialSource(folder), load_pack(Path("templates/pack_v2"))
    want = Want("en", "medium", True, 8, 4, 4, 0.5)
    for row in read_records(FOLDER / "official_en.jsonl", AskedRecord):
        try:
            item = source.item(row.task, f"hidden|{row.source_id}", want, row.seed)
        except BadInput:  # the reader no longer takes the record
            continue
        yield Asked(item_to_sample(item, pack, ("wiki", "calc"), "train", row.seed), row.right, row.wrong)


def test_questions_about_official_records_are_understood(official_data: Path) -> None:
    made = list(official_questions(official_data))
    for task in TASKS:
        found = rates(rules, [one for one in made if one.sample.task == task])
        assert found.accepted >= ACCEPTED, (task, found)
        assert found.falsely_accepted <= FALSELY_ACCEPTED, (task, found)
