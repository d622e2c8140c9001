"""Why a question may be read in more than one way: rule hits on its text and its articles.

The rules never look at `needs_clarification`. A vague phrase whose referent is in reach is flagged too; whether to
ask takes reading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ...core.types import Sample
from .words import short_name

_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ASKS_AMOUNT = re.compile(r"\bhow (?:many|much)\b|\bpopulation\b|多少|[有共]几", re.IGNORECASE)
_PERSON_EN = re.compile(r"\b(?:he|him|his|she|her|hers|they|them|their)\b", re.IGNORECASE)
_PERSON_ZH = re.compile(r"(?<!其)他|她|它|(?<![尤极])其(?![他中实余次它她])")
_NOUN_PHRASE_EN = re.compile(r"\b(?:an?|the|each|every|some|one|two|three|my|our|\d+) [a-z]", re.IGNORECASE)
_POINTING_EN = re.compile(
    r"\b(?:this|these|those) [a-z]+"
    r"|(?:^|[.?!,] |\b(?:of|in|by|for|from|with|about|did|does|do|is|was|were|are|has|had) )that [a-z]+"
    r"|\bthat (?:film|movie|book|novel|song|album|band|man|woman|person|town|city|company|team|country|river|event"
    r"|award|place|building|work|one)\b",
    re.IGNORECASE,
)
_POINTING_ZH = re.compile(r"[这那][个位部座家条本次场届支名款]|(?<!应)该")
# Chinese nouns carry no article: a pronoun this close to the start cannot have one before it.
_OPENING_ZH = 4


def ambiguity_flags(sample: Sample, said: str, names: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """`said` is what the user says of the task, `names` its names with their places.

    multi-entity: the text uses a short name that two articles share, and neither full title.
    unclear-reference: a personal pronoun before anything that it could stand for.
    under-specified: "that film", 这部电影, with no name before it.
    time-unspecified: asks for an amount without a year, while a supporting article gives amounts for several years.
    """
    flags = list(sample.ambiguity)
    first_name = min((at for at, _ in names), default=len(said))
    if _shared_name(sample, said):
        flags.append("multi-entity")
    if _unclear_reference(said, first_name):
        flags.append("unclear-reference")
    pointing = (_POINTING_ZH if sample.lang == "zh" else _POINTING_EN).search(said)
    if pointing and pointing.start() < first_name:
        flags.append("under-specified")
    if _ASKS_AMOUNT.search(sample.question) and not _YEAR.search(said) and _amounts_by_year(sample):
        flags.append("time-unspecified")
    return tuple(dict.fromkeys(flags))


def _shared_name(sample: Sample, said: str) -> bool:
    titles = {article.title for article in sample.context}
    shared = Counter(short_name(title) for title in titles)
    for name, count in shared.items():
        if count > 1 and name in said:
            full = [title for title in titles if title != name and short_name(title) == name]
            if not any(title in said for title in full):
                return True
    return False


def _unclear_reference(said: str, first_name: int) -> bool:
    english = _PERSON_EN.search(said)
    if english and english.start() < first_name and not _NOUN_PHRASE_EN.search(said, 0, english.start()):
        return True
    chinese = None if said.isascii() else _PERSON_ZH.search(said)
    return bool(chinese and chinese.start() < min(first_name, _OPENING_ZH))


def _amounts_by_year(sample: Sample) -> bool:
    """Whether one supporting article gives several years, each in a sentence with another number."""
    support = set(sample.support)
    for article in sample.context:
        if support.isdisjoint(article.sentences):
            continue
        years: set[str] = set()
        for sentence in article.sentences:
            found = _YEAR.findall(sentence)
            if found and len(_NUMBER.findall(sentence)) > len(found):
                years.update(found)
        if len(years) > 1:
            return True
    return False
