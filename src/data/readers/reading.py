"""Questions over articles, whatever dataset they come from: HotpotQA and StrategyQA records become a `Reading`."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ...core.tokenize import tokens, words
from ...core.types import Article, Task
from .nouns import Kind, kind_from_definition, kind_from_title
from .vague import Mention

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
