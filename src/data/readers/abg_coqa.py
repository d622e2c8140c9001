"""Abg-CoQA (Guo et al. 2021): questions about a story in the course of a conversation, some of them ambiguous.

The story is an article; the last exchanges of the conversation come before the question. The readings of an ambiguous
question are those of the annotated replies to a clarifying question: `Do you mean before the accident?` `No, after it.`
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from ...agents.success import normalized
from ...core.errors import BadInput
from ...core.files import explain_read_errors
from ...core.tokenize import occurs, words
from ...core.types import Article, Hidden
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .articles import shorten, split_sentences

TITLE = "The story"
LONGEST_PHRASE = 9
HISTORY = 2
"""Number of earlier exchanges that the question comes with."""
_ASKED = re.compile(r"(?:do|did) you mean (?:by |that |to ask )?(.+?)\?*$", re.I)
_NOT_FIRST = frozenset("who what when where why how which i was is did are were was it does do im".split())
_NO = re.compile(r"no[,.]?\s+(?:i (?:mean|meant|want to know|am asking)\s*)?(?:about )?(.+?)\.?$", re.I)


class Exchange(Struct, frozen=True):
    question: str
    answer: str


class Reply(Struct, frozen=True):
    """The user's reply to the clarifying question, and the answer then."""

    clr_ans: str
    org_ans: str
    org_ans_2: str = ""
    org_ans_3: str = ""


class Clarification(Struct, frozen=True):
    question: str = ""
    answers: tuple[Reply, ...] = ()


class StoryRecord(Struct, frozen=True):
    id: str
    story: str
    target_turn: Exchange
    history_turns: tuple[Exchange, ...]
    ambiguity: str
    clarification_turn: Clarification


class _File(Struct, frozen=True):
    data: tuple[StoryRecord, ...]


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[StoryRecord] = []
    for path in files:
        with explain_read_errors(path, "check the file"):
            raw = path.read_bytes()
        try:
            records += msgspec.json.decode(raw, type=_File).data
        except msgspec.DecodeError as error:
            raise BadInput(str(error), where=str(path), remedy="take the file from the release again") from None
    return [item for record in records if (item := _item(record)) is not None], len(records)


def _item(record: StoryRecord) -> Item | None:
    story = split_sentences(record.story)
    question = record.target_turn.question.strip()
    history = [one for one in record.history_turns[-HISTORY:] if normalized(one.answer) != "unknown"]
    ambiguous = record.ambiguity == "ambiguous"
    found = _hidden(record) if ambiguous else None
    answers = found[1] if found else (record.target_turn.answer.strip(),)
    if not story or not question or (ambiguous and found is None) or normalized(answers[0]) in ("", "unknown"):
        return None
    hidden = found[0] if found else None
    earlier = " ".join(f"{_ended(one.question, '?')} {_ended(one.answer, '.')}" for one in history)
    premise = f"This is about “{TITLE}”. {earlier}".strip()
    if hidden is not None and occurs(hidden.span, f"{premise} {question}"):
        return None
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=f"abg_coqa:{record.id.split('|')[0]}/{'|'.join(record.id.split('|')[1:])}",
        premise=premise,
        clue="",
        question=question,
        original=" ".join(filter(None, [premise, question, hidden.span if hidden else ""])),
        context=(shorten(Article(TITLE, story)),),
        support=story[:2],
        answer=answers[0],
        aliases=answers[1:],
        steps=(Step("wiki", TITLE),),
        hidden=hidden,
        ask_after=1,
        ambiguity=("two-readings",) if hidden else (),
    )


def _hidden(record: StoryRecord) -> tuple[Hidden, tuple[str, ...]] | None:
    """The intended reading and its answers; `None` where the replies name no two readings with different answers."""
    asked = _ASKED.match(record.clarification_turn.question.strip())
    readings: list[tuple[str, tuple[str, ...]]] = []
    for reply in record.clarification_turn.answers:
        said = reply.clr_ans.strip()
        no = _NO.match(said)
        if asked is not None and re.fullmatch(r"yes\W*", said, re.I):
            phrase = asked[1]
        elif no is not None:
            phrase = no[1]
        else:
            continue
        given = (one.strip().rstrip(".") for one in (reply.org_ans, reply.org_ans_2, reply.org_ans_3))
        answers = tuple(dict.fromkeys(one for one in given if normalized(one) not in ("", "unknown")))
        if answers and words(phrase) and "?" not in phrase and len(phrase.split()) <= LONGEST_PHRASE:
            readings.append((phrase.strip(' ."'), answers))
    sets = [set(map(normalized, answers)) for _, answers in readings]
    if len(readings) < 2 or any(a & b for at, a in enumerate(sets) for b in sets[:at]):
        return None
    if any(words(phrase)[0] in _NOT_FIRST or normalized(phrase) in set.union(*sets) for phrase, _ in readings):
        return None
    place = int.from_bytes(hashlib.sha256(record.id.encode()).digest()[:4]) % len(readings)
    phrase, answers = readings[place]
    phrases = [one for one, _ in readings]
    about = [word for one in phrases for word in words(one) if word not in FUNCTION_WORDS]
    listed = ", ".join(phrases[:-1]) + " or " + phrases[-1]
    options = ((phrase,), *((one,) for at, one in enumerate(phrases) if at != place))
    hidden = Hidden("sense", phrase, f"which one you mean: {listed}", tuple(dict.fromkeys(["one", *about])), options)
    return hidden, answers


def _ended(text: str, mark: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "?", "!")) else text + mark
