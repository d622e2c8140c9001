"""Questions over articles, whatever dataset they come from: HotpotQA and StrategyQA records become `ArticleQuestion`s.

Also which sentences a user could say, and queries that find an article.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from askgate_env.tokenize import tokens, words
from askgate_env.tools import SHOWN
from askgate_env.types import Article, Task

from ..difficulty.text_features import FUNCTION_WORDS, lexicon, word_set

YES_NO = frozenset({"yes", "no"})
ARTICLE_TOKENS = 300
"""Longer articles lose their last sentences, so that a dialogue that opens four of them stays within bounds."""
QUERY_WORDS = 3
LONGEST_SENTENCE = 45
_NOT_FIRST = frozenset(word.lower() for word in word_set("pronoun_starts")) | frozenset(
    "this that these those such other another on also however although though while but and or so then thus hence "
    "therefore additionally furthermore moreover meanwhile instead nevertheless both each some many most several "
    "afterwards later since because if when where after before during following unlike like despite for its".split()
)
_BRACKETED_END = re.compile(r"\s*\([^()]*\)$")
_SLIPS = re.compile("|".join(lexicon("english")["question_slips"]))
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

    @property
    def offers_answer(self) -> bool:
        """Whether the question itself offers the answer, so that seeing it gives nothing away."""
        return self.answer.lower() in YES_NO or self.answer.lower() in self.question.lower()


@lru_cache(maxsize=65536)
def article_tokens(article: Article) -> int:
    return len(tokens(article.title)) + len(tokens(article.text))


@lru_cache(maxsize=65536)
def article_words(article: Article) -> frozenset[str]:
    return frozenset(words(article.title)) | frozenset(words(article.text))


def bare_title(title: str) -> str:
    """`The Prestige (film)` -> `The Prestige`."""
    return _BRACKETED_END.sub("", title)


def reads_well(question: str) -> bool:
    """Whether a question is a question and has none of the slips that crowd workers make again and again.

    >>> reads_well("Which ground force did the general joined?"), reads_well("Which ground force did he join?")
    (False, True)
    """
    return question.endswith("?") and _SLIPS.search(question) is None


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


@lru_cache(maxsize=4096)
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


def search_query(context: tuple[Article, ...], article: Article, question: ArticleQuestion) -> str:
    """Words whose search result shows the article; empty if there are none.

    They come from the question, else from the other supporting articles: a reader knows no more. So few articles have
    any of the words that the search shows all of them.
    """
    facts = (fact.sentence for fact in question.support if fact.title not in ("", article.title))
    pages = [(page.title, article_words(page)) for page in context]
    for text in (question.question, " ".join(facts)):
        useful = _telling_words(text, article)
        reach = {word: frozenset(title for title, its_words in pages if word in its_words) for word in useful}
        query: list[str] = []
        found: frozenset[str] = frozenset()
        for word in sorted(useful, key=lambda word: len(reach[word])):
            if len(found | reach[word]) <= SHOWN and len(query) < QUERY_WORDS:
                query.append(word)
                found |= reach[word]
        found_by = " ".join(sorted(query, key=useful.index))
        if found_by and all(found_by != title for title, _ in pages):
            return found_by
    return ""


@lru_cache(maxsize=256)
def _telling_words(text: str, article: Article) -> tuple[str, ...]:
    """Different words of a text that the article has too, function words and very short ones aside."""
    here = article_words(article)
    both = (word for word in dict.fromkeys(words(text)) if word in here)
    return tuple(word for word in both if word not in FUNCTION_WORDS and len(word) > 2)
