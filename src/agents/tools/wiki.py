"""The `wiki` tool over a sample's own articles: a title returns the article, other words return search results.

A name that two articles share is the title of neither, so looking it up returns both: that is how a policy learns that
a question is ambiguous.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ...core.tokenize import words
from ...core.types import Article

SHOWN = 3


def wiki(articles: Sequence[Article], query: str) -> str:
    """The article of that title, else up to three hits with their first sentences, else `nothing found`."""
    wanted = query.strip()
    for article in articles:
        if article.title == wanted:
            return f"{article.title}: {article.text}"
    hits = search(articles, wanted)[:SHOWN]
    if not hits:
        return "nothing found"
    return "\n".join(f"{number}. {hit.title}: {hit.sentences[0]}" for number, hit in enumerate(hits, 1))


def search(articles: Sequence[Article], query: str) -> list[Article]:
    """Articles that share a word with the query, best first: rare words count more, words of the title three times."""
    asked = set(words(query))
    if not asked:
        return []
    titles = [set(words(article.title)) for article in articles]
    bodies = [set(words(article.text)) for article in articles]
    seen = Counter(word for title, body in zip(titles, bodies, strict=True) for word in asked & (title | body))
    rarity = {word: math.log(1 + len(articles) / count) for word, count in seen.items()}
    scored = [
        (
            math.fsum(rarity[word] for word in asked & body) + 3 * math.fsum(rarity[word] for word in asked & title),
            place,
        )
        for place, (title, body) in enumerate(zip(titles, bodies, strict=True))
    ]
    ranked = sorted(((-score, place) for score, place in scored if score > 0))
    return [articles[place] for _, place in ranked]
