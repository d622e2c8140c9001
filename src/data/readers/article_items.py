"""From an `ArticleQuestion` to an `Item` of the level asked for: which articles, which clue, which steps.

In the modes `hidden` and `twin` a record has the same wording. They differ only in the article that the user says they
were reading, so no word of the prompt gives away that something is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

import msgspec
from msgspec import Struct

from ...core.tokenize import words
from ...core.types import Article, Hidden, Level, join_sentences
from ..difficulty.text_features import FUNCTION_WORDS, lexicon
from ..pool.source import Item, Step, Want, calls_wanted, followed
from .articles import (
    ArticleQuestion,
    Mode,
    SpareArticles,
    article_kind,
    article_tokens,
    definition_nouns,
    hidden_article_is_findable,
    search_query,
    stands_alone,
)
from .level_fit import choose_clue, nearest_item
from .mentions import Mention, bare_title, names_of, shares_name

RIVALS = 2
"""Number of other articles of the same noun that a vague question comes with."""
_CONTEXT_TOKENS: dict[Level, tuple[int, ...]] = {"easy": (0, 260, 420), "medium": (330, 520, 800), "hard": (900, 1500)}
"""Sizes of the context that are tried; distractors fill it up."""
_CATEGORY_WORDS: dict[str, str] = lexicon("english")["category_words"]


class _Path(Struct, frozen=True):
    """A way to the answer: what is restated, which articles are opened, and how many searches there are."""

    clue: str
    opened: tuple[Article, ...]
    searches: int = 0
    """Number of articles that are opened after a search for them."""


class _Setting(Struct, frozen=True):
    """The parts of an item that all paths share."""

    record: ArticleQuestion
    mention: Mention | None
    hides: bool
    question: str
    topic: Article
    distractors: tuple[Article, ...]
    rivals: tuple[Article, ...] = ()
    """Articles of the same noun as the mention: what else a vague question may mean."""
    premise: str = ""


def make_item(record: ArticleQuestion, mode: Mode, want: Want, seed: int, spares: SpareArticles) -> Item | None:
    """The item nearest to the level asked for; `None` where the record cannot be worded in this mode."""
    want = followed(want, record.source_id)
    rng = Random(f"{seed}:{record.source_id}")
    setting = _setting(record, mode, rng, spares)
    if setting is None:
        return None
    if record.task == "strategyqa" and want.level == "hard":
        setting = msgspec.structs.replace(setting, premise=_quotation(setting.topic))
    order = list(range(len(record.gold) + len(setting.rivals) + len(setting.distractors) + 1))
    rng.shuffle(order)
    sizes = _CONTEXT_TOKENS[want.level]
    items = (_assemble(setting, path, size, order) for path in _paths(setting, want) for size in sizes)
    return nearest_item((item for item in items if item.hidden is None or not hidden_article_is_findable(item)), want)


def _quotation(article: Article) -> str:
    """A sentence that the user repeats from the page that they were reading; empty if none stands alone.

    StrategyQA's short questions are hard only with it: it names more things, whether or not they matter.
    """
    return next((sentence for sentence in article.sentences[:3] if stands_alone(sentence)), "")


def _setting(record: ArticleQuestion, mode: Mode, rng: Random, spares: SpareArticles) -> _Setting | None:
    others = list(record.others)
    rng.shuffle(others)
    taken = {article.title for article in (*record.gold, *others)}
    drawn = rng.sample(spares.distractors, min(40, len(spares.distractors)))
    foreign = [article for article in drawn if article.title not in taken]
    distractors = (*others, *foreign[:12])
    if mode == "intact":
        topic = rng.choice(record.gold)
        return _Setting(record, None, False, record.question, topic, distractors)
    if not record.mentions:
        return None
    mention = record.mentions[0]
    same_noun = list(spares.by_noun.get(mention.kind.noun, ()))
    rng.shuffle(same_noun)
    rivals = _rivals(record, mention, [*others, *same_noun], mode)
    if len(rivals) < RIVALS:
        return None
    if mode == "twin":
        referent = next(article for article in record.gold if article.title == mention.title)
        return _Setting(record, mention, False, mention.blurred, referent, distractors, rivals)
    related = _related_article(record, mention, others)
    return None if related is None else _Setting(record, mention, True, mention.blurred, related, distractors, rivals)


def _rivals(record: ArticleQuestion, mention: Mention, articles: Iterable[Article], mode: Mode) -> tuple[Article, ...]:
    """Articles of the mention's noun that the question does not name and that do not have the answer.

    Where the mention has a limit, the first of them leads to another answer. A hidden mention must have one.
    """
    limit = mention.limit
    if limit is None and mode == "hidden":
        return ()
    answer = "" if record.offers_answer else record.answer.lower()
    taken = {article.title for article in record.gold}
    found: list[Article] = []
    changing: list[Article] = []
    for article in articles:
        if article.title in taken or mention.kind.noun not in definition_nouns(article):
            continue
        if shares_name(mention.span, article.title) or shares_name(article.title, record.question):
            continue
        text = article.text.lower()
        if mention.span.lower() in text or (answer and answer in text):
            continue
        taken.add(article.title)
        found.append(article)
        if limit is not None and not changing and limit.changes_answer(article):
            changing.append(article)
        if len(found) >= RIVALS and (limit is None or changing):
            break
    if limit is not None:
        if not changing or (limit.measure == "clues" and shares_name(mention.span, record.answer)):
            return () if mode == "hidden" else tuple(found[:RIVALS])
        found = [*changing, *(article for article in found if article != changing[0])]
    return tuple(found[:RIVALS])


def _related_article(record: ArticleQuestion, mention: Mention, others: Sequence[Article]) -> Article | None:
    """An article that the user may have been reading and that plainly is not what is meant.

    Best is one that the question names too. The dataset's own distractors are about something near; any other article
    would be out of place.
    """
    limit = mention.limit
    named = [one for one in record.gold if one.title != mention.title and shares_name(one.title, mention.blurred)]
    if named and limit is not None and limit.measure != "clues":
        return named[0]
    asked = {word for word in words(mention.blurred) if word not in FUNCTION_WORDS} - {mention.kind.noun}
    near = [one for one in record.gold if one.title != mention.title] if record.task == "strategyqa" else others
    for article in near:
        kind = article_kind(article)
        if kind is not None and kind.category == mention.kind.category:
            continue
        if mention.kind.noun in words(article.title) or (kind is None and record.task == "hotpotqa"):
            continue
        if record.task == "hotpotqa" and asked.isdisjoint(words(article.text)):
            continue
        if not shares_name(mention.span, article.title) and mention.span.lower() not in article.text.lower():
            return article
    return None


def _paths(setting: _Setting, want: Want) -> Iterator[_Path]:
    """Ways to the answer for a level, the preferred ones first."""
    gold = setting.record.gold
    budget = want.max_turns - 2 - setting.hides  # a search comes first, and an ask after it
    if want.level == "easy":
        for page in _answering(setting):
            clue = _clue(setting, opened=(page,), paraphrase=want.paraphrase)
            if clue:
                yield _Path(clue, (page,))
        yield _Path(_clue(setting, opened=gold[:2], paraphrase=want.paraphrase), gold[:2])
    elif want.level == "medium":
        yield _Path("", gold[:2], searches=_searches(int(min(calls_wanted(want), budget)), gold[:2]))
        yield _Path("", gold[:3], searches=min(1, budget - min(len(gold), 3)))
        yield _Path(_clue(setting, opened=gold[:2], paraphrase=1.0), gold[:2])
    else:
        first = setting.mention is not None  # the search for the vague noun counts too
        calls = max(len(gold[:2]), min(budget, want.tool_hops - first))
        for pages in (gold[:2], gold[:3], gold):
            if calls >= len(pages):
                yield _Path("", pages, searches=_searches(calls, pages))


def _searches(calls: int, pages: Sequence[Article]) -> int:
    """Number of calls that are left for searching, at most one before each page."""
    return min(max(calls - len(pages), 0), len(pages))


def _answering(setting: _Setting) -> Iterator[Article]:
    """Articles from which, with a clue about the rest, the answer follows. A vague question opens what it means."""
    record = setting.record
    for article in record.gold:
        if setting.mention is not None and article.title != setting.mention.title:
            continue
        if record.offers_answer or record.answer.lower() in f"{article.title} {article.text}".lower():
            yield article


def _clue(setting: _Setting, opened: tuple[Article, ...], paraphrase: float) -> str:
    """Whole supporting sentences that neither name what is vague nor give the answer away; empty if there are none.

    Every supporting article that is not opened must be covered, because the answer has to follow.
    """
    record = setting.record
    uncovered = {fact.title for fact in record.support if fact.title} - {article.title for article in opened}
    allowed = [fact for fact in record.support if _may_restate(setting, fact.title, fact.sentence)]

    def fits(chosen: tuple[int, ...]) -> bool:
        covered = {allowed[index].title for index in chosen}
        return uncovered <= covered and len(chosen) < max(2, len(record.support))

    support = [fact.sentence for fact in record.support]
    chosen = choose_clue([fact.sentence for fact in allowed], setting.question, support, paraphrase, fits)
    return " ".join(allowed[index].sentence for index in chosen) if chosen else ""


def _may_restate(setting: _Setting, title: str, sentence: str) -> bool:
    record = setting.record
    if not stands_alone(sentence):
        return False
    if not record.offers_answer and record.answer.lower() in sentence.lower():
        return False
    if setting.mention is None:
        return True
    return title != setting.mention.title and not shares_name(setting.mention.span, sentence)


def _assemble(setting: _Setting, path: _Path, size: int, order: Sequence[int]) -> Item:
    record, mention = setting.record, setting.mention
    context = _context(setting, size, order)
    steps: list[Step] = []
    if mention is not None:
        steps.append(Step("wiki", mention.kind.noun))
    for number, article in enumerate(path.opened):
        # Everybody searches first: a first reply of another form would tell vague questions from others.
        query = search_query(context, article, record) if number < max(path.searches, mention is None) else ""
        if query:
            steps.append(Step("wiki", query))
        steps.append(Step("wiki", article.title))
    hidden = None
    if setting.hides and mention is not None:
        noun = mention.kind.noun
        hidden = Hidden(
            kind="subject" if record.task == "strategyqa" else "entity",
            span=mention.span,
            missing=f"which {noun} you mean",
            about=(noun, *_CATEGORY_WORDS[mention.kind.category].split()),
            readings=tuple(_readings(setting, mention, context)),
        )
    return Item(
        task=record.task,
        lang="en",
        source_id=record.source_id,
        premise=setting.premise,
        clue=path.clue,
        question=setting.question,
        original=join_sentences((setting.premise, record.question)),
        context=context,
        support=tuple(fact.sentence for fact in record.support),
        answer=record.answer,
        steps=tuple(steps),
        hidden=hidden,
        ask_after=int(setting.hides),
        topic=bare_title(setting.topic.title),
        ambiguity=("vague-reference",) if mention is not None else (),
    )


def _readings(setting: _Setting, mention: Mention, context: Sequence[Article]) -> Iterator[tuple[str, ...]]:
    """Names of the article that is meant, then those of others of the same kind that the question does not name."""
    yield (mention.span, *names_of(mention.title))
    for article in context:
        if mention.kind.noun in definition_nouns(article) and article not in (setting.topic, *setting.record.gold):
            yield names_of(article.title)


def _context(setting: _Setting, size: int, order: Sequence[int]) -> tuple[Article, ...]:
    """The supporting articles, what the user was reading, and distractors up to `size` tokens; in random order."""
    chosen = [*setting.record.gold, *setting.rivals]
    if setting.topic not in chosen:
        chosen.append(setting.topic)
    used = sum(map(article_tokens, chosen))
    for article in setting.distractors:
        if article not in chosen and used + article_tokens(article) <= size:
            chosen.append(article)
            used += article_tokens(article)
    ranked = sorted(zip(order, chosen, strict=False), key=lambda pair: pair[0])
    context = [article for _, article in ranked]
    if setting.mention is not None:
        # Articles that fit a search equally well come in their order; the one that is meant must not come first.
        places = sorted(context.index(rival) for rival in setting.rivals)
        meant = next(at for at, article in enumerate(context) if article.title == setting.mention.title)
        if meant < places[0]:
            context[meant], context[places[0]] = context[places[0]], context[meant]
    return tuple(context)
