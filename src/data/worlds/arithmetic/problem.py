"""A finished word problem: its message, the articles around it, and the demonstrated tool calls.

The message is drawn first; whether it needs an ask decides only what the articles state. The article that states the
left-out quantity and the one that does not are made the same way, up to that one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ....agents.tools import number_text
from ....core.tokenize import tokens
from ....core.types import Article, Hidden, join_sentences
from ...difficulty.metrics import LEN_TOKENS, OPS_NUMERIC, rising_points
from ...difficulty.text_features import asked_arithmetic
from ...pool.source import Item, Step, Want, followed
from ..grammar import capitalize, render
from .language import Language, Slots, digits, language_of, pick
from .levels import (
    ARTICLE_TOKENS,
    MESSAGE_POINTS,
    OVERLAP,
    TEMPLATE_TOKENS,
    article_tokens,
    choose_shape,
    message_points,
    split_message,
)
from .program import expressions, plausible_others
from .story import KeyQuantity, Story, draw_story

LEFT_OUT_OF_COMPLETE = 0.75
"""Share of the complete problems whose message lacks a quantity that the place's article states. All incomplete ones
lack one, so with this share the message does not tell which is which."""
ARTICLE_THOUGH_COMPLETE = 0.5
"""Share of the messages without anything left out that have an article about the story's place."""
UNSTATED = "unstated-quantity"
MESSAGE_TRIES = 12
ARTICLE_LINES = (3, 6)
ALIKE_SHARE = 0.6
"""Share of the other places that are of the same kind; their articles state their own number of the key quantity."""


def make_problem(want: Want, source_id: str) -> Item:
    """Make a problem in `want.lang` at `want.level`; the same arguments give the same problem."""
    rng = Random(source_id)
    want = followed(want, source_id)
    language = language_of(want.lang)
    lacks = rng.random() < LEFT_OUT_OF_COMPLETE
    left_out = want.clarify or (lacks and want.max_turns > 2)
    story, premise, clue, points = _draw_message(language, want, left_out, rng)
    visible = " ".join([*premise, *clue, story.question])
    points += rising_points(story.program.operations + asked_arithmetic(story.question), OPS_NUMERIC)
    spare_tokens = LEN_TOKENS[0] - TEMPLATE_TOKENS - len(tokens(visible))
    opens_article, calls, length = choose_shape(want, points, len(story.program.steps), left_out, spare_tokens, rng)
    title = _title(language, story, story.key.slots["P"], rng)
    least, most = article_tokens(length, visible, rng)
    articles = []
    if left_out or rng.random() < ARTICLE_THOUGH_COMPLETE:
        line = _key_line(story.key, story.key.slots, rng) if left_out and not want.clarify else ""
        articles = [_article(language, story, title, line, most, rng)]
    used = sum(_count_tokens(language, article.title, article.sentences) for article in articles)
    articles += _other_articles(language, story, title, least - used, rng)
    rng.shuffle(articles)
    steps = [Step("wiki", title)] if opens_article else []
    if calls:
        steps += [Step("calc", expression) for expression in expressions(story.program, calls)]
    return Item(
        task="gsm8k",
        lang=want.lang,
        source="builtin",
        source_id=source_id,
        premise=join_sentences(premise),
        clue=join_sentences(clue),
        question=story.question,
        original=join_sentences([*story.sentences, story.question]),
        context=tuple(articles),
        support=story.sentences,
        answer=number_text(story.program.answer),
        aliases=(),
        steps=tuple(steps),
        hidden=_hidden(story, rng) if want.clarify else None,
        ask_after=int(opens_article and want.clarify),
        ambiguity=(UNSTATED,) if left_out else (),
    )


def _draw_message(
    language: Language, want: Want, left_out: bool, rng: Random
) -> tuple[Story, list[str], list[str], int]:
    """Draw the story, premise and clue as the user tells them, and their points, without regard to `want.clarify`."""
    low, high = MESSAGE_POINTS[want.level]
    least, _, most = OVERLAP[want.level]
    for _ in range(MESSAGE_TRIES):
        story = draw_story(language, want, left_out, rng)
        premise, clue, overlap = split_message(story.sentences, story.key_at, left_out, story.question, want.level)
        if left_out:
            premise = [sentence for sentence in premise if sentence != story.key_sentence]
        points = message_points(" ".join([*premise, *clue, story.question]), overlap, want.lang)
        restates = want.level != "easy" or least <= overlap <= most
        if low <= points <= high and restates:
            break
    return story, premise, clue, points


def _hidden(story: Story, rng: Random) -> Hidden:
    """Return the missing quantity: the sentence that states it, and how a clarifying question asks for it."""
    key = story.key
    return Hidden(
        kind="quantity",
        span=story.key_sentence,
        missing=render(key.scene.missing[key.name], rng, key.slots),
        about=tuple(render(word, rng, key.slots) for word in key.scene.about[key.name]),
    )


def _title(language: Language, story: Story, place: str, rng: Random) -> str:
    return language.title(pick(rng, language.text.documents[story.group]), place)


def _other_articles(language: Language, story: Story, own_title: str, wanted: int, rng: Random) -> list[Article]:
    """Make articles about other places, until they have about that many tokens."""
    articles: list[Article] = []
    titles = {own_title}
    kinds = [scene.places for scene in language.scenes.opening.values()]
    while wanted > 0:
        alike = rng.random() < ALIKE_SHARE
        place = language.place(story.places if alike else pick(rng, kinds), rng)
        title = _title(language, story, place, rng)
        if title in titles or place == story.key.slots["P"]:
            continue
        line = _key_line_elsewhere(language, story, place, rng) if alike else ""
        articles.append(_article(language, story, title, line, ARTICLE_TOKENS, rng))
        titles.add(title)
        wanted -= _count_tokens(language, title, articles[-1].sentences)
    return articles


def _key_line(key: KeyQuantity, slots: Slots, rng: Random) -> str:
    """Return the line of an article that states the key quantity."""
    return capitalize(render(pick(rng, key.scene.listing[key.name]), rng, slots))


def _key_line_elsewhere(language: Language, story: Story, place: str, rng: Random) -> str:
    """Return the same line about another place, with other people and another number."""
    key, program = story.key, story.program
    slots = key.slots.copy()
    currency = slots["currency"]
    language.cast(slots, rng)
    slots["P"], slots["currency"] = place, currency
    number = pick(rng, plausible_others(program.givens[key.name], program.kinds[key.name]))
    language.quantity(key.name, program.kinds[key.name], number, slots, 0.0, rng)
    return _key_line(key, slots, rng)


def _article(language: Language, story: Story, title: str, key_line: str, most: int, rng: Random) -> Article:
    """Make an article of random lines and the key line, if there is one, with at most about `most` tokens."""
    low, high = ARTICLE_LINES
    count = low + int(rng.random() * (high - low + 1))
    key_number = digits(story.program.givens[story.key.name])
    lines = list(dict.fromkeys(_line(language, language.text.lines, key_number, rng) for _ in range(count)))
    if key_line:
        lines.insert(int(rng.random() * (len(lines) + 1)), key_line)
    if rng.random() < 0.5:
        lines.insert(0, _line(language, language.text.intros, key_number, rng))
    while len(lines) > 2 and _count_tokens(language, title, lines) > most:
        lines.remove(next(line for line in reversed(lines) if line != key_line))
    return Article(title, tuple(lines))


def _line(language: Language, templates: tuple[str, ...], key_number: str, rng: Random) -> str:
    """Return a random line without the key number, which may only be where it is stated."""
    while True:
        slots = Slots(language, rng)
        slots["x1"], slots["x2"] = str(4 + int(rng.random() * 15)), str(20 + int(rng.random() * 4))
        line = render(pick(rng, templates), rng, slots)
        if key_number not in line:
            return line


def _count_tokens(language: Language, title: str, lines: Sequence[str]) -> int:
    """Estimate the tokens of an article. Counting them would take as long as writing them."""
    return round((len(title) + sum(map(len, lines))) * language.text.tokens_per_character) + 1
