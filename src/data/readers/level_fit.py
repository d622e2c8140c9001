"""Fit of an item to the level that was asked for, before a template words it. Readers choose by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from askgate_env.tokenize import tokens
from askgate_env.types import Level

from ..difficulty import text_features as text
from ..difficulty.metrics import CLUE_OVERLAP_MEDIUM, difficulty_score
from ..pool.source import Item, Want, operations_missed, points_missed
from .articles import article_tokens

OVERLAP_BANDS: dict[Level, tuple[float, float]] = {
    "easy": (CLUE_OVERLAP_MEDIUM[1] + 0.02, 0.60),
    "medium": (0.10, 0.45),
    "hard": (0.09, CLUE_OVERLAP_MEDIUM[0]),
}
"""Range of clue_overlap by level: the medians of hard and easy must be within 0.10..0.20 and 0.40..0.65."""
OPERATION_MISSED = 0.1
"""Misfit of one operation too few or too many. It only decides between records that fit otherwise."""
MAX_SENTENCES = 3
"""Maximum number of sentences that a user restates."""


def context_tokens(item: Item) -> int:
    return sum(map(article_tokens, item.context))


def overlap(item: Item) -> float:
    return _clue_overlap(f"{item.clue} {item.question}", " ".join(item.support))


def turns(item: Item) -> int:
    return len(item.steps) + (item.hidden is not None) + 1


def score(item: Item, measured_overlap: float) -> int:
    """The difficulty score that the sample of this item will have, about."""
    said_tokens, entities, density = _wording(" ".join(filter(None, (item.premise, item.clue, item.question))))
    return difficulty_score(
        {
            "len_tokens": context_tokens(item) + said_tokens,
            "turns": turns(item),
            "tool_hops": len(item.steps),
            "ops_numeric": _operations(item),
            "entities": entities,
            "connector_density": density,
            "clue_overlap": round(measured_overlap, 4),
            "needs_clarification": item.hidden is not None,
        }
    )


@lru_cache(maxsize=256)
def _wording(said: str) -> tuple[int, int, float]:
    """Tokens, names and numbers, and connector density of what the user says, which hardly differs between the items
    that are tried for one record."""
    entities = len({name for _, name in text.names_en(said)}) + len(text.numbers(said))
    return len(tokens(said)), entities, round(text.connector_density(said), 2)


_clue_overlap = lru_cache(maxsize=256)(text.clue_overlap)


def nearest_item(items: Iterable[Item], want: Want) -> Item | None:
    """The item of the least misfit, the first of equals, among those that fit in the turns."""
    best: tuple[float, Item] | None = None
    for item in items:
        if turns(item) <= want.max_turns:
            off = misfit(item, want)
            if best is None or off < best[0] - 1e-9:
                best = (off, item)
            if off == 0:
                break
    return best[1] if best else None


def misfit(item: Item, want: Want) -> float:
    """Distance of an item from a want: 0 if score, overlap and, for arithmetic, operations are those of the level."""
    measured = overlap(item)
    points = score(item, measured)
    if item.task == "gsm8k":
        off: float = points_missed(points, want, want.tool_hops, want.ops_numeric)
        off += OPERATION_MISSED * operations_missed(_operations(item), want)
    else:
        off = points_missed(points, want, want.tool_hops)
    bottom, top = OVERLAP_BANDS[want.level]
    off += 5 * max(bottom - measured, measured - top, 0.0)
    return off


def _operations(item: Item) -> int:
    expressions = [step.input for step in item.steps if step.tool == "calc"]
    return sum(text.operators(expression) for expression in expressions) + text.asked_arithmetic(item.question)


def choose_clue(
    candidates: Sequence[str],
    question: str,
    support: Sequence[str],
    paraphrase: float,
    fits: Callable[[tuple[int, ...]], bool],
) -> tuple[int, ...] | None:
    """Indexes of the sentences that an easy question restates, among the choices that `fits` allows.

    They bring clue_overlap nearest to the top of the easy range for `paraphrase` 0, to its bottom for 1. Trigrams
    across sentence ends are not counted: they change the result in the third decimal.
    """
    low, high = OVERLAP_BANDS["easy"]
    aim = high - (high - low) * paraphrase
    asked, whole = text.char_trigrams(question), text.char_trigrams(" ".join(support))
    grams = [text.char_trigrams(sentence) for sentence in candidates]
    sizes = range(1, min(MAX_SENTENCES, len(candidates)) + 1)
    choices = (chosen for size in sizes for chosen in combinations(range(len(candidates)), size) if fits(chosen))

    def distance(chosen: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        restated = asked.union(*(grams[index] for index in chosen))
        reached = len(restated & whole) / len(restated | whole) if restated else 0.0
        return abs(reached - aim) + 0.01 * len(chosen), chosen

    return min(choices, key=distance, default=None)
