"""Abg-CoQA (Guo et al. 2021): questions about a story in the course of a conversation, some of them ambiguous.

The story is an article; the conversation so far comes before the question. The readings of an ambiguous
question are those of the annotated replies to a clarifying question: `Do you mean before the accident?` `No, after it.`
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from askgate_env.success import normalized
from askgate_env.tokenize import occurs, tokens, words
from askgate_env.types import Article, Hidden

from ...core.errors import BadInput
from ...core.files import explain_read_errors
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item, Step
from .articles import split_sentences

TITLE = "The story"
LONGEST_PHRASE = 9
MOST_TURNS = 6
"""Most exchanges before the question. A conversation comes whole or not at all."""
MIN_WORDS = 3
LONGEST_STORY = 450
"""Most tokens of a story."""
_PRONOUNS = frozenset("he she it they him her them his their its hers theirs this that these those".split())
_PREPOSITIONS = frozenset("by after before in on at to for from with about during when while".split())
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
    question = _sentence(record.target_turn.question, "?")
    history = _from_full_question(record.history_turns)
    ambiguous = record.ambiguity == "ambiguous"
    found = _hidden(record) if ambiguous else None
    answers = found[1] if found else (record.target_turn.answer.strip(),)
    if not story or not question or (ambiguous and found is None) or normalized(answers[0]) in ("", "unknown"):
        return None
    if len(history) > MOST_TURNS or sum(len(tokens(one)) for one in story) > LONGEST_STORY:
        return None  # a cut story or conversation leaves open what the question refers to
    if any(normalized(one.answer) in ("", "unknown") or "\n" in one.question for one in history):
        return None
    hidden = found[0] if found else None
    if hidden is None and not _is_settled(record.target_turn.question):
        return None
    turns = [f"Q: {_sentence(one.question, '?')} A: {_sentence(one.answer, '.')}" for one in history]
    premise = " ".join([f"I have some questions about “{TITLE}”.", *turns])
    if hidden is not None and occurs(hidden.span, f"{premise} {question}"):
        return None
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=f"abg_coqa:{record.id.split('|')[0]}/{'|'.join(record.id.split('|')[1:])}",
        premise=premise,
        clue="",
        question=f"Q: {question}",
        original=" ".join(filter(None, [premise, f"Q: {question}", hidden.span if hidden else ""])),
        context=(Article(TITLE, story),),
        support=story[:2],
        answer=answers[0],
        aliases=answers[1:],
        steps=(Step("wiki", TITLE),),
        hidden=hidden,
        ask_after=1,
        ambiguity=("two-readings",) if hidden else (),
    )


def _is_settled(question: str) -> bool:
    """Whether a question says itself what it is about."""
    said = set(words(question))
    return len(said) > MIN_WORDS and not said & _PRONOUNS


def _from_full_question(history: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """The exchanges from the first that can be understood alone: not from `Why? He heard footsteps.`"""
    full = (at for at, one in enumerate(history) if len(words(one.question)) > MIN_WORDS)
    return history[next(full, len(history)) :]


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
    # `by CNN` and `after her first Oscar` name no thing; two people or things do.
    if not all(
        re.match(r"(?:the |her |his |their )?[A-Z\w]", phrase) and words(phrase)[0] not in _PREPOSITIONS
        for phrase, _ in readings
    ):
        return None
    if not set(words(record.target_turn.question)) & _PRONOUNS:
        return None
    if any(words(phrase)[0] in _NOT_FIRST or normalized(phrase) in set.union(*sets) for phrase, _ in readings):
        return None
    place = int.from_bytes(hashlib.sha256(record.id.encode()).digest()[:4]) % len(readings)
    phrase, answers = readings[place]
    phrases = [one for one, _ in readings]
    about = [word for one in phrases for word in words(one) if word not in FUNCTION_WORDS]
    listed = ", ".join(phrases[:-1]) + " or " + phrases[-1]
    options = ((phrase,), *((one,) for at, one in enumerate(phrases) if at != place))
    hidden = Hidden("sense", phrase, f"whether you mean {listed}", tuple(dict.fromkeys(["one", *about])), options)
    return hidden, answers


def _sentence(text: str, mark: str) -> str:
    """A turn with a capital and an end: people who chat leave them out."""
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "?", "!")) else text + mark
