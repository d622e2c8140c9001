"""HotpotQA, distractor setting: two supporting articles among ten."""

from __future__ import annotations

import re
from html import unescape

from msgspec import Struct, field

from askgate_env.types import Article

from .articles import YES_NO, ArticleQuestion, Support, reads_well, shorten


class HotpotRecord(Struct, frozen=True):
    """A record of the official files. Test files without `answer` are not read."""

    id: str = field(name="_id")
    question: str
    answer: str
    supporting_facts: tuple[tuple[str, int], ...]
    context: tuple[tuple[str, tuple[str, ...]], ...]


def read(record: HotpotRecord) -> ArticleQuestion | None:
    """`None` where the question does not read well, or a supporting sentence is not in the context, so that the answer
    could not be shown to follow."""
    raw = {unescape(title): tuple(unescape(text).strip() for text in page) for title, page in record.context}
    support: list[Support] = []
    for escaped, index in record.supporting_facts:
        title = unescape(escaped)
        if title not in raw or not 0 <= index < len(raw[title]) or not raw[title][index]:
            return None
        support.append(Support(title, raw[title][index]))
    titles = list(dict.fromkeys(fact.title for fact in support))
    question = re.sub(r" +(?=[?,.])", "", " ".join(unescape(record.question).split()))
    if question and question[-1] not in "?.!":
        question += "?"
    question = question[:1].upper() + question[1:]
    if not reads_well(question) or not record.answer.strip() or len(titles) < 2:
        return None
    needed = frozenset(fact.sentence for fact in support)
    pages = {title: tuple(filter(None, page)) for title, page in raw.items()}
    articles = {title: shorten(Article(title, page), needed) for title, page in pages.items() if page}
    gold = _in_reading_order([articles[title] for title in titles], question, record.answer)
    return ArticleQuestion(
        task="hotpotqa",
        source_id=f"hotpotqa:{record.id}",
        question=question,
        answer=record.answer.strip(),
        gold=gold,
        support=tuple(support),
        others=tuple(article for title, article in articles.items() if title not in titles),
    )


def _in_reading_order(gold: list[Article], question: str, answer: str) -> tuple[Article, ...]:
    """Articles that the question names first, the one with the answer last."""
    spans = answer.lower() not in YES_NO

    def order(article: Article) -> tuple[bool, int]:
        named = question.find(article.title)
        has_answer = spans and answer in article.text and named < 0
        return has_answer, named if named >= 0 else len(question)

    return tuple(sorted(gold, key=order))
