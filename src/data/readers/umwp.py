"""UMWP (Sun et al. 2024): word problems that can be solved, and variants of them that cannot.

A variant lacks a number (category 1), has a vague amount (2), a condition that cannot be (3), something that the
problem does not mention (4), or no question (5). What the user can say is the sentence of the original problem that
the variant changed. Only detection is measured: success of an answer is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from askgate_env.tokenize import occurs, words
from askgate_env.tools import number_text
from askgate_env.types import Hidden

from ..difficulty.text_features import FUNCTION_WORDS, content_words
from ..pool.source import Item
from .articles import split_sentences
from .asks import asked_for, is_common_knowledge
from .gsm8k import parse_number
from .natural_records import SourceLists, contrast, rows

_LISTS = SourceLists("umwp")
_WORDS, _PATTERNS = _LISTS.words, _LISTS.patterns
LONGEST_QUOTE = 16
LONGEST_STRANGE = 3
"""Maximum number of words of a thing that a question asks about and the problem does not mention."""
_NUMBER = re.compile(r"-?\$?\d+(?:[,.]\d+)*%?")


class MathRecord(Struct, frozen=True):
    """A record of the dataset."""

    id: int
    question: str
    answer: tuple[float, ...] | float | None
    answerable: bool
    category: int | None
    relevant_ids: tuple[int, ...] | None


def read(files: list[Path]) -> tuple[list[Item], int]:
    records: list[MathRecord] = [replace(one, question=_clean(one.question)) for one in rows(files, MathRecord)]
    by_id = {record.id: record for record in records}
    return [item for record in records if (item := _item(record, by_id)) is not None], len(records)


def _clean(question: str) -> str:
    """The text of a problem; the dataset has double full stops and sentences without a space between them."""
    return re.sub(r"(?<=[a-z.\d])\.+(?=[A-Z])", ". ", re.sub(r"\.{2,}", ". ", " ".join(question.split()))).strip()


def _item(record: MathRecord, by_id: Mapping[int, MathRecord]) -> Item | None:
    related = (by_id[number] for number in record.relevant_ids or () if number in by_id)
    original = record if record.answerable else next(related, None)
    if original is None:
        return None
    hidden = None if record.answerable else _hidden(record, original)
    *premise, question = split_sentences(record.question) or ("",)
    given = original.answer[0] if isinstance(original.answer, tuple) and original.answer else original.answer
    number = parse_number(str(given))
    is_whole = bool(question) and not _PATTERNS["fragment"].search(record.question)
    if not is_whole or number is None or (hidden is None and not record.answerable):
        return None
    return Item(
        task="detect",
        lang="en",
        source_id=f"umwp:{original.id}/{record.id}",
        premise=" ".join(premise),
        question=question,
        original=original.question,
        support=split_sentences(original.question),
        answer=number_text(number),
        hidden=hidden,
        ambiguity=(f"umwp-{record.category}",) if hidden else (),
    )


def _hidden(record: MathRecord, original: MathRecord) -> Hidden | None:
    """The information that the variant leaves open; `None` where the two texts differ in more than one sentence, where
    more than one thing is open, or where nobody would write it so (a negative number of hours)."""
    ours, theirs = split_sentences(record.question), split_sentences(original.question)
    lost = [one for one in theirs if one not in ours]
    new = [one for one in ours if one not in theirs]
    if len(lost) != 1 or len(new) > 1 or occurs(lost[0], record.question):
        return None
    span, changed = lost[0], new[0] if new else ""
    if _PATTERNS["unnatural"].search(record.question) or (re.match(r"(?:if|when) ", span, re.I) and "?" not in span):
        return None
    if not record.question.endswith((".", "?", "!")):
        return None  # cut off in the middle of its question
    if record.category == 5 and not changed:
        about = ("question", "know", "asking", "want", "find", "compute")
        return Hidden("premise", span, "what you would like to know about this", about)
    if is_common_knowledge(span) or (_PATTERNS["bounds"].search(changed) and not _PATTERNS["bounds"].search(span)):
        return None
    if record.category in (3, 4, 5):
        doubt = _doubt(changed, span, " ".join(one for one in ours if one != changed))
        return Hidden("premise", span, doubt, tuple(content_words(f"{changed} {span}"))) if doubt else None
    # Exactly one number may be missing, and the reply must not change another one.
    gone = Counter(_NUMBER.findall(span)) - Counter(_NUMBER.findall(changed))
    if gone.total() != 1 or Counter(_NUMBER.findall(changed)) - Counter(_NUMBER.findall(span)):
        return None
    vague_words = [word for word in words(changed) if word in _WORDS["amounts"] and word not in words(span)]
    if "%" in next(iter(gone)) or len(vague_words) > 1:
        return None
    asked = asked_for(span, record.question) if not span.endswith("?") else None
    if asked is not None and len(_NUMBER.findall(span)) == 1:
        missing, about_words = asked
        # The message speaks of `a book` already.
        is_known = span.startswith(("A ", "An ")) and words(span)[1] in words(record.question)
        known = re.sub(r"\b(?:a|an) ", "the ", missing, count=1) if is_known else missing
        return Hidden("quantity", span, known, about_words)
    vague = _vague_amount(changed, span)
    if not vague:
        return None
    things = " ".join(word for word in vague.split() if word.lower() not in {*_WORDS["amounts"], "a", "an", "of"})
    return Hidden("quantity", span, f"how many {things} you mean by “{vague}”", tuple(content_words(vague)))


def _doubt(changed: str, span: str, rest: str) -> str:
    """The doubt that an ask raises about a sentence that cannot be right; empty where it would not name what is wrong.

    Quotes a statement whole. From a question, it quotes only the phrase that is not in `span`, if some of its words
    occur nowhere else in the problem.
    """
    if not changed or len(changed.split()) > LONGEST_QUOTE:
        return ""
    if not changed.endswith("?"):
        return f"whether “{changed.rstrip(' .!')}” is right"
    differing = contrast([changed, span])
    strange = _PATTERNS["leading_article"].sub("", differing[0]) if differing else ""
    before, _, after = changed.partition(strange) if strange else ("", "", "")
    following = words(after)[:1]
    if following and following[0] in words(rest) and following[0] not in FUNCTION_WORDS:
        strange, following = f"{strange} {following[0]}", words(after)[1:2]  # `white tickets`
    mentioned = words(f"{rest} {span}")
    if not strange or len(strange.split()) > LONGEST_STRANGE or set(content_words(strange)) <= set(mentioned):
        return ""
    if not _is_noun_phrase(strange, words(before)[-1:], following):
        return ""
    return f"whether “{strange}” is right, as the problem gives no figure for it"


def _is_noun_phrase(phrase: str, before: list[str], after: list[str]) -> bool:
    """Whether words of a question, between these two, are a whole noun phrase that names no other person."""
    if not before or before[0] not in _WORDS["before_noun"] or phrase.endswith(("'s", "’s", "ing", "ly")):
        return False  # `did Ann`, `mashed tomatoes`, `spend reading`
    if before[0] in ("to", "many") and not (phrase[0].isupper() if before[0] == "to" else _is_noun(phrase)):
        return False  # `to spend`, `how many senior`
    return not after or after[0] in FUNCTION_WORDS


def _vague_amount(changed: str, span: str) -> str:
    """`some bags` in a sentence: the vague amount and the noun right after it, with one word between at most."""
    given = changed.rstrip(" ?.!").split()
    known = set(words(span))
    for at, word in enumerate(given):
        before = given[at - 1].lower() if at else ""
        if word.lower() in _WORDS["amounts"] and word.lower() not in known and before not in ("how", "as", "so", "too"):
            plurals = (end for end in range(at + 1, min(at + 3, len(given))) if _is_noun(given[end].strip(",;:")))
            end = next(plurals, None)
            start = at - 1 if before in ("a", "an") else at
            return " ".join(given[start : end + 1]).strip(",;:") if end is not None else ""
    return ""


def _is_noun(word: str) -> bool:
    return word.endswith("s") and word not in _WORDS["no_plurals"]
