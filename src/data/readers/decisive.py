"""What an answer turns on when a question does not say which article is meant.

An ask is needed only if another article of the same noun leads to another answer. Three kinds of question show it:

- things compared by date or nationality (`Who was born first, the director or Daniel Myrick?`): another director was
  born on the other side of the limit;
- what a person could have known or done (`Could the composer have used email?`): another composer lived to
  see it;
- a question without any further name (`What county is the artist from?`): the words that it shares with the article are
  in the article of another artist too.

Questions of any other kind stay as they are: their remaining clues single out what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ...core.tokenize import words
from ...core.types import Article
from ..difficulty.text_features import FUNCTION_WORDS

Measure = Literal["born", "died", "started", "nation", "clues"]

ALIVE = 9999
MARGIN = 15
"""Years by which another article must miss the limit: nobody knows the year in which something came up exactly."""
MOST_CLUES = 4
"""Content words that a question without further names may have: more of them single out one article."""
YEAR = re.compile(r"\b(1\d{3}|20[012]\d)\b")
_LIFE = re.compile(r"\(([^()]*\d{3,4}[^()]*)\)")
_STARTED = re.compile(
    r"\b(?:formed|founded|established|released|published|launched|premiered|began|fought|opened|started|created|airing)"
    r"\b[^.;]{0,50}?\b(1\d{3}|20[012]\d)\b"
)
_BRITISH = frozenset({"British", "English", "Scottish", "Welsh", "Irish"})

_COMPARED: tuple[tuple[Measure, re.Pattern[str]], ...] = (
    ("born", re.compile(r"^who\b.*\b(?:born (?:first|earlier|more recently|later)|older|oldest|younger)\b", re.I)),
    ("died", re.compile(r"^(?:who|which \w+) (?:died|passed away) (?:first|later|earlier)", re.I)),
    (
        "started",
        re.compile(
            r"^(?:which|what)\b.*\b(?:formed|founded|released|published|produced|fought|built|established|came out|"
            r"came to market|decided|operating)\b.*\b(?:first|earlier)\b",
            re.I,
        ),
    ),
    ("nation", re.compile(r"\b(?:same (?:nationality|country)|the same nationality)\b", re.I)),
)
_BOTH = re.compile(r"\bboth ([A-Z][a-z]+)\b")
_WHEN = re.compile(r"(?:When|What years?|In what year|Which year|In which year)\b")
_ASKED: dict[Measure, re.Pattern[str]] = {
    "died": re.compile(r"\b(?:die|died|pass(?:ed)? away|death|killed|assassinated|live|alive|active|rule|reign)\b"),
    "born": re.compile(r"\bborn\b"),
}
_LATER = re.compile(r"\b(?:later|more recently|younger|youngest)\b", re.I)


class Limit(Struct, frozen=True):
    """What the answer turns on: a measure of the article that is meant, and the value that it is compared with."""

    measure: Measure
    value: int | str = ""
    clues: tuple[str, ...] = ()
    """Words of the question that another article must have too, for the measure `clues`."""
    meant: bool = True
    """Whether the article that is meant is on the lower (or equal) side of the value."""
    margin: int = 1

    def changes_answer(self, article: Article) -> bool:
        """Whether the article, taken for the one that is meant, leads to another answer."""
        if self.measure == "clues":
            there = frozenset(words(f"{article.title} {article.text}"))
            return all(any(form in there for form in _forms(clue)) for clue in self.clues)
        value = measured(article, self.measure)
        if value is None:
            return False
        if isinstance(self.value, str) or isinstance(value, str):
            return (value == self.value) != self.meant and not {value, self.value} <= _BRITISH
        return value >= self.value + self.margin if self.meant else value <= self.value - self.margin


def measured(article: Article, measure: Measure) -> int | str | None:
    """Year or nationality that an article states; `None` where its first sentences do not."""
    if measure == "nation":
        return _nation(article.sentences[0])
    if measure == "started":
        found = _STARTED.search(article.text) or re.search(r"\b(?:is|was) an? (\d{4})\b", article.sentences[0])
        return int(found[1]) if found else None
    life = _LIFE.search(article.sentences[0])
    years = [int(year) for year in YEAR.findall(life[1])] if life else []
    if life is None or not years:
        return None
    if re.search(r"\bborn\b", life[1]) and len(years) == 1:
        return years[0] if measure == "born" else ALIVE
    if len(years) != 2 or years[0] >= years[1] or not re.search("[–-]", life[1]):
        return None
    return years[0] if measure == "born" else years[1]


def compared(question: str, answer: str, meant: Article, other: Article) -> Limit | None:
    """The limit of a question that compares two articles; `None` where they do not show how its answer comes about."""
    both = _BOTH.search(question)
    if both is not None:
        nations = measured(meant, "nation"), measured(other, "nation")
        if nations[1] == both[1] and nations[0] is not None and (nations[0] == both[1]) == (answer.lower() == "yes"):
            return Limit("nation", both[1], meant=nations[0] == both[1])
        return None
    measure = next((name for name, pattern in _COMPARED if pattern.search(question)), None)
    if measure is None:
        return None
    ours, theirs = measured(meant, measure), measured(other, measure)
    if ours is None or theirs is None:
        return None
    if measure == "nation":
        same = ours == theirs
        return Limit("nation", theirs, meant=same) if same == (answer.lower() == "yes") else None
    if isinstance(ours, str) or isinstance(theirs, str) or ours == theirs:
        return None
    lower = ours < theirs
    wins = lower != bool(_LATER.search(question))
    names = (set(words(one.title)) & set(words(answer)) for one in (meant, other))
    is_meant, is_other = (bool(some) for some in names)
    if is_meant == is_other or is_meant != wins:
        return None
    return Limit(measure, theirs, meant=lower)


def reached(person: Article, decomposition: Sequence[str], facts: Sequence[str], span: str) -> Limit | None:
    """The limit of a question whether somebody lived when something came up, by the steps of its decomposition."""
    *steps, last = decomposition or [""]
    if not re.search(r"#\d\b.*\b(?:before|after|prior|predate|earlier|later|within|during|overlap)\b", last):
        return None
    own = [step for step in steps if _names(span, step)]
    others = [step for step in steps if not _names(span, step) and _WHEN.match(step)]
    if len(own) != 1 or len(others) != 1 or not _WHEN.match(own[0]):
        return None
    measure = next((name for name, pattern in _ASKED.items() if pattern.search(own[0])), None)
    if measure is None:
        return None
    years = [(_shared(fact, others[0]), YEAR.findall(fact)) for fact in facts if not _names(span, fact)]
    years = [pair for pair in years if pair[1]]
    own_years = [YEAR.findall(fact) for fact in facts if _names(span, fact)]
    value = measured(person, measure)
    if value is None and len(own_years) == 1 and len(own_years[0]) == 1:
        value = int(own_years[0][0])
    if not years or not isinstance(value, int):
        return None
    limit = int(max(years, key=lambda pair: pair[0])[1][0])
    if abs(value - limit) < 1:
        return None
    return Limit(measure, limit, meant=value < limit, margin=MARGIN)


def unnamed(question: str, noun: str, meant: Article) -> Limit | None:
    """The limit of a question that names nothing but the hidden article's noun."""
    rest = re.sub(r"^\W*\w+", "", question)
    if re.search(r"[A-Z0-9\"“/()]", rest) or re.match(r"this\b", question, re.I) or not question.endswith("?"):
        return None
    there = frozenset(words(f"{meant.title} {meant.text}"))
    asked = dict.fromkeys(word for word in words(question) if word not in FUNCTION_WORDS and len(word) > 2)
    if len(asked) > MOST_CLUES + 1:
        return None
    clues = tuple(word for word in asked if word != noun and any(form in there for form in _forms(word)))
    return Limit("clues", clues=clues)


def _nation(sentence: str) -> str | None:
    """`was an American film director` -> American; `None` for two nationalities (`a Welsh-born American`)."""
    found = re.search(r"\b(?:is|was) an? (?:[a-z]+ )?([A-Z][a-z]+(?:an|ish|ese|ch|ic|i|sh|ss|ek|ian))\b(?!-)", sentence)
    return found[1] if found else None


def _forms(word: str) -> tuple[str, ...]:
    stem = re.sub(r"(?:ies|es|s|ed|ing|e)$", "", word)
    return (word, stem, *(stem + end for end in ("s", "es", "ed", "ing", "e")))


def _names(span: str, text: str) -> bool:
    """Whether the last word of a name is in a text."""
    return words(span)[-1] in words(text)


def _shared(one: str, other: str) -> int:
    return len((set(words(one)) & set(words(other))) - set(FUNCTION_WORDS))
