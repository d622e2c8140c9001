"""What searching an item's articles finds: words that lead to one, and whether a hidden one gives itself away."""

from __future__ import annotations

from ...agents.tools.wiki import SHOWN, search
from ...core.tokenize import words
from ...core.types import Article
from ..difficulty.words import FUNCTION_WORDS
from ..pool.source import Item
from .reading import Reading, article_words
from .vague import names_of

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
