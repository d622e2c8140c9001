"""Questions over articles, whatever dataset they come from: HotpotQA and StrategyQA records become `ArticleQuestion`s.

Also what searching the articles finds: queries that lead to one, and hidden articles that can be found anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from ...agents.tools import SHOWN, search
from ...core.tokenize import tokens, words
from ...core.types import Article, Task
from ..difficulty.text_features import FUNCTION_WORDS, word_set
from ..pool.source import Item
from .mentions import CATEGORIES, Kind, Mention, kind_from_definition, kind_from_title, names_of

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
LONGEST_SENTENCE = 45
_NOT_FIRST = frozenset(word.lower() for word in word_set("pronoun_starts")) | frozenset(
    "this that these those such other another on also however although though while but and or so then thus hence "
    "therefore additionally furthermore moreover meanwhile instead nevertheless both each some many most several "
    "afterwards later since because if when where after before during following unlike like despite for its".split()
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_DEFINED = re.compile(
    r"\b(?:is|was|are|were) (?:also )?(?:an?|the|one of the) (.+?)"
    r"(?=\b(?:who|which|that|whose|known|best|from|in|for|at|on|by|with|during|of)\b|\.|$)"
)
_DATES = re.compile(r"\((?:born )?[A-Za-z0-9 ,–-]*\d{4}[A-Za-z0-9 ,–-]*\)")
_UNSPEAKABLE = re.compile(r"[()\[\]/;{}<>]|[^\x00-\x7f–—“”‘’\u00c0-\u017f]")
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


class SpareArticles(Struct, frozen=True):
    """Articles of other records: distractors, and what else a vague question may mean."""

    distractors: tuple[Article, ...]
    by_noun: dict[str, tuple[Article, ...]]
    """Articles by the nouns of their definition."""


def spare_articles(distractors: Iterable[Article], further: Iterable[Article] = ()) -> SpareArticles:
    """Index articles by noun, the first of each title. `further` ones are no distractors."""
    shown = {article.title: article for article in reversed(list(distractors))}
    by_noun: dict[str, dict[str, Article]] = {}
    for article in (*shown.values(), *further):
        for noun in definition_nouns(article):
            by_noun.setdefault(noun, {}).setdefault(article.title, article)
    return SpareArticles(tuple(shown.values()), {noun: tuple(some.values()) for noun, some in by_noun.items()})


@lru_cache(maxsize=65536)
def definition_nouns(article: Article) -> frozenset[str]:
    """Type nouns in an article's definition: singer, songwriter and actor."""
    kind, match = article_kind(article), _DEFINED.search(_IN_BRACKETS.sub("", article.sentences[0]))
    if kind is None or match is None:
        return frozenset()
    return frozenset(word for word in words(match[1]) if CATEGORIES.get(word) == kind.category)


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


def stands_alone(sentence: str) -> bool:
    """Whether a user could say this sentence of an article by itself: no pronoun or connective without what it refers
    to, no foreign letters or marks of an encyclopedia, dates in
    brackets excepted."""
    first = words(sentence)[:1]
    if not first or first[0] in _NOT_FIRST or not sentence[0].isupper() or not sentence.endswith("."):
        return False
    return len(tokens(sentence)) <= LONGEST_SENTENCE and not _UNSPEAKABLE.search(_DATES.sub("", sentence))


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
    spread = {word: sum(word in article_words(page) for page in item.context) for word in asked}
    if sum(spread[word] <= TELLING_IN for word in there) >= TELLING_WORDS:
        return True
    hits = search(item.context, item.question)[:SHOWN]
    if hits[:1] == [meant]:
        return True
    if item.answer.lower() in YES_NO or item.answer.lower() in item.original.lower():
        return False
    # A page behind the hidden one has the answer. The question must not lead there on its own.
    behind = [page for page in item.context if page != meant and item.answer.lower() in page.text.lower()]
    return any(page in hits or any(spread[word] == 1 for word in asked & article_words(page)) for page in behind)


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
