"""IN3 (Qian et al. 2024): everyday tasks, vague or not, with the details that are missing and a question for each.

The tasks have no answer, so only detection is measured: whether the policy asks, and for what. The user's reply is one
of the annotated options of the most important detail.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from askgate_env.tokenize import occurs, words
from askgate_env.types import Hidden

from ..difficulty.text_features import content_words
from ..pool.source import Item
from .natural_records import NATURAL, SourceLists, meant_first, meant_reading, rows

_PATTERNS = SourceLists("in3").patterns
_HERE = SourceLists("in3").words["here"]
_UNNAMED = "(?:an?|my|this|the) (?:specific|particular|certain|given)|an?|my|this|the|specific|particular|certain|given"
_WITH_ARTICLE: dict[str, str] = {
    place.removeprefix("the "): place for place in NATURAL["ambignq"]["words"]["countries"] if place.startswith("the ")
}


class Detail(Struct, frozen=True):
    description: str
    importance: str
    inquiry: str
    options: tuple[str, ...]


class TaskRecord(Struct, frozen=True):
    """A record of the dataset."""

    task: str
    vague: bool
    missing_details: tuple[Detail, ...] = ()


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[TaskRecord] = rows(files, TaskRecord)
    return [item for record in records if (item := _item(record)) is not None], len(records)


def _item(record: TaskRecord) -> Item | None:
    hidden = _hidden(record) if record.vague else None
    task = " ".join(record.task.split())
    if not task or (record.vague and hidden is None):
        return None
    return Item(
        task="detect",
        lang="en",
        source_id=f"in3:{hashlib.sha256(task.lower().encode()).hexdigest()[:16]}",
        question=task,
        original=f"{task} {hidden.span}" if hidden else task,
        support=(task,),
        answer=NATURAL["detect_answer"]["en"],
        answer_why="nothing",
        hidden=hidden,
        ambiguity=("missing-preference",) if hidden else (),
    )


def _hidden(record: TaskRecord) -> Hidden | None:
    """The missing object of a task: one of its options is what the user wants, by a hash of the task.

    Most annotated details are optional (level of detail, criteria, format): a good answer does without them. Only a
    thing that the task speaks of without naming it (`a specific politician`) must be asked for.
    """
    for detail in sorted(record.missing_details, key=lambda detail: -int(detail.importance or 0)):
        noun = _object(detail.description, record.task)
        options = [_named(one) for one in detail.options if _is_option(one) and not occurs(one, record.task)]
        has_options = len(options) > 1 and 2 * len(options) >= len(detail.options)
        if not noun or detail.importance not in ("2", "3") or not has_options:
            continue
        ranked = meant_first(options, meant_reading(record.task, options))
        about = content_words(f"{noun} {detail.description} {detail.inquiry}", shortest=1)
        is_here = noun == "place" or (noun in _HERE and re.search(rf"\bmy {noun}\b", record.task.lower()))
        missing = f"which {noun} you are in" if is_here else f"which {noun} you mean"
        return Hidden("preference", ranked[0], missing, tuple(about), tuple((one,) for one in ranked))
    return None


def _object(description: str, task: str) -> str:
    """The noun of a detail, if the task has it without a name: `a specific politician`, `my city`, `near me`.

    >>> _object("Politician's name", "Pull the latest tweets of a specific politician.")
    'politician'
    """
    said = set(words(description))
    for noun in NATURAL["in3"]["objects"]:
        if noun in said and re.search(rf"\b(?:{_UNNAMED}) {noun}\b", task.lower()):
            return str(noun)
    nearby, anywhere = (_PATTERNS[name].search(task.lower()) for name in ("nearby", "anywhere"))
    return "place" if nearby and not anywhere and said & {"location", "city", "area", "region"} else ""


def _is_option(text: str) -> bool:
    """Whether an option is a thing, not a placeholder such as `Title of the book`."""
    is_vague = _PATTERNS["vague"].search(text) or _PATTERNS["no_option"].match(text.strip())
    return _PATTERNS["name"].fullmatch(text.strip()) is not None and not is_vague


def _named(option: str) -> str:
    """`United States` -> `the United States`."""
    return _WITH_ARTICLE.get(option.strip(), option.strip())
