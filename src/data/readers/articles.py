"""Questions over articles, whatever dataset they come from: HotpotQA and StrategyQA records become `ArticleQuestion`s.

Also what searching the articles finds: queries that lead to one, and hidden articles that can be found anyway.
"""

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
"""How a record is worded. `hidden`: a span is taken out. `twin`: just as vague, but what is meant can be looked up.
`intact`: as the dataset has it."""
MODES: tuple[Mode, ...] = ("hidden", "twin", "intact")

YES_NO = frozenset({"yes", "no"})
ARTICLE_TOKENS = 300
"""Longer articles lose their last sentences, so that a dialogue that opens four of them stays within bounds."""
TELLING_WORDS = 2
TELLING_IN = 2
QUERY_WORDS = 3
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"”’']?\s+(?=[\"“‘'$(]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|No|vs|etc|ca|c|Mt|Ft|Lt|Gen|Col|Prof|Inc|Ltd|Co|U\.S|[A-Z]))\.$"
)


class Support(Struct, frozen=True):
    """A supporting sentence and the title of its article, empty where the dataset does not name it."""

    title: str
    sentence: str


class ArticleQuestion(Struct, frozen=True):
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
    def offers_answer(self) -> bool:
        """Whether the question itself offers the answer, so that seeing it gives nothing away."""
        return self.answer.lower() in YES_NO or self.answer.lower() in self.question.lower()


class SpareArticle(Struct, frozen=True):
    """An article of another record, with its kind: a distractor, or something that the user was reading."""

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


def shorten(article: Article, keep: frozenset[str] = frozenset()) -> Article:
    """The article without its last sentences where it is too long; sentences in `keep` stay."""
    kept: list[str] = []
    used = 0
    for sentence in article.sentences:
        size = len(tokens(sentence))
        if sentence in keep or not kept or used + size <= ARTICLE_TOKENS:
            kept.append(sentence)
            used += size
    return Article(article.title, tuple(kept))


def split_sentences(text: str) -> tuple[str, ...]:
    """Sentences of a text. Whitespace is normalised; nothing else changes.

    >>> split_sentences("Mr. Lee has 3 cats.  Each eats 2 cans. How many cans?")
    ('Mr. Lee has 3 cats.', 'Each eats 2 cans.', 'How many cans?')
    """
    sentences: list[str] = []
    start = 0
    flat = " ".join(text.split())
    for match in _SENTENCE_END.finditer(flat):
        piece = flat[start : match.end()].rstrip()
        if _ABBREVIATION.search(piece):
            continue
        sentences.append(piece)
        start = match.end()
    if flat[start:]:
        sentences.append(flat[start:])
    return tuple(sentences)


def hidden_article_is_findable(item: Item) -> bool:
    """Whether the rest of the question leads to the hidden article: it is the only one of its noun, a search for the
    noun or for the question shows it (or the answer) first, or two words of the question are in it and hardly
    anywhere else."""
    if item.hidden is None or item.hidden.kind == "quantity":
        return False
    span = item.hidden.span.lower()
    meant = next((article for article in item.context if span in map(str.lower, names_of(article.title))), None)
    if meant is None:
        return False
    noun = item.hidden.about[0]
    shown = search(item.context, noun)[:SHOWN]
    if len(item.hidden.readings) < 2 or shown[:1] == [meant] or len(shown) < 2:
        return True
    asked = {word for word in words(item.question) if word not in FUNCTION_WORDS and len(word) > 2}
    there = (asked & article_words(meant)) - set(item.hidden.about)
    telling = [word for word in there if sum(word in article_words(page) for page in item.context) <= TELLING_IN]
    if len(telling) >= TELLING_WORDS:
        return True
    hits = search(item.context, item.question)[:1]
    return any(hit.title == meant.title or item.answer in hit.text for hit in hits)


def search_query(context: tuple[Article, ...], article: Article, question: ArticleQuestion) -> str:
    """Words whose search result shows the article; empty if there are none.

    They come from the question, else from the other supporting articles: a reader knows no more. So few articles have
    any of the words that the search shows all of them.
    """
    here = article_words(article)
    asked = words(question.question)
    facts = [fact.sentence for fact in question.support if fact.title not in ("", article.title)]
    known = [word for sentence in facts for word in words(sentence)]
    titles = {page.title for page in context}
    for candidates in (list(dict.fromkeys(asked)), list(dict.fromkeys(known))):
        useful = [word for word in candidates if word in here and word not in FUNCTION_WORDS and len(word) > 2]
        reach = {word: frozenset(page.title for page in context if word in article_words(page)) for word in useful}
        query: list[str] = []
        found: frozenset[str] = frozenset()
        for word in sorted(useful, key=lambda word: (len(reach[word]), candidates.index(word))):
            if len(found | reach[word]) <= SHOWN and len(query) < QUERY_WORDS:
                query.append(word)
                found |= reach[word]
        text = " ".join(sorted(query, key=candidates.index))
        if text and text not in titles:
            return text
    return ""
