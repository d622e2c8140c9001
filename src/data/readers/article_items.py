"""From a `Reading` to an `Item`: which articles, which clue, which steps, so that the item has the level asked for.

The wording is settled by the record and the mode `hidden` or `twin` alone; which of the two it is shows only in the
article that the user says they were reading. So no word of the prompt gives away that something is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import msgspec
from msgspec import Struct

from ...core.tokenize import tokens, words
from ...core.types import Article, Hidden, Level, join_sentences
from ..pool.source import Item, Step, Want, calls_wanted, followed
from .articles import Mode, Reading, Spare, article_kind, article_tokens, found_anyway, query_for
from .level_fit import OVERLAP_BANDS, choose_clue, misfit, turns
from .listed import listed
from .mentions import Mention, shares_name

NOT_NEEDED = 1.0
"""What it counts against an ambiguous item when searching for what is left of the question finds the hidden article."""
PREMISE_TOKENS = 45
_ROOM: dict[Level, tuple[int, ...]] = {"easy": (0, 260, 420), "medium": (330, 520, 800), "hard": (900, 1500)}
"""How many tokens of context to fill up to with distractors."""
_PRONOUN_START = listed("He She It They His Her Its Their This These Those")
_CLASS_WORDS = {
    "person": ("person", "who"),
    "work": ("work",),
    "place": ("place",),
    "building": ("place",),
    "group": ("group",),
    "living": ("kind",),
    "thing": ("thing",),
    "event": ("event",),
    "idea": ("subject",),
    "being": ("figure",),
}


class _Plan(Struct, frozen=True):
    """A way through: what is restated, which articles are opened, and how much looking around there is."""

    clue: str
    opened: tuple[Article, ...]
    searches: int = 0
    """How many of the openings come after a search."""
    look_first: bool = False
    """Whether the article that the user was reading is opened first, before the ask where there is one."""


class _Told(Struct, frozen=True):
    """What does not change between the plans for one item."""

    reading: Reading
    mention: Mention | None
    hides: bool
    question: str
    topic: Article
    distractors: tuple[Article, ...]
    premise: str = ""


def make_item(reading: Reading, mode: Mode, want: Want, seed: int, spares: Sequence[Spare]) -> Item | None:
    """The item that comes nearest to the level asked for; `None` where the record cannot be told in this mode."""
    want = followed(want, reading.source_id)
    rng = Random(f"{seed}:{reading.source_id}")
    told = _tell(reading, mode, rng, spares)
    if told is None:
        return None
    if reading.task == "strategyqa" and want.level == "hard":
        told = msgspec.structs.replace(told, premise=_quoted(told.topic))
    best: tuple[float, int, Item] | None = None
    order = list(range(len(reading.gold) + len(told.distractors) + 1))
    rng.shuffle(order)
    for plan in _plans(told, want):
        for room in _ROOM[want.level]:
            item = _assemble(told, plan, room, order)
            if turns(item) > want.max_turns:
                continue
            off = misfit(item, want) + (NOT_NEEDED if found_anyway(item) else 0.0)
            if best is None or off < best[0] - 1e-9:
                best = (off, room, item)
        if best is not None and best[0] == 0:
            break
    return best[2] if best else None


def _quoted(article: Article) -> str:
    """What the user repeats from the page that they were reading. StrategyQA's short questions are hard only with it:
    it names more things, whichever of them matter."""
    for sentence in article.sentences[:3]:
        if sentence.split()[0] not in _PRONOUN_START and len(tokens(sentence)) <= PREMISE_TOKENS:
            return sentence
    return ""


def _tell(reading: Reading, mode: Mode, rng: Random, spares: Sequence[Spare]) -> _Told | None:
    others = list(reading.others)
    rng.shuffle(others)
    taken = {article.title for article in (*reading.gold, *others)}
    foreign = [spare for spare in rng.sample(spares, min(40, len(spares))) if spare.article.title not in taken]
    distractors = (*others, *(spare.article for spare in foreign[:12]))
    if mode == "intact":
        topic = rng.choice([*reading.gold, *distractors[: len(reading.gold) + 1]])
        return _Told(reading, None, False, reading.question, topic, distractors)
    if not reading.mentions:
        return None
    mention = reading.mentions[0]
    if mode == "twin":
        referent = next(article for article in reading.gold if article.title == mention.title)
        return _Told(reading, mention, False, mention.blurred, referent, distractors)
    unlike = _something_else(mention, others, foreign)
    return None if unlike is None else _Told(reading, mention, True, mention.blurred, unlike, distractors)


def _something_else(mention: Mention, others: Sequence[Article], foreign: Sequence[Spare]) -> Article | None:
    """An article that plainly is not what is meant: `the lake` is not an actress."""
    near = [(article, article_kind(article)) for article in others]
    for article, kind in (*near, *((spare.article, spare.kind) for spare in foreign)):
        if kind is None or kind.of == mention.kind.of or mention.kind.noun in words(article.title):
            continue
        if not shares_name(mention.span, article.title) and mention.span.lower() not in article.text.lower():
            return article
    return None


def _plans(told: _Told, want: Want) -> Iterator[_Plan]:
    gold = told.reading.gold
    budget = want.max_turns - 1 - told.hides
    if want.level == "easy":
        for page in _answering(told):
            clue = _clue(told, opened=(page,), paraphrase=want.paraphrase)
            if clue:
                yield _Plan(clue, (page,))
        clue = _clue(told, opened=gold[:2], paraphrase=want.paraphrase)
        yield _Plan(clue, gold[:2])
    elif want.level == "medium":
        pages = gold[:2]
        yield _Plan("", pages, searches=_searches(int(min(calls_wanted(want), budget)), pages))
        yield _Plan("", gold[:3], searches=min(1, budget - min(len(gold), 3)))
        yield _Plan("", gold[:2], look_first=told.hides)
        yield _Plan(_clue(told, opened=gold[:2], paraphrase=1.0), gold[:2])
    else:
        calls = max(len(gold[:2]), min(budget, want.tool_hops))
        for pages in (gold[:2], gold[:3], gold):
            look = calls > len(gold[:2]) if told.hides else calls > 2 * len(pages) and told.topic not in gold
            if calls >= len(pages) + look:
                yield _Plan("", pages, searches=_searches(calls - look, pages), look_first=look)


def _searches(calls: int, pages: Sequence[Article]) -> int:
    """How many of so many calls are left for searching, at most one before each page."""
    return min(max(calls - len(pages), 0), len(pages))


def _answering(told: _Told) -> Iterator[Article]:
    """Articles from which, with a clue about the rest, the answer follows. A vague question opens what it means."""
    reading = told.reading
    for article in reading.gold:
        if told.mention is not None and article.title != told.mention.title:
            continue
        if reading.in_question or reading.answer.lower() in f"{article.title} {article.text}".lower():
            yield article


def _clue(told: _Told, opened: tuple[Article, ...], paraphrase: float) -> str:
    """Whole supporting sentences that neither name what is vague nor give the answer away; empty where there are none.

    Every supporting article that is not opened must be covered, for the answer has to follow.
    """
    reading = told.reading
    titles = {article.title for article in opened}
    uncovered = {fact.title for fact in reading.support if fact.title} - titles
    allowed = [fact for fact in reading.support if _may_restate(told, fact.title, fact.sentence)]

    def fits(chosen: tuple[int, ...]) -> bool:
        told_about = {allowed[index].title for index in chosen}
        return uncovered <= told_about and len(chosen) < max(2, len(reading.support))

    low, high = OVERLAP_BANDS["easy"]
    support = [fact.sentence for fact in reading.support]
    aim = high - (high - low) * paraphrase
    chosen = choose_clue([fact.sentence for fact in allowed], told.question, support, aim, fits)
    return " ".join(allowed[index].sentence for index in chosen) if chosen else ""


def _may_restate(told: _Told, title: str, sentence: str) -> bool:
    reading = told.reading
    if sentence.split()[0] in _PRONOUN_START:
        return False
    if not reading.in_question and reading.answer.lower() in sentence.lower():
        return False
    if told.mention is None:
        return True
    return title != told.mention.title and not shares_name(told.mention.span, sentence)


def _assemble(told: _Told, plan: _Plan, room: int, order: Sequence[int]) -> Item:
    reading, mention = told.reading, told.mention
    context = _context(told, room, order)
    steps: list[Step] = []
    if plan.look_first:
        steps.append(Step("wiki", told.topic.title))
    for number, article in enumerate(plan.opened):
        if number < plan.searches:
            query = query_for(context, article, reading)
            steps.extend([Step("wiki", query)] if query else [])
        steps.append(Step("wiki", article.title))
    hidden = None
    if told.hides and mention is not None:
        noun = mention.kind.noun
        hidden = Hidden(
            kind="subject" if reading.task == "strategyqa" else "entity",
            span=mention.span,
            missing=f"which {noun} you mean",
            about=(noun, *_CLASS_WORDS[mention.kind.of]),
        )
    return Item(
        task=reading.task,
        lang="en",
        source="",
        source_id=reading.source_id,
        premise=told.premise,
        clue=plan.clue,
        question=told.question,
        original=join_sentences((told.premise, reading.question)),
        context=context,
        support=tuple(fact.sentence for fact in reading.support),
        answer=reading.answer,
        aliases=(),
        steps=tuple(steps),
        hidden=hidden,
        ask_after=int(plan.look_first and told.hides),
        topic=told.topic.title,
        ambiguity=("vague-reference",) if mention is not None else (),
    )


def _context(told: _Told, room: int, order: Sequence[int]) -> tuple[Article, ...]:
    """The supporting articles, what the user was reading, and distractors up to `room` tokens; in mixed order."""
    chosen = list(told.reading.gold)
    if told.topic not in chosen:
        chosen.append(told.topic)
    used = sum(map(article_tokens, chosen))
    for article in told.distractors:
        if article in chosen:
            continue
        size = article_tokens(article)
        if used + size > room:
            continue
        chosen.append(article)
        used += size
    ranked = sorted(zip(order, chosen, strict=False), key=lambda pair: pair[0])
    return tuple(article for _, article in ranked)
