"""A problem from a key: the message first, then the coin, then what lies around it."""

from __future__ import annotations

from random import Random

from ....agents.tools.calc import number_text
from ....core.tokenize import tokens
from ....core.types import Article, Hidden, join_sentences
from ...difficulty.metrics import LEN_TOKENS
from ...difficulty.text_features import asked_arithmetic
from ...pool.source import Item, Step, Want, followed
from ..grammar import render
from .context import other_papers, own_paper, own_title, tokens_of
from .language import Language, language_of
from .levels import (
    DRESS_AT_MOST,
    MESSAGE_POINTS,
    OVERLAP,
    Load,
    Message,
    Shape,
    message_points,
    shape,
    split,
    tokens_wanted,
)
from .program import expressions, operations
from .story import Story, draw_story

LEFT_OUT_OF_COMPLETE = 0.75
"""Share of complete problems whose message lacks a quantity that the place's paper has. With the ambiguous ones, which
all lack one, it keeps the message from telling the class."""
PAPER_ALTHOUGH_ALL_IS_SAID = 0.5
UNSTATED = "unstated-quantity"
REDRAWS = 12


def make_problem(want: Want, source_id: str, seed_key: str) -> Item:
    """A problem in `want.lang` at `want.level`; the same arguments give the same problem."""
    rng = Random(seed_key)
    want = followed(want, seed_key)
    language = language_of(want.lang)
    lacks = rng.random() < LEFT_OUT_OF_COMPLETE
    left_out = want.clarify or (lacks and want.max_turns > 2)
    story, message, said, points = _draw_message(language, want, left_out, rng)
    load = Load(
        points=points,
        steps=len(story.program.steps),
        operations=operations(story.program) + asked_arithmetic(message.question),
        findable=left_out and not want.clarify,
        spare=LEN_TOKENS[0] - DRESS_AT_MOST - len(tokens(said)),
    )
    chosen = shape(want, load, rng)
    title, context = _context(language, story, left_out, load, chosen, said, rng)
    steps = [Step("wiki", title)] if chosen.look else []
    if chosen.calc_calls:
        steps += [Step("calc", text) for _, text in expressions(story.program, chosen.calc_calls)]
    premise = [sentence for sentence in message.premise if not (left_out and sentence == story.sentences[story.key_at])]
    return Item(
        task="gsm8k",
        lang=want.lang,
        source="builtin",
        source_id=source_id,
        premise=join_sentences(premise),
        clue=join_sentences(message.clue),
        question=message.question,
        original=join_sentences([*story.sentences, message.question]),
        context=context,
        support=story.sentences,
        answer=number_text(story.program.answer),
        aliases=(),
        steps=tuple(steps),
        hidden=_hidden(story, rng) if want.clarify else None,
        ask_after=int(chosen.look and want.clarify),
        ambiguity=(UNSTATED,) if left_out else (),
    )


def _draw_message(language: Language, want: Want, left_out: bool, rng: Random) -> tuple[Story, Message, str, int]:
    """Story, message, what is seen of it and its points. It never looks at `want.clarify`."""
    low, high = MESSAGE_POINTS[want.level]
    least, _, most = OVERLAP[want.level]
    for _ in range(REDRAWS):
        story = draw_story(language, want, left_out, rng)
        message = split(story.sentences, story.key_at, left_out, story.question, want.level)
        gone = story.sentences[story.key_at] if left_out else ""
        seen = [sentence for sentence in (*message.premise, *message.clue) if sentence != gone]
        said = " ".join([*seen, message.question])
        points = message_points(said, message.overlap, want.lang)
        restates = want.level != "easy" or least <= message.overlap <= most
        if low <= points <= high and restates:
            break
    return story, message, said, points


def _context(
    language: Language, story: Story, left_out: bool, load: Load, chosen: Shape, said: str, rng: Random
) -> tuple[str, tuple[Article, ...]]:
    """The title of the place's own paper and all papers, in any order."""
    title = own_title(language, story, rng)
    least, most = tokens_wanted(chosen.length, said, rng)
    papers = []
    if left_out or rng.random() < PAPER_ALTHOUGH_ALL_IS_SAID:
        papers = [own_paper(language, story, title, load.findable, most, rng)]
    papers += other_papers(language, story, title, least - sum(tokens_of(language, paper) for paper in papers), rng)
    rng.shuffle(papers)
    return title, tuple(papers)


def _hidden(story: Story, rng: Random) -> Hidden:
    key = story.key
    return Hidden(
        kind="quantity",
        span=story.sentences[story.key_at],
        missing=render(key.scene.missing[key.name], rng, key.slots),
        about=tuple(render(word, rng, key.slots) for word in key.scene.about[key.name]),
    )
