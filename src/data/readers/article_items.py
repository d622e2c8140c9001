"""From an `ArticleQuestion` to an `Item` of the level asked for: which articles, which clue, which steps.

In the modes `hidden` and `twin` a record has the same wording. They differ only in the article that the user says they
were reading, so no word of the prompt gives away that something is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random

import msgspec
from msgspec import Struct

from ...core.tokenize import tokens, words
from ...core.types import Article, Hidden, Level, join_sentences
from ..difficulty.text_features import lexicon, word_set
from ..pool.source import Item, Step, Want, calls_wanted, followed
from .articles import (
    YES_NO,
    ArticleQuestion,
    Mode,
    SpareArticle,
    article_kind,
    article_tokens,
    hidden_article_is_findable,
    search_query,
)
from .level_fit import choose_clue, nearest_item
from .mentions import Mention, names_of, shares_name

PREMISE_TOKENS = 45
RIVALS = 2
"""Number of other articles of the same noun that a vague question comes with."""
_CONTEXT_TOKENS: dict[Level, tuple[int, ...]] = {"easy": (0, 260, 420), "medium": (330, 520, 800), "hard": (900, 1500)}
"""Sizes of the context that are tried; distractors fill it up."""
_PRONOUN_STARTS = word_set("pronoun_starts")
_CATEGORY_WORDS: dict[str, str] = lexicon("english")["category_words"]


class _Path(Struct, frozen=True):
    """A way to the answer: what is restated, which articles are opened, and how many searches there are."""

    clue: str
    opened: tuple[Article, ...]
    searches: int = 0
    """Number of articles that are opened after a search for them."""
    open_topic: bool = False
    """Whether the article that the user was reading is opened first, before the ask if there is one."""


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


def make_item(
    record: ArticleQuestion, mode: Mode, want: Want, seed: int, spares: Sequence[SpareArticle]
) -> Item | None:
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
    for sentence in article.sentences[:3]:
        if sentence.split()[0] not in _PRONOUN_STARTS and len(tokens(sentence)) <= PREMISE_TOKENS:
            return sentence
    return ""


def _setting(record: ArticleQuestion, mode: Mode, rng: Random, spares: Sequence[SpareArticle]) -> _Setting | None:
    others = list(record.others)
    rng.shuffle(others)
    taken = {article.title for article in (*record.gold, *others)}
    foreign = [spare for spare in rng.sample(spares, min(40, len(spares))) if spare.article.title not in taken]
    distractors = (*others, *(spare.article for spare in foreign[:12]))
    if mode == "intact":
        topic = rng.choice([*record.gold, *distractors[: len(record.gold) + 1]])
        return _Setting(record, None, False, record.question, topic, distractors)
    if not record.mentions:
        return None
    mention = record.mentions[0]
    same_noun = [spare.article for spare in spares if spare.kind.noun == mention.kind.noun]
    rng.shuffle(same_noun)
    rivals = _rivals(record, mention, [*others, *same_noun]) if _decides(record, mention) else ()
    if len(rivals) < RIVALS:
        return None
    if mode == "twin":
        referent = next(article for article in record.gold if article.title == mention.title)
        return _Setting(record, mention, False, mention.blurred, referent, distractors, rivals)
    unlike = _unlike_article(mention, others, foreign)
    return None if unlike is None else _Setting(record, mention, True, mention.blurred, unlike, distractors, rivals)


def _decides(record: ArticleQuestion, mention: Mention) -> bool:
    """Whether the answer depends on what is mentioned.

    It does not if the question offers the answer, if an article that the question still names has it, or if no fact
    behind a yes or no tells a name or a number of what is mentioned: no dog reaches a shelf. Two things that HotpotQA
    compares by yes or no prove nothing.
    """
    if record.answer.lower() in YES_NO:
        about = [fact.sentence for fact in record.support if shares_name(mention.span, fact.sentence)]
        own = {word.lower() for word in re.findall(r"\w+", mention.span)}
        telling = (word.lower() for fact in about for word in re.findall(r"(?<=\W)(?:[A-Z]|\d)\w*", fact))
        return record.task == "strategyqa" and any(word not in own for word in telling)
    named = [one for one in record.gold if one.title != mention.title and shares_name(one.title, mention.blurred)]
    if record.offers_answer or shares_name(mention.span, record.answer):
        return False
    return not any(record.answer.lower() in one.text.lower() for one in named)


def _rivals(record: ArticleQuestion, mention: Mention, articles: Iterable[Article]) -> tuple[Article, ...]:
    """Articles of the mention's noun that the question does not name and that do not have the answer."""
    answer = "" if record.answer.lower() in YES_NO else record.answer.lower()
    taken = {article.title for article in record.gold}
    found: list[Article] = []
    for article in articles:
        kind, text = article_kind(article), article.text.lower()
        if kind is None or kind.noun != mention.kind.noun or article.title in taken:
            continue
        if kind.noun not in words(f"{article.title} {article.sentences[0]}"):
            continue
        if shares_name(mention.span, article.title) or shares_name(article.title, record.question):
            continue
        if mention.span.lower() in text or (answer and answer in text):
            continue
        taken.add(article.title)
        found.append(article)
        if len(found) == RIVALS:
            break
    return tuple(found)


def _unlike_article(mention: Mention, others: Sequence[Article], foreign: Sequence[SpareArticle]) -> Article | None:
    """An article that plainly is not what is meant: `the lake` is not an actress."""
    near = [(article, article_kind(article)) for article in others]
    for article, kind in (*near, *((spare.article, spare.kind) for spare in foreign)):
        if kind is None or kind.category == mention.kind.category or mention.kind.noun in words(article.title):
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
        yield _Path("", gold[:2], open_topic=setting.hides)
        yield _Path(_clue(setting, opened=gold[:2], paraphrase=1.0), gold[:2])
    else:
        calls = max(len(gold[:2]), min(budget, want.tool_hops))
        for pages in (gold[:2], gold[:3], gold):
            extra = calls > len(gold[:2]) if setting.hides else calls > 2 * len(pages) and setting.topic not in gold
            if calls >= len(pages) + extra:
                yield _Path("", pages, searches=_searches(calls - extra, pages), open_topic=extra)


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
    if sentence.split()[0] in _PRONOUN_STARTS:
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
    elif path.open_topic:
        steps.append(Step("wiki", setting.topic.title))
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
        topic=setting.topic.title,
        ambiguity=("vague-reference",) if mention is not None else (),
    )


def _readings(setting: _Setting, mention: Mention, context: Sequence[Article]) -> Iterator[tuple[str, ...]]:
    """Names of the article that is meant, then those of others of the same kind that the question does not name."""
    yield (mention.span, *names_of(mention.title))
    for article in context:
        kind = article_kind(article)
        if kind is not None and kind.noun == mention.kind.noun and article not in (setting.topic, *setting.record.gold):
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
