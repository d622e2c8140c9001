"""Choosing the sentences of the supporting text that an easy question restates, to reach a range of clue_overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from ..difficulty.clue_overlap import char_trigrams

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
