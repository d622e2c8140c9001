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

from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .natural_records import NATURAL, rows

_NO_OPTION = re.compile(r"(?:others?|none|n/a|yes|no|any|maybe|not sure|no (?:specific )?preference)\b.*", re.I)


_UNNAMED = "(?:an?|my|this|the) (?:specific|particular|certain|given)|an?|my|this|the|specific|particular|certain|given"
_WITH_ARTICLE: dict[str, str] = {
    place.removeprefix("the "): place for place in NATURAL["ambignq"]["places"] if place.startswith("the ")
}
_NAME = re.compile(r"[A-Z0-9][\w.'’&-]*(?:,? (?:[A-Z0-9][\w.'’&-]*|of|the|and|de))*")
"""A name: `New York City`. Other options describe a kind of thing, which is no answer to `which one`."""


class Detail(Struct, frozen=True):
    description: str
    importance: str
    inquiry: str
    options: tuple[str, ...]


class TaskRecord(Struct, frozen=True):
    """A record of the dataset."""

    category: str
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
        premise="",
        clue="",
        question=task,
        original=f"{task} {hidden.span}" if hidden else task,
        context=(),
        support=(task,),
        answer=NATURAL["detect_answer"],
        steps=(),
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
        if (
            not noun
            or detail.importance not in ("2", "3")
            or len(options) < 2
            or 2 * len(options) < len(detail.options)
        ):
            continue
        place = int.from_bytes(hashlib.sha256(record.task.encode()).digest()[:4]) % len(options)
        meant, others = options[place], [one for at, one in enumerate(options) if at != place]
        about = [word for word in words(f"{detail.description} {detail.inquiry}") if word not in FUNCTION_WORDS]
        readings = ((meant,), *((other,) for other in others))
        missing = "which place you are in" if noun == "place" else f"which {noun} you mean"
        return Hidden("preference", meant, missing, tuple(dict.fromkeys([noun, *about])), readings)
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
    nearby = re.search(r"\b(?:near me|near by|nearby|nearest|in my area|my location|around me|local)\b", task.lower())
    anywhere = re.search(r"\bonline\b|\bvirtual\b", task.lower())  # a good answer does without the place
    return "place" if nearby and not anywhere and said & {"location", "city", "area", "region"} else ""


def _is_option(text: str) -> bool:
    """Whether an option is a thing, not a placeholder such as `Title of the book`."""
    vague = re.search(r"\b(?:specif\w*|title of|name of|author's|others?|any|all|list of|please)\b", text, re.I)
    is_name = _NAME.fullmatch(text.strip())
    return bool(is_name) and _NO_OPTION.match(text.strip()) is None and vague is None


def _named(option: str) -> str:
    """`United States` -> `the United States`."""
    return _WITH_ARTICLE.get(option.strip(), option.strip())
