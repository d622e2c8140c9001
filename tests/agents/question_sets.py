"""Questions that people would ask about samples, and how a user answers them.

`questions/builtin_*.jsonl` has samples of the built-in worlds with questions that ask for the hidden information
(`right`) and questions that ask for something else (`wrong`). `questions/official_en.jsonl` has questions about records
of the official files, which are not part of the repository, by source id. The questions of `strangers_*.jsonl`,
`strangers2_*.jsonl`, `strangers3_*.jsonl` and `official_strangers_en.jsonl` are by people who saw samples only: neither
the simulator nor its words and tests. `docs/data.md` has the rates at which the second and the third set were
understood before anybody had read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from askgate_env.types import Article, Hidden, Lang, Sample, Task
from askgate_env.user_simulator import REPLIES, informs
from askgate_env.users import User
from src.core.jsonl import read_records
from tests.data.samples import changed, make_sample

FOLDER = Path("tests/agents/questions")


class AskedSample(Struct, frozen=True):
    task: Task
    lang: Lang
    prompt: str
    question: str
    original: str
    titles: tuple[str, ...]
    hidden: Hidden
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    pages: tuple[Article, ...] = ()
    """Articles of the readings, or of the thing whose year is missing."""


class AskedRecord(Struct, frozen=True):
    task: Task
    source_id: str
    seed: int
    """Of the pool."""
    span: str
    """The sentence that the questions were written for."""
    right: tuple[str, ...]
    wrong: tuple[str, ...]


class Asked(Struct, frozen=True):
    """A sample with questions about it."""

    sample: Sample
    right: tuple[str, ...]
    wrong: tuple[str, ...]


class Rates(Struct, frozen=True):
    accepted: float
    """Share of the questions for the hidden information that were understood."""
    falsely_accepted: float
    """Share of the other questions that got the hidden information all the same."""
    right: int
    wrong: int


def builtin_questions(lang: Lang, written_by: str = "builtin") -> Iterator[Asked]:
    for number, row in enumerate(read_records(FOLDER / f"{written_by}_{lang}.jsonl", AskedSample)):
        sample = make_sample(
            f"{row.task}-{number}",
            row.prompt,
            task=row.task,
            lang=lang,
            original=row.original,
            context=(*row.pages, *(Article(title, ()) for title in row.titles)),
            hidden=row.hidden,
        )
        yield Asked(changed(sample, question=row.question), row.right, row.wrong)


def rates(user: User, asked: Iterable[Asked]) -> Rates:
    """How a user does on questions: understood where it should, and silent where it should be."""
    right, wrong = [], []
    for one in asked:
        right += [_understood(user(one.sample, ask, ())) for ask in one.right]
        wrong += [informs(user(one.sample, ask, ())) for ask in one.wrong]
    return Rates(sum(right) / len(right), sum(wrong) / len(wrong), len(right), len(wrong))


def _understood(said: str) -> bool:
    """A wrong guess is understood too: the user says no."""
    return said not in (*REPLIES["refusal"].values(), *REPLIES["ask_back"].values())
