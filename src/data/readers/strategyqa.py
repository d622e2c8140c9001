"""StrategyQA: yes/no questions whose steps are implicit; the articles are the evidence paragraphs of one annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ...core.errors import BadInput
from ...core.types import Article
from .articles import Reading, Support, article_kind, article_tokens, cut, split_sentences
from .mentions import Kind, Mention, bare_title, find_mention, kind_from_phrase

MOST_ARTICLES = 4
_MARKS = frozenset({"operation", "no_evidence"})


def source_id(record: StrategyRecord) -> str:
    return f"strategyqa:{record.qid}"


def read(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> Reading | None:
    """`None` where no annotator found a paragraph, or the record has no facts."""
    facts = tuple(Support("", _sentence(fact)) for fact in record.facts if fact.strip())
    question = " ".join(record.question.split())
    gold = _evidence_articles(record, paragraphs, where)
    if not gold or not facts or not question:
        return None
    term = record.term.strip()
    gold = tuple(sorted(gold, key=lambda article: bare_title(article.title).lower() != bare_title(term).lower()))
    return Reading(
        task="strategyqa",
        source_id=source_id(record),
        question=question,
        answer="yes" if record.answer else "no",
        gold=gold[:MOST_ARTICLES],
        support=facts,
        others=(),
        mentions=_mentions(question, term, kind_from_phrase(record.description), gold[:MOST_ARTICLES]),
    )


def _sentence(fact: str) -> str:
    """Annotators leave out full stops; a fact that is restated in a prompt is a sentence."""
    flat = " ".join(fact.split())
    return flat if flat.endswith((".", "?", "!", '"')) else f"{flat}."


def _evidence_articles(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> tuple[Article, ...]:
    """The evidence of the annotator who backed the most steps, the shorter text first among equals."""
    choices: list[tuple[int, int, tuple[Article, ...]]] = []
    for annotator in record.evidence:
        ids = list(dict.fromkeys(_ids(annotator)))
        missing = [one for one in ids if one not in paragraphs]
        if missing:
            raise BadInput(
                f"evidence: paragraph {missing[0]!r} is in no paragraphs file",
                where=where,
                remedy="put the paragraphs file of the same release beside the questions",
            )
        backed = sum(any(True for _ in _ids(step)) for step in annotator) if isinstance(annotator, list) else 0
        articles = _merged(paragraphs[one] for one in ids)
        if articles:
            choices.append((-backed, sum(map(article_tokens, articles)), articles))
    return min(choices, key=lambda choice: choice[:2])[2] if choices else ()


def _ids(evidence: Any) -> Iterator[str]:
    if isinstance(evidence, str):
        if evidence not in _MARKS:
            yield evidence
    elif isinstance(evidence, list | tuple):
        for part in evidence:
            yield from _ids(part)


def _merged(found: Iterator[Paragraph]) -> tuple[Article, ...]:
    """Paragraphs of one title are one article, in the order of the page."""
    pages: dict[str, list[Paragraph]] = {}
    for paragraph in found:
        pages.setdefault(paragraph.title, []).append(paragraph)
    articles: list[Article] = []
    for title, parts in pages.items():
        parts.sort(key=lambda part: part.para_index)
        text = tuple(sentence for part in parts for sentence in split_sentences(part.content))
        if text:
            articles.append(cut(Article(title, text)))
    return tuple(articles)


def _mentions(question: str, term: str, kind: Kind | None, gold: tuple[Article, ...]) -> tuple[Mention, ...]:
    """The term first, then other articles that the question names; only what is an article can be in reach."""
    found: list[Mention] = []
    for article in gold:
        is_term = bare_title(article.title).lower() == bare_title(term).lower()
        its_kind = kind if is_term else article_kind(article)
        mention = find_mention(question, article.title, its_kind, any_case=True) if its_kind else None
        if mention is not None:
            found.append(mention)
    return tuple(found)


class StrategyRecord(Struct, frozen=True):
    qid: str
    term: str
    description: str
    question: str
    answer: bool
    facts: tuple[str, ...]
    decomposition: tuple[str, ...]
    evidence: tuple[Any, ...]
    """One entry an annotator, in it one a step: lists of paragraph ids beside the words `operation`, `no_evidence`."""


class Paragraph(Struct, frozen=True):
    title: str
    content: str
    para_index: int
