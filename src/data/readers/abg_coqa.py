"""Abg-CoQA (Guo et al. 2021): questions about a story in the course of a conversation, some of them ambiguous.

The story is an article; the conversation so far comes before the question. The readings of an ambiguous
question are those of the annotated replies to a clarifying question: `Do you mean before the accident?` `No, after it.`
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from askgate_env.success import normalized
from askgate_env.tokenize import occurs, tokens, words
from askgate_env.types import Article, Hidden

from ...core.jsonl import decode_file
from ..difficulty.text_features import content_words
from ..pool.source import Item, Step
from .articles import split_sentences
from .natural_records import SourceLists, meant_first, meant_reading

TITLE = "The story"
LONGEST_PHRASE = 9
"""Maximum number of words of a reading."""
NO_ANSWER = ("", "unknown")
MAX_TURNS = 6
"""Maximum number of exchanges before the question. A conversation comes whole or not at all."""
MIN_WORDS = 4
"""Minimum number of words of a question that can be understood alone."""
LONGEST_STORY = 450
"""Maximum number of tokens of a story."""
_LISTS = SourceLists("abg_coqa")
_WORDS, _PATTERNS = _LISTS.words, _LISTS.patterns


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
    remedy = "take the file from the release again"
    records = [record for path in files for record in decode_file(path, _File, remedy).data]
    return [item for record in records if (item := _item(record)) is not None], len(records)


def _item(record: StoryRecord) -> Item | None:
    story = split_sentences(record.story)
    question = _sentence(record.target_turn.question, "?")
    history = _from_full_question(record.history_turns)
    is_ambiguous = record.ambiguity == "ambiguous"
    found = _hidden(record) if is_ambiguous else None
    hidden, answers = found or (None, (record.target_turn.answer.strip(),))
    is_usable = (
        story
        and question
        and (hidden is not None if is_ambiguous else _names_its_subject(record.target_turn.question))
        and normalized(answers[0]) not in NO_ANSWER
        # A cut story or conversation would leave open what the question refers to.
        and len(history) <= MAX_TURNS
        and sum(len(tokens(sentence)) for sentence in story) <= LONGEST_STORY
        and not any(normalized(turn.answer) in NO_ANSWER or "\n" in turn.question for turn in history)
    )
    if not is_usable:
        return None
    turns = [f"Q: {_sentence(turn.question, '?')} A: {_sentence(turn.answer, '.')}" for turn in history]
    premise = " ".join([f"I have some questions about “{TITLE}”.", *turns])
    if hidden is not None and occurs(hidden.span, f"{premise} {question}"):
        return None
    return Item(
        task="hotpotqa",
        lang="en",
        source_id=f"abg_coqa:{record.id.split('|')[0]}/{'|'.join(record.id.split('|')[1:])}",
        premise=premise,
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


def _names_its_subject(question: str) -> bool:
    """Whether a question itself says what it is about: it has some words, and no pronoun."""
    asked = set(words(question))
    return len(asked) >= MIN_WORDS and not asked & _WORDS["pronouns"]


def _from_full_question(history: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """The exchanges from the first that can be understood alone: not from `Why? He heard footsteps.`"""
    full = (index for index, turn in enumerate(history) if len(words(turn.question)) >= MIN_WORDS)
    return history[next(full, len(history)) :]


def _hidden(record: StoryRecord) -> tuple[Hidden, tuple[str, ...]] | None:
    """The intended reading and its answers; `None` where the replies name no two readings with different answers."""
    asked = _PATTERNS["asked"].match(record.clarification_turn.question.strip())
    readings: list[tuple[str, tuple[str, ...]]] = []
    for reply in record.clarification_turn.answers:
        said = reply.clr_ans.strip()
        no = _PATTERNS["no"].match(said)
        if asked is not None and re.fullmatch(r"yes\W*", said, re.I):
            phrase = asked[1]
        elif no is not None:
            phrase = no[1]
        else:
            continue
        given = (answer.strip().rstrip(".") for answer in (reply.org_ans, reply.org_ans_2, reply.org_ans_3))
        answers = tuple(dict.fromkeys(answer for answer in given if normalized(answer) not in NO_ANSWER))
        if answers and words(phrase) and "?" not in phrase and len(phrase.split()) <= LONGEST_PHRASE:
            readings.append((phrase.strip(' ."'), answers))
    phrases = [phrase for phrase, _ in readings]
    answer_sets = [set(map(normalized, answers)) for _, answers in readings]
    is_usable = (
        len(readings) > 1
        and not any(a & b for a, b in combinations(answer_sets, 2))
        and set(words(record.target_turn.question)) & _WORDS["pronouns"]
        and all(_names_a_thing(phrase) and normalized(phrase) not in set.union(*answer_sets) for phrase in phrases)
    )
    if not is_usable:
        return None
    ranked = meant_first(readings, meant_reading(record.id, readings))
    about = ("one", *content_words(" ".join(phrases), shortest=1))
    missing = f"whether you mean {', '.join(phrases[:-1])} or {phrases[-1]}"
    return Hidden("sense", ranked[0][0], missing, about, tuple((phrase,) for phrase, _ in ranked)), ranked[0][1]


def _names_a_thing(phrase: str) -> bool:
    """Whether a phrase names a person or thing: not `by CNN` or `after her first Oscar`."""
    first = words(phrase)[0]
    begins_well = re.match(r"(?:the |her |his |their )?[A-Z\w]", phrase) is not None
    return begins_well and first not in _WORDS["prepositions"] and first not in _WORDS["not_first"]


def _sentence(text: str, mark: str) -> str:
    """A turn with a capital and an end: people who chat leave them out."""
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "?", "!")) else text + mark
