"""StrategyQA: yes/no questions whose steps are implicit; the articles are the evidence paragraphs of one annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from askgate_env.types import Article

from ...core.errors import BadInput
from .articles import ArticleQuestion, Support, article_tokens, bare_title, reads_well, shorten, split_sentences

MOST_ARTICLES = 4
_NOT_PARAGRAPHS = frozenset({"operation", "no_evidence"})


class StrategyRecord(Struct, frozen=True):
    """A record of the official questions file."""

    qid: str
    term: str
    description: str
    question: str
    answer: bool
    facts: tuple[str, ...]
    decomposition: tuple[str, ...]
    evidence: tuple[Any, ...]
    """One entry per annotator, in it one per step: paragraph ids in nested lists, or `operation` or `no_evidence`."""


class Paragraph(Struct, frozen=True):
    """A record of the official paragraphs file."""

    title: str
    content: str
    para_index: int


def read(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> ArticleQuestion | None:
    """`None` where no annotator found a paragraph, the record has no facts, or the question does not read well.

    `where` is for error messages.
    """
    facts = tuple(Support("", _sentence(fact)) for fact in record.facts if fact.strip())
    question = " ".join(record.question.split())
    gold = _evidence_articles(record, paragraphs, where)
    if not gold or not facts or not reads_well(question):
        return None
    term = bare_title(record.term.strip()).lower()
    gold = tuple(sorted(gold, key=lambda article: bare_title(article.title).lower() != term))[:MOST_ARTICLES]
    return ArticleQuestion(
        task="strategyqa",
        source_id=f"strategyqa:{record.qid}",
        question=question,
        answer="yes" if record.answer else "no",
        gold=gold,
        support=facts,
        others=(),
    )


def _sentence(fact: str) -> str:
    """A fact as a sentence: annotators leave out full stops."""
    flat = " ".join(fact.split())
    return flat if flat.endswith((".", "?", "!", '"')) else f"{flat}."


def _evidence_articles(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> tuple[Article, ...]:
    """The evidence of the annotator with evidence for the most steps; among equals, the shorter text."""
    choices: list[tuple[int, int, tuple[Article, ...]]] = []
    for annotator in record.evidence:
        ids = list(dict.fromkeys(_paragraph_ids(annotator)))
        missing = [one for one in ids if one not in paragraphs]
        if missing:
            raise BadInput(
                f"evidence: paragraph {missing[0]!r} is in no paragraphs file",
                where=where,
                remedy="put the paragraphs file of the same release beside the questions",
            )
        steps = annotator if isinstance(annotator, list) else []
        backed = sum(any(True for _ in _paragraph_ids(step)) for step in steps)
        articles = _articles([paragraphs[one] for one in ids])
        if articles:
            choices.append((-backed, sum(map(article_tokens, articles)), articles))
    return min(choices, key=lambda choice: choice[:2])[2] if choices else ()


def _paragraph_ids(evidence: Any) -> Iterator[str]:
    if isinstance(evidence, str):
        if evidence not in _NOT_PARAGRAPHS:
            yield evidence
    elif isinstance(evidence, list | tuple):
        for part in evidence:
            yield from _paragraph_ids(part)


def _articles(paragraphs: list[Paragraph]) -> tuple[Article, ...]:
    """Articles of paragraphs: those of one title are one article, in the order of the page."""
    pages: dict[str, list[Paragraph]] = {}
    for paragraph in paragraphs:
        pages.setdefault(paragraph.title, []).append(paragraph)
    articles: list[Article] = []
    for title, parts in pages.items():
        parts.sort(key=lambda part: part.para_index)
        text = tuple(sentence for part in parts for sentence in split_sentences(part.content))
        if text:
            articles.append(shorten(Article(title, text)))
    return tuple(articles)
