"""How hard an item will come out, before a template has dressed it, so that a reader can aim at a level."""

from __future__ import annotations

from ...core.types import Level
from ...core.words import tokens
from ..difficulty import (
    CLUE_OVERLAP_MEDIUM,
    EASY_MAX_SCORE,
    ENTITIES,
    HARD_MIN_SCORE,
    LEN_TOKENS,
    OPS_NUMERIC,
    TOOL_HOPS,
    TURNS,
    clarification_points,
    density_points,
    overlap_points,
)
from ..difficulty_words import asked_arithmetic, connector_density, names_en, numbers, operators
from ..source import Item
from ..text import clue_overlap
from .reading import article_tokens

TEMPLATE_TOKENS = 30
"""What a template's own words add to a prompt, about."""
OVERLAP_BANDS: dict[Level, tuple[float, float]] = {
    "easy": (CLUE_OVERLAP_MEDIUM[1] + 0.02, 0.60),
    "medium": (0.10, 0.45),
    "hard": (0.09, CLUE_OVERLAP_MEDIUM[0]),
}
"""Where clue_overlap should lie: the medians of hard and easy must fall into 0.10..0.20 and 0.40..0.65."""
_SCORES: dict[Level, tuple[int, int]] = {
    "easy": (0, EASY_MAX_SCORE),
    "medium": (EASY_MAX_SCORE + 1, HARD_MIN_SCORE - 1),
    "hard": (HARD_MIN_SCORE, 16),
}


def context_tokens(item: Item) -> int:
    return sum(map(article_tokens, item.context))


def overlap(item: Item) -> float:
    return clue_overlap(f"{item.clue} {item.question}", " ".join(item.support))


def turns(item: Item) -> int:
    return len(item.steps) + (item.hidden is not None) + 1


def score(item: Item, measured_overlap: float) -> int:
    """The points of `difficulty.measure`, from what the item already fixes."""
    said = " ".join(part for part in (item.premise, item.clue, item.question) if part)
    length = context_tokens(item) + len(tokens(said)) + TEMPLATE_TOKENS
    ops = sum(operators(step.input) for step in item.steps if step.tool == "calc") + asked_arithmetic(item.question)
    entities = len({name for _, name in names_en(said)}) + len(numbers(said))
    return (
        _points(length, LEN_TOKENS)
        + _points(turns(item), TURNS)
        + _points(len(item.steps), TOOL_HOPS)
        + _points(ops, OPS_NUMERIC)
        + _points(entities, ENTITIES)
        + density_points(round(connector_density(said), 2))
        + overlap_points(round(measured_overlap, 4))
        + clarification_points(item.hidden is not None, turns(item))
    )


def misfit(item: Item, level: Level) -> float:
    """0 where the item has the level's score and overlap; else how far it is off."""
    low, high = _SCORES[level]
    measured = overlap(item)
    points = score(item, measured)
    off = max(low - points, points - high, 0)
    bottom, top = OVERLAP_BANDS[level]
    return off + 5 * max(bottom - measured, measured - top, 0.0)


def _points(value: int, last: tuple[int, int]) -> int:
    return 0 if value <= last[0] else 1 if value <= last[1] else 2
