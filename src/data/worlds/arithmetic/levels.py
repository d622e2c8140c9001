"""Bringing a word problem to the wanted level, without a word of the message depending on whether it needs an ask.

The message and the articles fix their own difficulty points (names and numbers, connectors, overlap, length). What is
left to choose is invisible in the prompt: over how many tool calls the operations are spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from ....core.tokenize import tokens
from ....core.types import Lang, Level, join_sentences
from ...difficulty.metrics import (
    ENTITIES,
    LEN_TOKENS,
    TOOL_HOPS,
    TURNS,
    clarification_points,
    density_points,
    overlap_points,
    rising_points,
)
from ...difficulty.text_features import char_trigrams, connector_density, names, numbers
from ...pool.source import Want, calls_wanted, points_missed

TEMPLATE_TOKENS = 60
"""Most tokens that a template adds to the message."""
MESSAGE_POINTS: dict[Level, tuple[int, int]] = {"easy": (0, 2), "medium": (2, 3), "hard": (1, 6)}
"""Points of a message with which it reaches its level with and without an ask. Other messages are drawn again."""
OVERLAP: dict[Level, tuple[float, float, float]] = {
    "easy": (0.42, 0.50, 0.60),
    "medium": (0.20, 0.26, 0.38),
    "hard": (0.105, 0.14, 0.20),
}
"""Least, wanted and most overlap of clue and question with the story."""
OVERLAP_TRIES = 4
CHARACTERS_PER_TRIGRAM = 1.2
"""Characters of a story sentence per new trigram: some trigrams repeat or are in the question already."""
LENGTH_POINTS: dict[Level, tuple[int, ...]] = {"easy": (0,), "medium": (1, 1, 2), "hard": (1, 1, 1, 2)}
"""Length points to draw from, with or without an ask: few articles must not mean that something is missing."""
SHORTEST = 64
"""Least tokens of message and articles; the pool's length gate refuses shorter samples."""
LENGTH_TOKENS = ((0, 0), (235, 470), (640, 820))
"""Tokens of message and articles, by length points, that keep these points whatever a template adds."""
ARTICLE_TOKENS = 90
SHORTEST_ARTICLE = 45


def split_message(
    sentences: Sequence[str], key_at: int, left_out: bool, question: str, level: Level
) -> tuple[list[str], list[str], float]:
    """Split a story into premise and clue, so that clue and question restate as much of it as the level asks for.

    Returns their overlap too. A sentence that is left out cannot be restated, although it supports the answer.
    """
    support = char_trigrams(" ".join(sentences))
    least, wanted, most = OVERLAP[level]
    best = _overlap([], question, support)
    chosen: tuple[int, ...] = ()
    if best < least:
        free = [at for at in range(len(sentences)) if not (left_out and at == key_at)]
        new = len(char_trigrams(question) - support)
        characters = CHARACTERS_PER_TRIGRAM * (wanted - best) * (len(support) + new)
        for clue in _clues_by_size(sentences, free, level, characters):
            overlap = _overlap([sentences[at] for at in clue], question, support)
            if abs(overlap - wanted) < abs(best - wanted):
                best, chosen = overlap, clue
            if least <= best <= most:
                break
    premise = [sentence for at, sentence in enumerate(sentences) if at not in chosen]
    return premise, [sentences[at] for at in chosen], best


def _clues_by_size(sentences: Sequence[str], free: list[int], level: Level, characters: float) -> list[tuple[int, ...]]:
    """Return sets of sentences worth trying, those with about the wanted number of characters first.

    An easy clue may have any of them, other clues one or two. The opening stays in the story, unless all is restated.
    """
    later = free[1:]
    sets = [some for size in range(1, len(later) + 1 if level == "easy" else 3) for some in combinations(later, size)]
    sets.sort(key=lambda some: abs(sum(len(sentences[at]) for at in some) - characters))
    return [*sets[:OVERLAP_TRIES], tuple(free)] if level == "easy" else sets[:OVERLAP_TRIES]


def _overlap(clue: list[str], question: str, support: set[str]) -> float:
    asked = char_trigrams(f"{join_sentences(clue)} {question}")
    shared = len(asked & support)
    return shared / (len(asked) + len(support) - shared)


def message_points(visible: str, overlap: float, lang: Lang) -> int:
    """Return the points that the message alone decides: names and numbers, connectors, overlap."""
    entities = len({name for _, name in names(visible, lang, ())}) + len(numbers(visible))
    density, rounded_overlap = round(connector_density(visible), 2), round(overlap, 4)
    return rising_points(entities, ENTITIES) + density_points(density) + overlap_points(rounded_overlap)


def choose_shape(
    want: Want, points: int, steps: int, left_out: bool, spare_tokens: int, rng: Random
) -> tuple[bool, int, int]:
    """Choose how a problem is demonstrated: whether the place's article is opened, `calc` calls, length points.

    `points` are those of message and operations, `spare_tokens` are left before the prompt earns length points. Among
    the choices that fit the level it is the one of lowest cost.
    """
    asks = int(want.clarify)
    most_calls = want.max_turns - 1 - asks
    length = rng.choice(LENGTH_POINTS[want.level])
    if spare_tokens < SHORTEST_ARTICLE:
        length = max(length, 1)
    best, lowest_cost = (False, 0, length), float("inf")
    for opens_article in (True, False):
        if opens_article != left_out and not want.clarify:
            continue
        for calc_calls in range(0 if most_calls <= opens_article else 1, steps + 1):
            hops = calc_calls + opens_article
            if hops > most_calls:
                break
            turns = hops + asks + 1
            score = points + length + rising_points(turns, TURNS) + rising_points(hops, TOOL_HOPS)
            score += clarification_points(want.clarify, turns)
            missed = points_missed(score, want, want.tool_hops, want.ops_numeric)
            cost = 100 * missed + _cost(want, opens_article, calc_calls, length) + rng.random()
            if cost < lowest_cost:
                best, lowest_cost = (opens_article, calc_calls, length), cost
    return best


def _cost(want: Want, opens_article: bool, calc_calls: int, length: int) -> float:
    """Return how far a shape is from the usual one of its level. An ask without a look at the article is worst."""
    unseen = 5.0 if want.clarify and not opens_article else 0.0
    if want.level == "easy":
        return unseen + 2.0 * (calc_calls - 1) + length
    if want.level == "medium":
        return unseen + 0.6 * abs(calc_calls - calls_wanted(want)) + (0.3, 0.0, 0.8)[length]
    return unseen + 1.5 * abs(calc_calls + opens_article - calls_wanted(want)) + (4.0, 0.0, 0.5)[length]


def article_tokens(length: int, visible: str, rng: Random) -> tuple[int, int]:
    """Return the least and most tokens of articles that bring message and articles to that many length points."""
    used = len(tokens(visible))
    if length == 0:
        return SHORTEST - used, LEN_TOKENS[0] - TEMPLATE_TOKENS - used
    low, high = LENGTH_TOKENS[length]
    wanted = low + int(rng.random() * (high - low))
    return wanted - used, wanted - used + ARTICLE_TOKENS
