"""Mentions of an article in a question, and the vague phrase that can replace one.

`Which cousin of Ada Wong ...` -> `Which cousin of the player ...`. The noun comes from the article's definition:
`American retired professional basketball player and coach` -> `player`, which is a `person`. Two kinds are surely
different things only when their categories differ: an actor may sing, but a lake never does.

A mention is replaced only where the result reads well. One that is part of a longer name, a compound (`Casio products`)
or a list of modifiers is left alone: clumsy questions would give away that something was taken out.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ...core.tokenize import words
from ..difficulty.text_features import lexicon, word_set
from .decisive import Limit

CATEGORIES: dict[str, str] = {
    noun: category for category, nouns in lexicon("english")["type_nouns"].items() for noun in nouns.split()
}
"""Category of every known type noun."""

_ENDS = word_set("noun_phrase_ends")
_CLASSIFIERS = word_set("classifiers")
_MODIFIERS = word_set("work_modifiers")
_LIFE_DATES = re.compile(r"\((?:[^()]*\bborn\b|[^()]*\d{4}\s*[–-])")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,;:/.()\"“”]")
_COPULA = re.compile(r"\b(?:is|was|are|were)\s+(?:also\s+)?(?:one of the|a|an|the)\s+(.+)", re.DOTALL)
_BRACKETS = re.compile(r"\([^()]*\)")

_BRACKETED_END = re.compile(r"\s*\([^()]*\)$")
_ARTICLES = frozenset({"the", "a", "an"})
_BEFORE_VERBS = word_set("auxiliaries_before_verbs")
_BEFORE = word_set("auxiliaries") | word_set("before_vague_phrase")
_AFTER = word_set("auxiliaries") | word_set("after_vague_phrase")
_VERB_OR_ADVERB = re.compile(r"[a-z]{2,}(?:[^e]ed|ly)")
_NOT_A_MODIFIER = re.compile(r"[a-z]+(?:s|ing)$")


class Kind(Struct, frozen=True):
    """Category of an article's subject."""

    noun: str
    category: str
    """Things of different categories cannot be confused."""


class Mention(Struct, frozen=True):
    """A name in a question for the thing that an article is about, and the question without that name."""

    span: str
    blurred: str
    """The question with the vague phrase in place of the mention."""
    kind: Kind
    title: str
    limit: Limit | None = None
    """What the answer turns on. Without it no article shows that the answer depends on what is meant."""


def kind_from_definition(sentence: str) -> Kind | None:
    """`Titan is an American rock band from Ohio.` -> band. Something with life dates is a person or nothing."""
    match = _COPULA.search(_BRACKETS.sub("", sentence))
    kind = kind_from_phrase(match[1]) if match else None
    if match is None or not _LIFE_DATES.search(sentence) or (kind is not None and kind.category == "person"):
        return kind
    kinds = (_kind(word.strip(",.;")) for word in match[1].split())
    return next((kind for kind in kinds if kind is not None and kind.category == "person"), None)


def kind_from_title(title: str) -> Kind | None:
    """`Numb (Rihanna song)` -> song, `Elko Regional Airport` -> airport, `Battle of Uddevalla` -> battle."""
    match = re.search(r"\(([^()]*)\)$", title)
    for parts in (match[1].split() if match else [], title.split(" of ")[0].split(), title.split()):
        kind = _kind(parts[-1]) if parts else None
        if kind is not None and kind.category != "person":
            return kind
    return None


def kind_from_phrase(phrase: str) -> Kind | None:
    """The kind named by the head of the first noun phrase, if it is known; `species of bird` counts as bird.

    An unknown head may be the first half of a known one: `screen and stage actor`.
    """
    head, joined = "", 0
    for word in _WORD.findall(_BRACKETS.sub("", phrase)):
        known = _kind(head) is not None and head.lower() not in _MODIFIERS
        if word == "of" and head.lower() in _CLASSIFIERS:
            head = ""
        elif word in ("and", ",", "or") and not known and joined < 2:
            joined += 1
        elif word in _ENDS or not word[0].isalnum() or (_kind(head) is not None and re.search("(?:ed|ing)$", word)):
            break
        else:
            head = word
    return _kind(head)


def _kind(word: str) -> Kind | None:
    noun = word.lower()
    if noun not in CATEGORIES and noun.endswith("s"):
        noun = noun.removesuffix("s")
    return Kind(noun, CATEGORIES[noun]) if noun in CATEGORIES else None


def bare_title(title: str) -> str:
    """`The Prestige (film)` -> `The Prestige`."""
    return _BRACKETED_END.sub("", title)


def names_of(title: str) -> tuple[str, ...]:
    """Names of an article in a question: its title without brackets, also without `, Montana` or a leading `The`."""
    name = bare_title(title)
    return tuple(dict.fromkeys((name, name.split(",")[0], name.removeprefix("The "))))


def find_mention(question: str, title: str, kind: Kind, *, any_case: bool) -> Mention | None:
    """The one mention of `title` in `question`, blurred; `None` where it is not there or would not read well."""
    for name in names_of(title):
        pattern = re.compile(rf"(?<![\w'’-]){re.escape(name)}(?![\w-])", re.IGNORECASE if any_case else 0)
        matches = list(pattern.finditer(question))
        if len(matches) == 1 and len(name) > 2:
            break
    else:
        return None
    start, end = matches[0].span()
    noun, blurred = kind.noun, _blur(question, start, end, kind.noun)
    if blurred is None and question[start].isupper():
        blurred, noun = _drop_after_noun(question, start, end)
    if blurred is None:
        return None
    span = question[start:end]
    if not set(words(span)) - {noun} or f"{noun}s" in words(span) or shares_name(span, blurred, besides=noun):
        return None
    return Mention(span, blurred, Kind(noun, kind.category), title)


def shares_name(span: str, text: str, besides: str = "") -> bool:
    """Whether a telling word of the span (one with a capital or digit, else any of them) is in the text."""
    present = set(words(text)) - {besides}
    telling = [word for word in re.findall(r"\w+", span) if len(word) > 2 and (not word.islower() or span.islower())]
    return any(word.lower() in present for word in telling if word.lower() not in _BEFORE | _ARTICLES)


def _blur(question: str, start: int, end: int, noun: str) -> str | None:
    """The question with the vague phrase in place of the name and of an article before it."""
    left, right = _unquoted(question[:start], question[end:])
    words_before = left.split()
    last = words_before[-1] if words_before else ""
    if last.lower() in _ARTICLES:
        left = left[: left.rstrip().rindex(last)]
        before = _last_word(left) if last.lower() == "the" else ""
    elif not last or last.endswith((",", ":", ".", ";", "?", "!")) or last.lower() in _BEFORE:
        before = last.lower()
        if last.endswith(",") and last[:-1].lower() in CATEGORIES:
            return None
    else:
        return None
    if not _can_follow(right, before):
        return None
    # `Which lake is larger, the lake or Lake Ina?` and `The song is a song by` are confusing.
    left = re.sub(rf"^(Which|What) {noun} (?=was|is|were|came|died|has|had)", r"\1 ", left)
    if {noun, f"{noun}s"} & set(words(f"{left} {right}")):
        return None
    opening = not left.strip() or left.rstrip().endswith((".", "?", "!"))
    left = re.sub(r"(first|older|oldest|later|earlier) $", r"\1, ", left)  # people forget the comma
    return f"{left}{'The' if opening else 'the'} {noun}{_possessive(right)}"


def _drop_after_noun(question: str, start: int, end: int) -> tuple[str | None, str]:
    """`of the rock band Titan was` -> `of the rock band was`: the noun is there already, only the name is removed."""
    left, right = _unquoted(question[:start], question[end:])
    match = re.search(r"\b(the|a|an)((?: [\w-]+){0,3}?) ([\w-]+)\s+$", left, re.IGNORECASE)
    if match is None or match[3].lower() not in CATEGORIES:
        return None, ""
    if not _can_follow(right, _last_word(left[: match.start()])):
        return None, ""
    article = "The" if match[1][0].isupper() else "the"
    return f"{left[: match.start()]}{article}{match[2]} {match[3]}{_possessive(right)}", match[3].lower()


def _unquoted(left: str, right: str) -> tuple[str, str]:
    if left.endswith(('"', "“", "'", "‘")) and right[:1] in ('"', "”", "'", "’"):
        return left[:-1], right[1:]
    return left, right


def _last_word(text: str) -> str:
    found = text.split()
    return found[-1].lower() if found else ""


def _can_follow(right: str, before: str) -> bool:
    """Whether `right` can follow a complete noun phrase that has the word `before` in front of it."""
    match = re.match(r"\s*([\w-]+)?", right)
    word = match[1] if match else None
    if right[:1] in ("'", "’"):
        return bool(re.match(r"['’]s?\s", right))
    if not word or not right[:1].isspace():
        return right[:1] in ("", "?", ",", ".", ":", ";", "!")
    if word in _AFTER or _VERB_OR_ADVERB.fullmatch(word):
        return True
    if not word.islower():
        return False
    return before in _BEFORE_VERBS and not _NOT_A_MODIFIER.match(word) and len(word) > 2


def _possessive(right: str) -> str:
    """`Linus Torvalds' wife` names somebody in -s; the vague phrase does not end in one."""
    return re.sub(r"^['’]\s", "'s ", right)
