"""IN3 (Qian et al. 2024): everyday tasks, vague or not, with the details that are missing and a question for each.

The tasks have no answer, so only detection is measured: whether the policy asks, and for what. The user's reply is one
of the annotated options of the most important detail.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from ...core.tokenize import occurs, words
from ...core.types import Hidden
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .natural import NATURAL, rows

_NO_OPTION = re.compile(r"(?:others?|none|n/a|yes|no|any|maybe|not sure|no (?:specific )?preference)\b.*", re.I)


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
    """The most important missing detail: one of its options is what the user wants, by a hash of the task."""
    ranked = sorted(record.missing_details, key=lambda detail: -int(detail.importance or 0))
    for detail in ranked:
        options = [one.strip() for one in detail.options if _is_option(one) and not occurs(one, record.task)]
        if detail.importance not in ("2", "3") or len(options) < 2:
            continue
        place = int.from_bytes(hashlib.sha256(record.task.encode()).digest()[:4]) % len(options)
        meant, others = options[place], [one for at, one in enumerate(options) if at != place]
        about = [word for word in words(f"{detail.description} {detail.inquiry}") if word not in FUNCTION_WORDS]
        readings = ((meant,), *((other,) for other in others))
        return Hidden("preference", meant, embedded(detail), tuple(dict.fromkeys(about)), readings)
    return None


def _is_option(text: str) -> bool:
    return bool(text.strip()) and _NO_OPTION.match(text.strip()) is None


def embedded(detail: Detail) -> str:
    """What to ask for, as the end of `Could you tell me ...`: the description of the detail.

    >>> embedded(Detail("Duration of the trip", "3", "How long do you plan to stay?", ("3 days", "1 week")))
    'the duration of the trip you have in mind'
    """
    noun = detail.description.strip().rstrip(".")
    noun = noun if re.match(r"[A-Z]{2}", noun) else noun[:1].lower() + noun[1:]
    noun = re.sub(r"^(?:the|your|user's|any|specific) ", "", noun)
    noun = re.sub(r" (?:needed|required|to be used|to use)$", "", noun)
    return f"the {noun} you have in mind"
