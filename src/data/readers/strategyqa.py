"""StrategyQA: yes/no questions whose steps are implicit; the articles are the evidence paragraphs of one annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import BadInput
from ...core.types import Article
from .articles import ArticleQuestion, Support, article_kind, article_tokens, shorten, split_sentences
from .decisive import reached
from .mentions import Mention, bare_title, find_mention, kind_from_phrase

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
    """`None` where no annotator found a paragraph, or the record has no facts. `where` is for error messages."""
    facts = tuple(Support("", _sentence(fact)) for fact in record.facts if fact.strip())
    question = " ".join(record.question.split())
    gold = _evidence_articles(record, paragraphs, where)
    if not gold or not facts or not question:
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
        mentions=_mentions(record, question, term, gold),
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


def lead_articles(paragraphs: Iterable[Paragraph]) -> tuple[Article, ...]:
    """Articles of the first paragraphs of pages, which say what a page is about."""
    return tuple(_articles([one for one in paragraphs if one.para_index <= 1]))


def _mentions(record: StrategyRecord, question: str, term: str, gold: tuple[Article, ...]) -> tuple[Mention, ...]:
    """Mentions of the articles, those on which the answer depends first.

    The kind of the term comes from its description, that of others from their text.
    """
    kind = kind_from_phrase(record.description)
    found: list[Mention] = []
    for article in gold:
        its_kind = kind if bare_title(article.title).lower() == term else article_kind(article)
        mention = find_mention(question, article.title, its_kind, any_case=True) if its_kind else None
        if mention is not None:
            limit = reached(article, record.decomposition, record.facts, mention.span)
            found.append(replace(mention, limit=limit))
    return tuple(sorted(found, key=lambda mention: mention.limit is None))
