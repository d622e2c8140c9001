"""From an `ArticleQuestion` to an `Item` of the level asked for: which articles, which clue, which steps.

The question stays as its author wrote it. HotpotQA and StrategyQA name what they mean, so their items are complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from msgspec import Struct

from askgate_env.tokenize import words
from askgate_env.types import Article, Level

from ..difficulty.text_features import FUNCTION_WORDS, content_words, lexicon
from ..pool.source import Item, Step, Want, calls_wanted, effective_want
from .articles import (
    YES_NO,
    ArticleQuestion,
    Support,
    article_tokens,
    bare_title,
    search_query,
    stands_alone,
    titles_and_words,
)
from .level_fit import choose_clue, nearest_item

_CONTEXT_TOKENS: dict[Level, tuple[int, ...]] = {"easy": (0, 260, 420), "medium": (330, 520, 800), "hard": (900, 1500)}
"""Sizes of the context that are tried; distractors fill it up."""


REPEATED = 6
"""Number of words in a row from which a sentence before the question repeats it."""
_LEAD = {name: re.compile("|".join(parts)) for name, parts in lexicon("english")["leads"].items()}


class _Path(Struct, frozen=True):
    """A way to the answer: what is restated, which articles are opened, and how many searches there are."""

    clue: str
    opened: tuple[Article, ...]
    searches: int = 1
    """Number of articles that are opened after a search for them."""


def make_item(record: ArticleQuestion, want: Want, seed: int, spares: Sequence[Article]) -> Item | None:
    """The item nearest to the level asked for; `None` where none fits in the turns. `spares` are articles of other
    records."""
    want = effective_want(want, record.source_id)
    rng = Random(f"{seed}:{record.source_id}")
    others = list(record.others)
    rng.shuffle(others)
    taken = {article.title for article in (*record.gold, *others)}
    drawn = rng.sample(spares, min(40, len(spares)))
    distractors = (*others, *[article for article in drawn if article.title not in taken][:12])
    order = list(range(len(record.gold) + len(distractors)))
    rng.shuffle(order)
    contexts = [_context(record, distractors, size, order) for size in _CONTEXT_TOKENS[want.level]]
    worded = [(one, titles_and_words(one)) for one in contexts]
    return nearest_item((_assemble(record, path, *one) for path in _paths(record, want) for one in worded), want)


def _paths(record: ArticleQuestion, want: Want) -> Iterator[_Path]:
    """Ways to the answer for a level, the preferred ones first. A search comes first in all of them."""
    gold = record.gold
    budget = want.max_turns - 1
    if want.level == "easy":
        for page in gold:
            # With a clue about the rest, the answer must follow from this page.
            answers = record.offers_answer or record.answer.lower() in f"{page.title} {page.text}".lower()
            if answers and (clue := _clue(record, opened=(page,), paraphrase=want.paraphrase)):
                yield _Path(clue, (page,))
        yield _Path(_clue(record, opened=gold[:2], paraphrase=want.paraphrase), gold[:2])
    elif want.level == "medium":
        yield _Path("", gold[:2], searches=_searches(int(min(calls_wanted(want), budget)), gold[:2]))
        yield _Path("", gold[:3])
        yield _Path(_clue(record, opened=gold[:2], paraphrase=1.0), gold[:2])
    else:
        for pages in (gold[:2], gold[:3], gold):
            calls = min(budget, max(len(pages) + 1, want.tool_hops))
            if calls > len(pages):
                yield _Path("", pages, searches=_searches(calls, pages))


def _searches(calls: int, pages: Sequence[Article]) -> int:
    """Number of calls that are left for searching, at most one before each page."""
    return min(max(calls - len(pages), 1), len(pages))


def _clue(record: ArticleQuestion, opened: tuple[Article, ...], paraphrase: float) -> str:
    """Whole supporting sentences that do not give the answer away; empty if there are none.

    Every supporting article that is not opened must be covered, because the answer has to follow.
    """
    uncovered = {fact.title for fact in record.support if fact.title} - {article.title for article in opened}
    allowed = [fact for fact in record.support if _may_restate(record, fact)]

    def fits(chosen: tuple[int, ...]) -> bool:
        covered = {allowed[index].title for index in chosen}
        starts = {tuple(words(allowed[index].sentence)[:2]) for index in chosen}
        return uncovered <= covered and len(starts) == len(chosen) < max(2, len(record.support))

    support = [fact.sentence for fact in record.support]
    chosen = choose_clue([fact.sentence for fact in allowed], record.question, support, paraphrase, fits)
    return " ".join(allowed[index].sentence for index in chosen) if chosen else ""


def _may_restate(record: ArticleQuestion, fact: Support) -> bool:
    """Whether a user could say the sentence before the question: it names what it is about, has to do with the
    question, does not repeat it and is not the answer, nor a denial before a yes/no question."""
    said, asked = words(fact.sentence), words(record.question)
    title = {word for word in words(bare_title(fact.title)) if len(word) > 3}
    if not stands_alone(fact.sentence) or _LEAD["flawed"].search(fact.sentence) or not title <= set(said):
        return False
    shared = _names(fact.sentence) & _names(record.question)
    if not shared and (fact.title or _LEAD["unnamed"].match(fact.sentence)):
        return False
    if not set(content_words(fact.sentence)) & set(content_words(record.question)):
        return False
    if not set(zip(*(said[at:] for at in range(REPEATED)), strict=False)).isdisjoint(
        zip(*(asked[at:] for at in range(REPEATED)), strict=False)
    ):
        return False
    if record.answer.lower() in YES_NO:
        return _LEAD["denies"].search(fact.sentence) is None
    if record.offers_answer:  # `Which is a tree, the ash or the fern?` is answered by a sentence about one of them
        return _LEAD["compares"].search(record.question) is not None
    return not set(words(record.answer)) <= set(said)


def _names(text: str) -> set[str]:
    """Capitalised words of a text, adjectives such as `Greek` and the first words of questions aside."""
    return {word for word in _LEAD["name"].findall(text) if word.lower() not in FUNCTION_WORDS}


def _assemble(
    record: ArticleQuestion, path: _Path, context: tuple[Article, ...], pages: list[tuple[str, frozenset[str]]]
) -> Item:
    steps: list[Step] = []
    for number, article in enumerate(path.opened):
        query = search_query(pages, article, record) if number < path.searches else ""
        if query:
            steps.append(Step("wiki", query))
        steps.append(Step("wiki", article.title))
    return Item(
        task=record.task,
        lang="en",
        source_id=record.source_id,
        clue=path.clue,
        question=record.question,
        original=record.question,
        context=context,
        support=tuple(fact.sentence for fact in record.support),
        answer=record.answer,
        steps=tuple(steps),
    )


def _context(
    record: ArticleQuestion, distractors: Sequence[Article], size: int, order: Sequence[int]
) -> tuple[Article, ...]:
    """The supporting articles and distractors up to `size` tokens, in random order."""
    chosen = list(record.gold)
    used = sum(map(article_tokens, chosen))
    for article in distractors:
        if article not in chosen and used + article_tokens(article) <= size:
            chosen.append(article)
            used += article_tokens(article)
    return tuple(article for _, article in sorted(zip(order, chosen, strict=False), key=lambda pair: pair[0]))
