"""Questions over articles, whatever dataset they come from: HotpotQA and StrategyQA records become a `Reading`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ...agents.tools import SHOWN, search
from ...core.tokenize import tokens, words
from ...core.types import Article, Task
from ..difficulty.text_features import FUNCTION_WORDS
from ..pool.source import Item
from .mentions import Kind, Mention, kind_from_definition, kind_from_title, names_of

Mode = Literal["hidden", "twin", "intact"]
"""How a record is told. `hidden`: a span is taken out. `twin`: told just as vaguely, but what is meant is in reach.
`intact`: as the dataset has it."""
MODES: tuple[Mode, ...] = ("hidden", "twin", "intact")

YES_NO = frozenset({"yes", "no"})
ARTICLE_TOKENS = 300
"""Longer articles lose their last sentences, so that a dialogue that opens four of them stays within bounds."""


class Support(Struct, frozen=True):
    """A supporting sentence and the title of the article that it stands in, empty where the dataset does not say."""

    title: str
    sentence: str


class Reading(Struct, frozen=True):
    """A question, the articles that answer it in the order in which one opens them, and others that do not."""

    task: Task
    source_id: str
    question: str
    answer: str
    gold: tuple[Article, ...]
    support: tuple[Support, ...]
    others: tuple[Article, ...]
    mentions: tuple[Mention, ...]

    @property
    def in_question(self) -> bool:
        """Whether the answer is one of the things that the question offers, so that seeing it gives nothing away."""
        return self.answer.lower() in YES_NO or self.answer.lower() in self.question.lower()


class Spare(Struct, frozen=True):
    """An article of some other record, with its kind known: a distractor, or something that the user was reading."""

    article: Article
    kind: Kind


@lru_cache(maxsize=65536)
def article_tokens(article: Article) -> int:
    return len(tokens(article.title)) + len(tokens(article.text))


@lru_cache(maxsize=65536)
def article_words(article: Article) -> frozenset[str]:
    return frozenset(words(article.title)) | frozenset(words(article.text))


@lru_cache(maxsize=65536)
def article_kind(article: Article) -> Kind | None:
    return kind_from_definition(article.sentences[0]) or kind_from_title(article.title)


def cut(article: Article, keep: frozenset[str] = frozenset()) -> Article:
    """The article without its last sentences where it is too long; sentences in `keep` stay."""
    kept: list[str] = []
    used = 0
    for sentence in article.sentences:
        size = len(tokens(sentence))
        if sentence in keep or not kept or used + size <= ARTICLE_TOKENS:
            kept.append(sentence)
            used += size
    return Article(article.title, tuple(kept))


# What searching an item's articles finds: words that lead to one, and whether a hidden one gives itself away.


TELLING_WORDS = 2
TELLING_IN = 2
QUERY_WORDS = 3


def found_anyway(item: Item) -> bool:
    """Whether what is left of the question leads to the hidden article: a search for it shows that article first, or
    two of its words stand there and hardly anywhere else."""
    if item.hidden is None or item.hidden.kind == "quantity":
        return False
    span = item.hidden.span.lower()
    meant = next((article for article in item.context if span in map(str.lower, names_of(article.title))), None)
    if meant is None:
        return False
    asked = {word for word in words(item.question) if word not in FUNCTION_WORDS and len(word) > 2}
    there = (asked & article_words(meant)) - set(item.hidden.about)
    telling = [word for word in there if sum(word in article_words(page) for page in item.context) <= TELLING_IN]
    if len(telling) >= TELLING_WORDS:
        return True
    hits = search(item.context, item.question)
    return bool(hits) and hits[0].title == meant.title


def query_for(context: tuple[Article, ...], article: Article, reading: Reading) -> str:
    """Words that lead to the article, for so few articles have any of them that all are shown.

    They come from the question, else from what the other supporting articles say: a reader knows no more.
    """
    here = article_words(article)
    asked = words(reading.question)
    told = [word for fact in reading.support if fact.title not in ("", article.title) for word in words(fact.sentence)]
    titles = {page.title for page in context}
    for pool in (list(dict.fromkeys(asked)), list(dict.fromkeys(told))):
        useful = [word for word in pool if word in here and word not in FUNCTION_WORDS and len(word) > 2]
        reach = {word: frozenset(page.title for page in context if word in article_words(page)) for word in useful}
        query: list[str] = []
        found: frozenset[str] = frozenset()
        for word in sorted(useful, key=lambda word: (len(reach[word]), pool.index(word))):
            if len(found | reach[word]) <= SHOWN and len(query) < QUERY_WORDS:
                query.append(word)
                found |= reach[word]
        text = " ".join(sorted(query, key=pool.index))
        if text and text not in titles:
            return text
    return ""


# Splitting plain text into sentences: good enough for word problems and encyclopedia paragraphs.


_BREAK = re.compile(r"(?<=[.?!])[\"”’']?\s+(?=[\"“‘'$(]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|No|vs|etc|ca|c|Mt|Ft|Lt|Gen|Col|Prof|Inc|Ltd|Co|U\.S|[A-Z]))\.$"
)


def split_sentences(text: str) -> tuple[str, ...]:
    """Whitespace is evened out; nothing else changes, so that the joined sentences are the text again.

    >>> split_sentences("Mr. Lee has 3 cats.  Each eats 2 cans. How many cans?")
    ('Mr. Lee has 3 cats.', 'Each eats 2 cans.', 'How many cans?')
    """
    out: list[str] = []
    start = 0
    flat = " ".join(text.split())
    for match in _BREAK.finditer(flat):
        piece = flat[start : match.end()].rstrip()
        if _ABBREVIATION.search(piece):
            continue
        out.append(piece)
        start = match.end()
    if flat[start:]:
        out.append(flat[start:])
    return tuple(out)
