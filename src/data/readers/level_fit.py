"""How hard an item will come out, before a template has dressed it, so that a reader can aim at a level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from ...core.tokenize import tokens
from ...core.types import Level
from ..difficulty.metrics import (
    CLUE_OVERLAP_MEDIUM,
    ENTITIES,
    LEN_TOKENS,
    OPS_NUMERIC,
    TOOL_HOPS,
    TURNS,
    clarification_points,
    density_points,
    overlap_points,
)
from ..difficulty.text_features import (
    asked_arithmetic,
    char_trigrams,
    clue_overlap,
    connector_density,
    names_en,
    numbers,
    operators,
)
from ..pool.source import Item, Want, operations_missed, points_missed
from .articles import article_tokens

TEMPLATE_TOKENS = 30
"""What a template's own words add to a prompt, about."""
OVERLAP_BANDS: dict[Level, tuple[float, float]] = {
    "easy": (CLUE_OVERLAP_MEDIUM[1] + 0.02, 0.60),
    "medium": (0.10, 0.45),
    "hard": (0.09, CLUE_OVERLAP_MEDIUM[0]),
}
"""Where clue_overlap should lie: the medians of hard and easy must fall into 0.10..0.20 and 0.40..0.65."""
OPERATION_MISSED = 0.1
"""What one operation too few or too many counts against a record: it decides only among those that fit otherwise."""


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
    entities = len({name for _, name in names_en(said)}) + len(numbers(said))
    return (
        _points(length, LEN_TOKENS)
        + _points(turns(item), TURNS)
        + _points(len(item.steps), TOOL_HOPS)
        + _points(_operations(item), OPS_NUMERIC)
        + _points(entities, ENTITIES)
        + density_points(round(connector_density(said), 2))
        + overlap_points(round(measured_overlap, 4))
        + clarification_points(item.hidden is not None, turns(item))
    )


def misfit(item: Item, want: Want) -> float:
    """0 where the item has the level's score and overlap and, of arithmetic, the operations; else how far it is off."""
    measured = overlap(item)
    points = score(item, measured)
    if item.task == "gsm8k":
        off: float = points_missed(points, want, want.tool_hops, want.ops_numeric)
        off += OPERATION_MISSED * operations_missed(_operations(item), want)
    else:
        off = points_missed(points, want, want.tool_hops)
    bottom, top = OVERLAP_BANDS[want.level]
    return off + 5 * max(bottom - measured, measured - top, 0.0)


def _operations(item: Item) -> int:
    return sum(operators(step.input) for step in item.steps if step.tool == "calc") + asked_arithmetic(item.question)


def _points(value: int, last: tuple[int, int]) -> int:
    return 0 if value <= last[0] else 1 if value <= last[1] else 2


# Choosing the sentences of the supporting text that an easy question restates, to reach a range of clue_overlap.


MOST_SENTENCES = 3
"""A user restates a sentence or two, hardly more."""


def choose_clue(
    candidates: Sequence[str],
    question: str,
    support: Sequence[str],
    aim: float,
    fits: Callable[[tuple[int, ...]], bool],
) -> tuple[int, ...] | None:
    """Indexes of the candidates that bring the overlap nearest to `aim`, among the choices that `fits` allows.

    Trigrams across sentence ends are left out of the count: they move the result in the third decimal.
    """
    asked, whole = char_trigrams(question), char_trigrams(" ".join(support))
    grams = [char_trigrams(sentence) for sentence in candidates]
    best: tuple[float, tuple[int, ...]] | None = None
    for size in range(1, min(MOST_SENTENCES, len(candidates)) + 1):
        for chosen in combinations(range(len(candidates)), size):
            if not fits(chosen):
                continue
            told = asked.union(*(grams[index] for index in chosen))
            reached = len(told & whole) / len(told | whole) if told else 0.0
            ranked = (abs(reached - aim) + 0.01 * size, chosen)
            best = ranked if best is None else min(best, ranked)
    return best[1] if best else None
