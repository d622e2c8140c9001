"""How much a token tells about its text: how surprising it is where it stands.

Inverse document frequency would call every word of a word-problem skeleton rare, because few samples use that
skeleton, and two honest siblings that differ in their names and numbers would look alike. But within the skeleton
each word is certain from the one beside it. So a token weighs what it surprises, in nats, after the token before it
or before the token after it, whichever predicts it better, on average over the pool. Names and numbers weigh much,
fixed wording little; in free text every content word weighs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ngrams import pairs
from .tokenstream import U64, TokenStream

F64 = NDArray[np.float64]

TEXTS = 20_000
"""Enough to know the wording of a pool of any size."""

FLOOR = 0.3
"""Even fixed wording counts a little: without it two texts of nothing but fixed wording would have no similarity."""


@dataclass(frozen=True, slots=True)
class Rarity:
    tokens: U64
    weights: F64

    def of(self, tokens: U64) -> F64:
        """Tokens that the pool does not have weigh as much as its heaviest."""
        place = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        return np.where(self.tokens[place] == tokens, self.weights[place], self.weights.max())


def rarity(stream: TokenStream) -> Rarity:
    """From an evenly spread choice of texts; the pool's order is already random."""
    if stream.texts > TEXTS:
        stream = stream.take(np.linspace(0, stream.texts - 1, TEXTS).astype(np.int64))
    line = with_edges(stream)
    kinds, kind, of_kind = _numbered(line)
    _, pair, of_pair = _numbered(pairs(line))
    after = np.log(of_kind[kind[:-2]] / of_pair[pair[:-1]])
    before = np.log(of_kind[kind[2:]] / of_pair[pair[1:]])
    surprise = np.minimum(after, before)
    inner = kind[1:-1]
    weights = np.bincount(inner, weights=surprise, minlength=len(kinds)) / np.maximum(of_kind, 1)
    return Rarity(kinds, weights + FLOOR)


def with_edges(stream: TokenStream) -> U64:
    """All tokens in one line, with a zero before each text and after the last."""
    line = np.zeros(len(stream.hashes) + stream.texts + 1, dtype=np.uint64)
    line[np.arange(len(stream.hashes)) + stream.owners() + 1] = stream.hashes
    return line


def _numbered(values: U64) -> tuple[U64, NDArray[np.intp], NDArray[Any]]:
    return np.unique(values, return_inverse=True, return_counts=True)
