"""How an item comes out at the level that was asked for, without a word of the message depending on the class.

The message and its papers fix their own points (names and numbers, connectors, overlap, length). What is left to steer
is what nobody sees beforehand: over how many calls the operations are spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from msgspec import Struct

from ....core.tokenize import tokens
from ....core.types import Lang, Level, join_sentences
from ...difficulty.metrics import (
    ENTITIES,
    LEN_TOKENS,
    OPS_NUMERIC,
    TOOL_HOPS,
    TURNS,
    clarification_points,
    density_points,
    overlap_points,
)
from ...difficulty.text_features import char_trigrams, connector_density, names, numbers
from ...pool.source import Want, calls_wanted, points_missed

DRESS_AT_MOST = 60
"""Tokens that a template adds to the message."""
MESSAGE_POINTS: dict[Level, tuple[int, int]] = {"easy": (0, 2), "medium": (2, 3), "hard": (1, 6)}
"""Within these a message reaches its level whether or not it takes an ask. Others are drawn again, before the coin."""
OVERLAP: dict[Level, tuple[float, float, float]] = {
    "easy": (0.42, 0.50, 0.60),
    "medium": (0.20, 0.26, 0.38),
    "hard": (0.105, 0.14, 0.20),
}
"""Least, wanted and most of its story that a question restates."""
TRIES_FOR_OVERLAP = 4
CHARACTERS_PER_TRIGRAM = 1.2
"""Of a sentence of the story; some of its trigrams come more than once or are in the question already."""
LENGTH_POINTS: dict[Level, tuple[int, ...]] = {"easy": (0,), "medium": (1, 1, 2), "hard": (1, 1, 1, 2)}
"""How many papers lie around is drawn before the coin too: where articles are pasted into the prompt, a thin pile
must not mean that something is missing."""
SHORTEST = 64
"""A sample with less text than this is refused by the pool's length gate, so a short message gets a paper beside it."""
LONGER = ((0, 0), (235, 470), (640, 820))
"""Tokens of message and articles, by points, that stay in their bucket whatever a template adds."""
PAPER_TOKENS = 90
LEAST_PAPER = 45


class Message(Struct, frozen=True):
    """What the user says, complete; the sentence at `key_at` may be left out of `premise`."""

    premise: tuple[str, ...]
    clue: tuple[str, ...]
    question: str
    overlap: float


class Shape(Struct, frozen=True):
    """How a message becomes a demonstration."""

    look: bool
    """Whether the place's paper is opened."""
    calc_calls: int
    length: int
    """Points for length, 0 to 2."""


class Load(Struct, frozen=True):
    """What a problem brings along when its demonstration is shaped."""

    points: int
    """Of the message alone."""
    steps: int
    operations: int
    findable: bool
    """Whether the left-out quantity stands in the paper of the story's place."""
    spare: int
    """Tokens that are left for articles below 200."""


def split(sentences: Sequence[str], key_at: int, left_out: bool, question: str, level: Level) -> Message:
    """Move story sentences into the clue until the question restates as much as its level asks for.

    A sentence that is left out cannot be restated, although it belongs to the supporting text.
    """
    support = char_trigrams(" ".join(sentences))
    low, aim, high = OVERLAP[level]
    best = _overlap([], question, support)
    chosen: tuple[int, ...] = ()
    if best < low:
        free = [at for at in range(len(sentences)) if not (left_out and at == key_at)]
        new = len(char_trigrams(question) - support)
        wanted = CHARACTERS_PER_TRIGRAM * (aim - best) * (len(support) + new)
        for trial in _clues_by_size(sentences, free, level, wanted):
            shared = _overlap([sentences[at] for at in trial], question, support)
            if abs(shared - aim) < abs(best - aim):
                best, chosen = shared, trial
            if low <= best <= high:
                break
    premise = tuple(sentence for at, sentence in enumerate(sentences) if at not in chosen)
    return Message(premise, tuple(sentences[at] for at in chosen), question, best)


def _clues_by_size(sentences: Sequence[str], free: list[int], level: Level, wanted: float) -> list[tuple[int, ...]]:
    """Sets of sentences worth trying, those with about the wanted number of characters first.

    An easy clue may hold any of them, other clues one or two. The opening stays where it is, unless all is restated.
    """
    later = free[1:]
    sets = [some for size in range(1, len(later) + 1 if level == "easy" else 3) for some in combinations(later, size)]
    sets.sort(key=lambda some: abs(sum(len(sentences[at]) for at in some) - wanted))
    return [*sets[:TRIES_FOR_OVERLAP], tuple(free)] if level == "easy" else sets[:TRIES_FOR_OVERLAP]


def _overlap(clue: list[str], question: str, support: set[str]) -> float:
    asked = char_trigrams(f"{join_sentences(clue)} {question}")
    shared = len(asked & support)
    return shared / (len(asked) + len(support) - shared)


def message_points(said: str, overlap: float, lang: Lang) -> int:
    """Points that the message alone decides: names and numbers, connectors, overlap."""
    entities = len({name for _, name in names(said, lang, ())}) + len(numbers(said))
    density, shared = round(connector_density(said), 2), round(overlap, 4)
    return _points(entities, ENTITIES) + density_points(density) + overlap_points(shared)


def _points(value: int, last: tuple[int, int]) -> int:
    return 0 if value <= last[0] else 1 if value <= last[1] else 2


def shape(want: Want, load: Load, rng: Random) -> Shape:
    """The shape that fits the level and, among those, the one that the other wishes like best."""
    asks = int(want.clarify)
    most_calls = want.max_turns - 1 - asks
    length = rng.choice(LENGTH_POINTS[want.level])
    if load.spare < LEAST_PAPER:
        length = max(length, 1)
    best, least = Shape(False, 0, length), float("inf")
    for look in (True, False):
        if look != load.findable and not want.clarify:
            continue
        for calc_calls in range(0 if most_calls <= look else 1, load.steps + 1):
            hops = calc_calls + look
            if hops > most_calls:
                break
            turns = hops + asks + 1
            points = (
                load.points
                + _points(turns, TURNS)
                + _points(hops, TOOL_HOPS)
                + _points(load.operations, OPS_NUMERIC)
                + clarification_points(want.clarify, turns)
            )
            off = points_missed(points + length, want, want.tool_hops, want.ops_numeric)
            dislike = 100 * off + _dislike(want, look, calc_calls, length) + rng.random()
            if dislike < least:
                best, least = Shape(look, calc_calls, length), dislike
    return best


def _dislike(want: Want, look: bool, calc_calls: int, length: int) -> float:
    blind = 5.0 if want.clarify and not look else 0.0
    if want.level == "easy":
        return blind + 2.0 * (calc_calls - 1) + length
    if want.level == "medium":
        return blind + 0.6 * abs(calc_calls - calls_wanted(want)) + (0.3, 0.0, 0.8)[length]
    return blind + 1.5 * abs(calc_calls + look - calls_wanted(want)) + (4.0, 0.0, 0.5)[length]


def tokens_wanted(length: int, said: str, rng: Random) -> tuple[int, int]:
    """How many tokens of articles (at least, at most) bring message and articles to that length."""
    used = len(tokens(said))
    if length == 0:
        return SHORTEST - used, LEN_TOKENS[0] - DRESS_AT_MOST - used
    low, high = LONGER[length]
    aim = low + int(rng.random() * (high - low))
    return aim - used, aim - used + PAPER_TOKENS
