"""Clarifying questions about a sentence that a word problem leaves out, made from the sentence itself:

`Janet's ducks lay 16 eggs per day.` -> `how many eggs Janet's ducks lay per day`. Word lists and patterns are in
`templates/lexicon/english.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise

from askgate_env.quantity_questions import unit_asked
from askgate_env.tokenize import words

from ..difficulty.text_features import content_words, lexicon

_ENGLISH = lexicon("english")
NUMBER_WORDS = {word: Fraction(value) for value, word in enumerate(_ENGLISH["numbers_to_twenty"].split())}
NUMBER_WORDS |= {word: Fraction(value) for word, value in _ENGLISH["larger_numbers"].items()}
_LISTS = _ENGLISH["word_problems"]
WORDS: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in _LISTS["words"].items()}
_FINITE_VERBS = _LISTS["words"]["finite_verbs"].split()
PATTERNS = {
    name: re.compile(
        "|".join(parts).replace("NUMBER", "|".join(NUMBER_WORDS)).replace("FINITE_VERB", "|".join(_FINITE_VERBS))
    )
    for name, parts in _LISTS["patterns"].items()
}


def is_common_knowledge(sentence: str) -> bool:
    """Whether a sentence says what everybody knows, so that nobody has to be asked: `There are 7 days in a week.`"""
    return PATTERNS["common_knowledge"].search(sentence) is not None


def singular(word: str) -> str:
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    if word == "people":
        return "person"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def asked_for(sentence: str, rest_of_story: str) -> tuple[str, tuple[str, ...]] | None:
    """The embedded question that a plain sentence answers, and the words that a question about it may mention; None if
    the sentence is not plain enough.

    Whoever asks has not seen the sentence, so what only the sentence mentions (`on a still pond`) is left out.

    >>> asked_for("She only has 2 hours in a day.", "A day is long.")[0], asked_for("The cost of a pie is $8.", "")[0]
    ('how many hours she has in a day', 'what the cost of a pie is')
    """
    known_words = {singular(word) for word in words(rest_of_story)}
    sentence = sentence.replace(" in total", "")
    if moved := PATTERNS["leading_phrase"].fullmatch(sentence):
        # `On the first day, she ate 3 snails.` is asked for like `She ate 3 snails on the first day.`
        phrase = moved["phrase"]
        sentence = f"{moved['rest'][0].upper()}{moved['rest'][1:]} {phrase[0].lower()}{phrase[1:]}."
        if moved["rest"][0].isupper():
            rest_of_story = f"{rest_of_story} {moved['rest']}"
    if compared := PATTERNS["more_than"].fullmatch(sentence):
        who, more, than = compared["who"], compared["more"], compared["than"]
        # What `than` has is the final question, or what `who` has is given.
        asked = rf"(?i:how many)[^?]*\b{than}\b|\b{who} [a-z]+ (?:\d|(?:{'|'.join(NUMBER_WORDS)})\b)(?!.*\bthan\b)"
        if re.search(asked, rest_of_story):
            return f"how many {more} {who} {compared['has']} than {than}", _about_words([who, more, than])
        return f"how many {more.partition(' ')[2]} {who} {compared['has']}", _about_words([who, more, than])
    match = PATTERNS["plain_sentence"].fullmatch(sentence)
    if match is None or PATTERNS["joined"].search(sentence) or PATTERNS["hard_to_ask"].search(sentence):
        return None
    before = [word for word in match["before"].split() if word not in WORDS["adverbs"]]
    rest = [word for word in match["rest"].split() if word not in ("only", "total")]
    if not before or before[0] in WORDS["bad_starts"] or len(before) > 8 or len(rest) > 9:
        return None
    last = before[-1]
    if last.lower() in WORDS["bad_before_number"] or last in WORDS["prepositions"] or last.endswith("ing"):
        return None  # `how many hours she re-applies sunscreen after`
    first = before[0] if before[0] not in WORDS["small_inside_sentence"] else before[0].lower()
    if first not in rest_of_story and before[0] == first:
        first = first.lower()  # `Movie tickets are $8.`, unless it is a name that the story does not introduce
        if first not in rest_of_story:
            return None
    subject = [singular(word) for word in content_words(" ".join(before[1 : max(2, len(before) - 1)]))]
    if (
        before[0] in WORDS["before_subject"]
        and subject
        and WORDS["amount_nouns"].union(known_words).isdisjoint(subject)
    ):
        return None  # nobody has heard of the horse that `the horse can go 10 miles per hour` speaks of
    start = [first, *before[1:]]
    if match["money"]:
        if rest and rest[0] in WORDS["bad_after_number"] - {"more", "of"}:
            return None
        if rest and rest[0] in ("a", "an"):
            rest[0] = "per"
        rest = _without_new_phrases(rest, known_words)
        states = before[-1] in WORDS["be"] and not WORDS["amount_nouns"].isdisjoint(before)
        return " ".join(["what" if states else "how much", *start, *rest]), _about_words([*before, *rest])
    size = next((size for size in (1, 2, 3) if len(rest) >= size and _is_plural(rest[size - 1])), 0)
    if rest[size : size + 1] == ["of"] and (len(rest) == size + 2 or rest[size + 2] in WORDS["prepositions"]):
        size += 2  # `cups of flour`
    if not size or any(not word.islower() for word in rest[:size]):
        return None
    things, after = rest[:size], rest[size:]
    if before[-1] in WORDS["be"] and before[0] != "There":
        return None  # `how many hours each nap is long`
    if (
        rest[0] in WORDS["bad_after_number"]
        or ("each" in before and "each" in after)
        or set(content_words(" ".join(before))) & set(content_words(" ".join(after)))
        or after[:2] == ["each", "to"]
        or (after and (after[0] in WORDS["bad_after_number"] or after[0] not in WORDS["after_things"]))
    ):
        return None
    about = _about_words([*things, *before, *after])
    if before[0] != "There":  # `how many calories there are` needs its place
        after, whole_after = _without_new_phrases(after, known_words), after
        is_counted = re.search(rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)})) (?:[a-z]+ )?{things[-1]}\b", rest_of_story)
        if after != whole_after and is_counted and unit_asked(f"how many {things[-1]}", "en") == "count":
            return None  # `how many songs the band plays`, when only the encore is open
    if before[0] == "Each" and after[:2] == ["in", "the"]:
        after = []  # `how many steps each level has in the stairs`
    head = next((index for index, word in enumerate(things) if word == "of"), len(things)) - 1
    if singular(things[head]) in known_words and things[0] not in ("square", "cubic"):
        things = [
            one
            for index, one in enumerate(things)
            if index >= head or known_words.issuperset(map(singular, words(one)))
        ]
    if things[-2:-1] == ["of"] and singular(things[-1]) not in known_words:
        things = things[:-2]  # `gallons of liquid`
    return " ".join(["how many", *things, *start, *after]), about


def _without_new_phrases(phrase: list[str], known_words: Collection[str]) -> list[str]:
    """The words without the prepositional phrases that mention something new. Phrases that say when, or for each of
    what, stay: without them another quantity would be asked for."""
    starts = [index for index, word in enumerate(phrase) if word in WORDS["droppable_after"]]
    ends = [*starts, len(phrase)]
    kept = phrase[: ends[0]]
    for start, end in pairwise(ends):
        part = phrase[start:end]
        is_new = any(singular(one) not in known_words for one in content_words(" ".join(part)))
        if not is_new or not WORDS["kept_phrases"].isdisjoint(singular(one.lower()) for one in part):
            kept = [*kept, *part]
    return kept


def _is_plural(word: str) -> bool:
    return (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or word in WORDS["irregular_plurals"]


def _about_words(parts: Sequence[str]) -> tuple[str, ...]:
    """Words that say what a sentence is about."""
    return tuple(content_words(" ".join(parts)))
