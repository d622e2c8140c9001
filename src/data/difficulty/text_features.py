"""Features of a task's wording that make it hard: names, connectors, pronouns, arithmetic asked for, clue overlap.

All of them are rules on text, the same for every source and cheap enough for a million samples. They read what the
user says (premise, clue, question), not the articles: those are the same whatever is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from askgate_env.tokenize import CJK, words
from askgate_env.types import Sample

from ...core.files import package_yaml


@cache
def lexicon(lang: Literal["english", "chinese"]) -> dict[str, Any]:
    """Word lists of a language by name, from `templates/lexicon`: words separated by spaces; and its `patterns`."""
    tables: dict[str, Any] = package_yaml(f"templates/lexicon/{lang}.yaml")
    return tables


def word_set(name: str) -> frozenset[str]:
    """Words of an English list."""
    return frozenset(lexicon("english")[name].split())


def pattern(name: str) -> re.Pattern[str]:
    """One pattern of the regular expressions in an English list."""
    return re.compile("|".join(lexicon("english")[name]))


FUNCTION_WORDS = word_set("function_words")


def content_words(text: str, shortest: int = 3) -> list[str]:
    """Different words of a text that say what it is about, in their order."""
    return [word for word in dict.fromkeys(words(text)) if word not in FUNCTION_WORDS and len(word) >= shortest]


_CHINESE = lexicon("chinese")


def _patterns(lang: Literal["english", "chinese"]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(parts), re.IGNORECASE) for name, parts in lexicon(lang)["patterns"].items()}


_EN, _ZH = _patterns("english"), _patterns("chinese")


def _count(pattern: str, text: str) -> int:
    """Number of matches in both languages. English text, the usual case, is searched once."""
    return len(_EN[pattern].findall(text)) + (0 if text.isascii() else len(_ZH[pattern].findall(text)))


# --- Names and numbers ---

_NAME = re.compile(r"[A-Z][\w'’&-]*(?: (?:(?:of|de|von|van)(?: the)? )?[A-Z][\w'’&-]*)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTED_ZH = re.compile(r"《([^《》]{1,40})》|“([^“”]{1,40})”|「([^「」]{1,40})」")
_DOTTED_ZH = re.compile(rf"(?:(?![的是在和与有])[{CJK}]){{1,6}}(?:·(?:(?![的是在和与有])[{CJK}]){{1,6}})+")
_PLACE_ENDS = "|".join(_CHINESE["place_endings"].split())
_PLACE_ZH = re.compile(rf"(?:(?![{_CHINESE['not_in_name']}])[{CJK}]){{2,4}}?(?:{_PLACE_ENDS})")
_PERSON_ZH = re.compile(
    rf"(?:^|(?<=[\s，。！？；、：]))[{_CHINESE['surnames']}小阿老][{CJK}]{{1,2}}?"
    r"(?=[有买卖的和与把每从在花给想说用去吃读跑种做赚收先又再还比要带拿得存养写画骑])"
)


def short_name(title: str) -> str:
    """A title without its bracketed disambiguator: `Vera Lindqvist (chemist)` -> `Vera Lindqvist`."""
    for opening in ("(", "（"):
        head = title.split(opening, 1)[0].rstrip()
        if head:
            title = head
    return title


def names_en(text: str) -> Iterable[tuple[int, str]]:
    """Runs of capitalised words with their positions; a function word that only opens a sentence is no name."""
    for match in _NAME.finditer(text):
        start, run = match.start(), match.group()
        opens = text[:start].rstrip(" \"'“‘(")[-1:] in ("", ".", "?", "!", ":", ";", "\n")
        first, _, rest = run.partition(" ")
        if (opens and _POSSESSIVE.sub("", first).lower() in FUNCTION_WORDS) or first in ("I", "I'm", "I’m", "I'd"):
            start, run = start + len(first) + 1, rest
        if run:
            yield start, _POSSESSIVE.sub("", run).lower()


def names_zh(text: str, titles: Iterable[str]) -> list[tuple[int, str]]:
    """Article titles, quoted things, dotted names, places and organisations, and people who do something.

    Each rule blanks out its matches before the next one runs, so that nothing counts twice.
    """
    found: list[tuple[int, str]] = []
    rest = text
    for name in sorted({short_name(title) for title in titles}, key=lambda name: (-len(name), name)):
        start = rest.find(name) if len(name) > 1 else -1
        if start >= 0:
            found.append((start, name))
            rest = rest.replace(name, " " * len(name))
    for rule in (_QUOTED_ZH, _DOTTED_ZH, _PLACE_ZH, _PERSON_ZH):
        for match in rule.finditer(rest):
            name = next((group for group in match.groups() if group), match.group())
            if not name.isspace():
                found.append((match.start(), name.strip()))
        rest = rule.sub(lambda match: " " * len(match.group()), rest)
    found.extend(names_en(rest))
    return found


def names(text: str, lang: str, titles: Iterable[str]) -> list[tuple[int, str]]:
    return names_zh(text, titles) if lang == "zh" else list(names_en(text))


def numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


# --- Connectors, pronouns, arithmetic ---

# An operator counts when a number or a bracket is before it, so that a sign does not.
_OPERATOR = re.compile(r"(?<=[\d)])\s*(?:\*\*|>=|<=|==|!=|[-+*/%<>=])")

CHARACTERS_PER_CHINESE_WORD = 1.6
"""Chinese is written without spaces; running text has about 1.6 characters a word."""
_CHINESE_CHARACTER = re.compile(rf"[{CJK}]")
_OTHER_WORD = re.compile(rf"[^\W{CJK}]+")


def connector_density(text: str) -> float:
    """Logical connectors per 100 words."""
    chinese = len(_CHINESE_CHARACTER.findall(text)) if not text.isascii() else 0
    length = chinese / CHARACTERS_PER_CHINESE_WORD + len(_OTHER_WORD.findall(text))
    if not length:
        return 0.0
    return 100 * _count("connectors", text) / length


def pronouns(text: str) -> int:
    return _count("pronouns", text)


def operators(expression: str) -> int:
    """Number of binary operators and comparisons in a `calc` expression.

    >>> operators("-(48/2 + 24) > 3")
    3
    """
    return len(_OPERATOR.findall(expression))


@lru_cache(maxsize=256)
def asked_arithmetic(question: str) -> int:
    """Number of comparisons and differences (of dates, ages, sizes) that the question asks for in words.

    >>> asked_arithmetic("How many years older is Ann than Bo?"), asked_arithmetic("李华比王芳大几岁？")
    (1, 1)
    """
    return _count("asked_arithmetic", question)


# --- Clue overlap ---

_AFTER_CHINESE_MARK = re.compile("(?<=[。？！；：，]) ")
"""Chinese sentences join without a space, however they were joined before measuring."""


@lru_cache(maxsize=256)
def char_trigrams(text: str) -> frozenset[str]:
    """Character 3-grams of a text. Cached, because the builder tries several clues and articles for one question."""
    flat = _AFTER_CHINESE_MARK.sub("", " ".join(text.lower().split()))
    return frozenset({flat[i : i + 3] for i in range(len(flat) - 2)})  # faster than from a generator


def clue_overlap(asked: str, support: str) -> float:
    """Character 3-gram Jaccard similarity between what is asked (clue and question) and the supporting text."""
    left, right = char_trigrams(asked), char_trigrams(support)
    union = len(left | right)
    return len(left & right) / union if union else 0.0


# --- Ambiguity ---

_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_AMOUNT = re.compile(r"\d+(?:[.,]\d+)*")
_ASKS_AMOUNT = re.compile(r"\bhow (?:many|much)\b|\bpopulation\b|多少|[有共]几", re.IGNORECASE)
# Chinese nouns have no article: a pronoun this close to the start cannot have a noun before it.
_OPENING_ZH = 4


def ambiguity_flags(sample: Sample, said: str, names: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Reasons why a question may be read in more than one way, by rules on its text and its articles.

    `said` is what the user says, `names` the names in it with their positions. The rules never read
    `needs_clarification`: a vague phrase is flagged even if its referent is in reach.

    The flags besides those of the source:

    multi-entity: the text uses a short name that two articles share, and neither full title.
    unclear-reference: a personal pronoun before anything that it could refer to.
    under-specified: "that film", 这部电影, with no name before it.
    time-unspecified: asks for an amount without a year, while a supporting article gives amounts for several years.
    """
    flags = list(sample.ambiguity)
    first_name = min((start for start, _ in names), default=len(said))
    if _shared_name(sample, said):
        flags.append("multi-entity")
    if _unclear_reference(said, first_name):
        flags.append("unclear-reference")
    pointing = (_ZH if sample.lang == "zh" else _EN)["pointing"].search(said)
    if pointing and pointing.start() < first_name:
        flags.append("under-specified")
    if _ASKS_AMOUNT.search(sample.question) and not _YEAR.search(said) and _amounts_by_year(sample):
        flags.append("time-unspecified")
    return tuple(dict.fromkeys(flags))


def _shared_name(sample: Sample, said: str) -> bool:
    """Whether the text uses a short name that two articles share, and neither full title."""
    titles = {article.title for article in sample.context}
    shared = Counter(short_name(title) for title in titles)
    return any(
        count > 1
        and name in said
        and not any(title in said for title in titles if title != name and short_name(title) == name)
        for name, count in shared.items()
    )


def _unclear_reference(said: str, first_name: int) -> bool:
    """Whether a personal pronoun comes before anything that it could refer to."""
    english = _EN["personal_pronouns"].search(said)
    if english and english.start() < first_name and not _EN["noun_phrase"].search(said, 0, english.start()):
        return True
    chinese = None if said.isascii() else _ZH["personal_pronouns"].search(said)
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
            if found and len(_AMOUNT.findall(sentence)) > len(found):
                years.update(found)
        if len(years) > 1:
            return True
    return False
