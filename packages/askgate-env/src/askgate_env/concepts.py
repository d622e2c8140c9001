"""From words to concepts, for the user simulator: reads the word lists of `texts/user_simulator.json`.

English words are stemmed, Chinese text is cut by longest match. Synonyms share a concept, so that *spent* meets *spend*
and 票价 meets 多少钱. A word may have several concepts: *pay* is a cost and a wage.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

from .files import package_json
from .tokenize import words
from .types import Lang

Concepts = frozenset[str]
_ENDINGS = {"ies": "y", "ied": "y", "ations": "at", "ation": "at", "ing": "", "ed": "", "ly": "", "s": ""}


class Token(NamedTuple):
    """A content word."""

    stem: str
    concepts: Concepts
    """The stem, and `=name` for each group of synonyms that it belongs to."""
    soft: bool
    """Whether it carries little meaning by itself: *use*, *make*."""


class Language:
    """The word lists and patterns of one language."""

    def __init__(self, lang: Lang) -> None:
        lists: dict[str, Any] = package_json("user_simulator.json")[lang]
        self.lang = lang
        forms = [group.split() for group in " ".join(lists.get("irregular", ())).split(";")]
        self.irregular = {word: group[0] for group in forms for word in group[1:]}
        self.neutral = set(" ".join(lists["neutral"]).split())
        """Words that any question may use."""
        if lang == "en":
            stems = [word.removesuffix("e") for word in self.neutral if len(word) > 2]
            self.neutral |= {f"{stem}{end}" for stem in stems for end in ("ing", "ed")} - set(self.irregular)
        self.groups: dict[str, set[str]] = {}
        for name, group in lists["groups"].items():
            for word in group.split():
                self.groups.setdefault(self.stem(word), set()).add(f"={name}")

        def group_concepts(key: str) -> set[str]:
            return {f"={name}" for name in lists[key].split()}

        self.soft = group_concepts("soft_groups")
        """Groups of words that carry little meaning by themselves."""
        self.types = group_concepts("type_groups")
        """Groups of words that only say which kind of quantity is meant."""
        self.distinct = group_concepts("distinct_groups")
        """Groups of words that mean one quantity and no other of its kind: a width is not a length."""
        self.times = group_concepts("time_groups")
        """Groups of words that mean a span of time."""
        self.attributes = group_concepts("attributes")
        """Groups of words that mean a fact in an article."""
        self.tags = {self.stem(word) for word in lists["tags"].split()}
        """Words for what usually distinguishes two things of one name: a profession, a region, a genre."""
        self.unit_of_concept = {f"={name}": unit for name, unit in lists["unit_of_group"].items()}
        self.unit_of_word = {word: unit for unit, group in lists["units"].items() for word in group.split()}
        self.amount_nouns = {self.stem(noun) for noun in lists["amount_nouns"].split()}
        self.how: dict[str, str] = lists["how"]
        """Question word -> kinds of quantity that it asks for: `long` -> `time length`."""
        self.measures = set(lists["measures"])
        self.phrases = [(re.compile(phrase), word) for phrase, word in lists["phrases"].items()]
        """Phrases that a single word replaces before anything else."""
        self.patterns = {name: re.compile(pattern) for name, pattern in lists["patterns"].items()}
        known_words = {*self.groups, *self.neutral, *self.amount_nouns, *self.tags, *lists.get("compounds", "").split()}
        longest_first = "|".join(re.escape(word) for word in sorted(known_words, key=len, reverse=True))
        self.chinese_word = re.compile(rf"\d+(?:\.\d+)?|[a-z]+|{longest_first}|\w")

    def implied_types(self, units: Iterable[str]) -> set[str]:
        """Concepts of `types` that a quantity of these kinds implies: *cost* for an amount of money."""
        return {concept for concept in self.types if self.unit_of_concept[concept] in units}

    def stem(self, word: str) -> str:
        """The stem of an English word; a Chinese word is its own stem.

        >>> [language("en").stem(word) for word in ("spent", "carries", "planned", "hourly", "costs", "priced")]
        ['spend', 'carry', 'plan', 'hour', 'cost', 'pric']
        """
        if self.lang == "zh":
            return word
        word = self.irregular.get(word, word)
        for ending, replacement in _ENDINGS.items():
            if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith(("ss", "us", "is")):
                word = word[: -len(ending)] + replacement
                if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                    word = word[:-1]
                break
        word = self.irregular.get(word, word)
        return word[:-1] if word.endswith("e") and len(word) > 3 else word


language = cache(Language)


@lru_cache(maxsize=65536)
def token_of(word: str, lang: Lang) -> Token | None:
    """The token of a word in lower case; None for a number and for a word that any question may use."""
    lists = language(lang)
    stem = lists.stem(word)
    groups = lists.groups.get(stem)
    neutral = word in lists.neutral or lists.irregular.get(word) in lists.neutral
    if word[0].isdigit() or (neutral and groups is None):
        return None
    return Token(stem, frozenset(groups or ()) | {stem}, neutral or bool(groups and groups <= lists.soft))


@lru_cache(maxsize=8192)
def tokens(text: str, lang: Lang) -> tuple[Token, ...]:
    """Content words of a text in lower case."""
    found = words(text) if lang == "en" else language(lang).chinese_word.findall(text)
    return tuple(token for word in found if (token := token_of(word, lang)) is not None)


@lru_cache(maxsize=8192)
def unknown_words(text: str, lang: Lang) -> tuple[str, ...]:
    """Words of a text in lower case that are in no list. A run of Chinese characters in no list counts as one word."""
    if lang == "en":
        return tuple(token.stem for token in tokens(text, lang) if not token.soft and len(token.concepts) == 1)
    lists, runs, end = language("zh"), list[str](), -1
    for piece in lists.chinese_word.finditer(text):
        if piece[0] in lists.groups or piece[0] in lists.tags or token_of(piece[0], "zh") is None:
            continue
        if piece.start() == end:
            runs[-1] += piece[0]
        else:
            runs.append(piece[0])
        end = piece.end()
    return tuple(runs)


def concepts_of(texts: Iterable[str], lang: Lang) -> Concepts:
    """All concepts of some texts."""
    return union(token.concepts for text in texts for token in tokens(fold(text), lang))


def union(concept_sets: Iterable[Concepts]) -> Concepts:
    return frozenset().union(*concept_sets)


def fold(text: str) -> str:
    """The text in lower case, full-width characters as ordinary ones."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


@lru_cache(maxsize=8192)
def normalize(text: str, lang: Lang) -> str:
    """The folded text with a single word for each phrase that has one."""
    text = fold(text)
    for phrase, word in language(lang).phrases:
        text = phrase.sub(word, text)
    return text


def names_in(text: str, lang: Lang) -> Concepts:
    """Stems of the words that an English text writes with a capital and nowhere without."""
    if lang == "zh":
        return frozenset()
    lower_case = set(re.findall(r"\b[a-z][\w'-]*", text))
    names = re.findall(r"\b[A-Z][\w-]*", text)
    return frozenset(language("en").stem(name.lower()) for name in names if name.lower() not in lower_case)
