"""Questions over articles: HotpotQA and StrategyQA records become `ArticleQuestion`s.

HotpotQA, distractor setting, has two supporting articles among ten. StrategyQA has yes/no questions whose steps are
implicit; its articles are the evidence paragraphs of one annotator.

Nothing in a question is corrected. One with an obvious error is not used (`reads_well`), and well-written ones are used
first (`QuestionStyle`): those without a slip (a word that neither the articles nor another question has, a countable
noun without an article, a slip of `templates/lexicon/english.yaml`), that are not long and start as questions do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import Any

from msgspec import Struct, field

from askgate_env.tokenize import tokens, words
from askgate_env.tools import SHOWN
from askgate_env.types import Article, Task

from ...core.errors import BadInput
from ..difficulty.text_features import content_words, pattern, word_set

YES_NO = frozenset({"yes", "no"})
ARTICLE_TOKENS = 300
"""Longer articles lose their last sentences, so that a dialogue that opens four of them stays within bounds."""
QUERY_WORDS = 3
LONGEST_SENTENCE = 45
_NOT_FIRST = word_set("not_first_alone")
_BRACKETED_END = re.compile(r"\s*\([^()]*\)$")
_SLIPS = pattern("question_slips")
_DATES = re.compile(r"\((?:born )?[A-Za-z0-9 ,–-]*\d{4}[A-Za-z0-9 ,–-]*\)")
_UNSPEAKABLE = re.compile(r"[()\[\]/;{}<>]|[^\x00-\x7f–—“”‘’\u00c0-\u017f]")
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"”’']?\s+(?=[\"“‘'$(]?[A-Z0-9])")
_ABBREVIATION = pattern("ends_in_abbreviation")


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
    return len(tokens(article.title)) + sum(map(_sentence_tokens, article.sentences))


@lru_cache(maxsize=262_144)
def _sentence_tokens(sentence: str) -> int:
    return len(tokens(sentence))


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
        size = _sentence_tokens(sentence)
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
    to, no foreign letters or marks of an encyclopedia, dates in brackets excepted."""
    first = words(sentence)[:1]
    if not first or first[0] in _NOT_FIRST or not sentence[0].isupper() or not sentence.endswith("."):
        return False
    return len(tokens(sentence)) <= LONGEST_SENTENCE and not _UNSPEAKABLE.search(_DATES.sub("", sentence))


def titles_and_words(context: Sequence[Article]) -> list[tuple[str, frozenset[str]]]:
    return [(page.title, article_words(page)) for page in context]


def search_query(pages: list[tuple[str, frozenset[str]]], article: Article, question: ArticleQuestion) -> str:
    """Words whose search result among the pages shows the article; empty if there are none.

    They come from the question, else from the other supporting articles: a reader knows no more. So few articles have
    any of the words that the search shows all of them.
    """
    facts = (fact.sentence for fact in question.support if fact.title not in ("", article.title))
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
    return tuple(word for word in content_words(text) if word in here)


# --- HotpotQA ---


class HotpotRecord(Struct, frozen=True):
    """A record of the official files. Test files without `answer` are not read."""

    id: str = field(name="_id")
    question: str
    answer: str
    supporting_facts: tuple[tuple[str, int], ...]
    context: tuple[tuple[str, tuple[str, ...]], ...]


def read_hotpotqa(record: HotpotRecord) -> ArticleQuestion | None:
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


# --- StrategyQA ---

MAX_ARTICLES = 4
_NOT_PARAGRAPHS = frozenset({"operation", "no_evidence"})


class StrategyRecord(Struct, frozen=True):
    """A record of the official questions file."""

    qid: str
    term: str
    question: str
    answer: bool
    facts: tuple[str, ...]
    evidence: tuple[Any, ...]
    """One entry per annotator, in it one per step: paragraph ids in nested lists, or `operation` or `no_evidence`."""


class Paragraph(Struct, frozen=True):
    """A record of the official paragraphs file."""

    title: str
    content: str
    para_index: int


def read_strategyqa(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> ArticleQuestion | None:
    """`None` where no annotator found a paragraph, the record has no facts, or the question does not read well.

    `where` is for error messages.
    """
    facts = tuple(Support("", _fact_sentence(fact)) for fact in record.facts if fact.strip())
    question = " ".join(record.question.split())
    gold = _evidence_articles(record, paragraphs, where)
    if not gold or not facts or not reads_well(question):
        return None
    term = bare_title(record.term.strip()).lower()
    gold = tuple(sorted(gold, key=lambda article: bare_title(article.title).lower() != term))[:MAX_ARTICLES]
    return ArticleQuestion(
        task="strategyqa",
        source_id=f"strategyqa:{record.qid}",
        question=question,
        answer="yes" if record.answer else "no",
        gold=gold,
        support=facts,
        others=(),
    )


def _fact_sentence(fact: str) -> str:
    """A fact as a sentence: annotators leave out full stops."""
    flat = " ".join(fact.split())
    return flat if flat.endswith((".", "?", "!", '"')) else f"{flat}."


def _evidence_articles(record: StrategyRecord, paragraphs: Mapping[str, Paragraph], where: str) -> tuple[Article, ...]:
    """The evidence of the annotator with evidence for the most steps; among equals, the shorter text."""
    choices: list[tuple[int, list[str]]] = []
    for annotator in record.evidence:
        ids = list(dict.fromkeys(_paragraph_ids(annotator)))
        missing = [one for one in ids if one not in paragraphs]
        if missing:
            remedy = "put the paragraphs file of the same release beside the questions"
            raise BadInput(f"evidence: paragraph {missing[0]!r} is in no paragraphs file", where=where, remedy=remedy)
        steps = annotator if isinstance(annotator, list) else []
        backed = sum(any(True for _ in _paragraph_ids(step)) for step in steps)
        choices.append((backed, ids))
    for most in sorted({backed for backed, _ in choices}, reverse=True):
        pages = [_pages_of([paragraphs[one] for one in ids]) for backed, ids in choices if backed == most]
        if found := list(filter(None, pages)):
            return min(found, key=lambda articles: sum(map(article_tokens, articles))) if len(found) > 1 else found[0]
    return ()


def _paragraph_ids(evidence: Any) -> Iterator[str]:
    if isinstance(evidence, str):
        if evidence not in _NOT_PARAGRAPHS:
            yield evidence
    elif isinstance(evidence, list | tuple):
        for part in evidence:
            yield from _paragraph_ids(part)


def _pages_of(paragraphs: list[Paragraph]) -> tuple[Article, ...]:
    """Articles of paragraphs: those of one title are one article, in the order of the page."""
    pages: dict[str, list[Paragraph]] = {}
    for paragraph in paragraphs:
        pages.setdefault(paragraph.title, []).append(paragraph)
    articles = []
    for title, parts in pages.items():
        ordered = sorted(parts, key=lambda part: part.para_index)
        if text := tuple(sentence for part in ordered for sentence in split_sentences(part.content)):
            articles.append(shorten(Article(title, text)))
    return tuple(articles)


# --- How well a question is written ---

LONGEST_PLAIN = 24
"""Words of a question that is still easy to read."""
MIN_COUNTED = 3
COUNTED_SHARE = 0.06
"""Share of a word's uses that come right after `a` or `an`, from which it is a countable noun."""
_STARTS = pattern("question_starts")
_LOWER_WORD = re.compile(r"(?<![\w'’-])[a-z]{3,}(?![\w'’-])")
_LETTERS_ONLY = bytes(code if chr(code).islower() and code < 128 else 32 for code in range(256))
_COUNTED = re.compile(r"\ban? ([a-z]+)\b")
_NOUN_END = re.compile(r"[^\W\d_][\w.’'-]*|\d[\w,]*|[^\w\s]")
_DETERMINERS = word_set("determiners")
_AFTER_NOUN = word_set("after_noun")
_STYLE_SLIPS = pattern("style_slips")


class QuestionStyle:
    """Measures questions against all texts of their dataset."""

    def __init__(self, questions: Sequence[str], articles: Iterable[str]) -> None:
        text = "\n".join(articles)
        self.asked = Counter(word for question in questions for word in set(_LOWER_WORD.findall(question)))
        letters = text.lower().encode().translate(_LETTERS_ONLY).split()  # like [a-z]+, and three times as fast
        self.known = Counter({word.decode(): count for word, count in Counter(letters).items()})
        self.counted = Counter(_COUNTED.findall(text))

    def faults(self, question: str) -> tuple[bool, int]:
        """Whether a question has a slip, and how many things make it hard to read."""
        unknown = any(not self.known[word] and self.asked[word] < 2 for word in _LOWER_WORD.findall(question))
        has_slip = unknown or self._has_bare_noun(question) or bool(_STYLE_SLIPS.search(question))
        return has_slip, (len(question.split()) > LONGEST_PLAIN) + (not _STARTS.match(question))

    def _has_bare_noun(self, question: str) -> bool:
        """Whether none of the three words before a countable noun in the singular is a determiner."""
        parts = [*_NOUN_END.findall(question), "?"]
        for at, word in enumerate(parts[1:-1], start=1):
            ends = at == 1 or parts[at + 1] in _AFTER_NOUN or not parts[at + 1][0].isalnum()
            counted = self.counted[word]
            is_countable = counted >= MIN_COUNTED and counted >= COUNTED_SHARE * self.known[word]
            is_noun = ends and word.islower() and is_countable
            if is_noun and not any(map(_determines, parts[max(0, at - 3) : at])):
                return True
        return False


def _determines(word: str) -> bool:
    return word.lower() in _DETERMINERS or word[0].isdigit() or word.endswith(("'s", "’s", "s'"))
