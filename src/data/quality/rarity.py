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

from .ngrams import blocks, distinct, ngrams, pairs
from .tokenstream import I64, U64, TokenStream

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


RAREST = 8
"""Bigrams, and all that are as rare: two names with their neighbours."""

MOST = 0.7
"""Of them. Three changed words spoil few bigrams of a name, another name spoils all of its own."""


class OwnPart:
    """What a shadow text has for itself: its bigrams that the fewest other samples have.

    A rank and not a limit on how many: a question planted a hundred times makes all its bigrams more frequent alike,
    and samples taken out of the pool make none of them rarer than the names. In Chinese, where a character is a token,
    a bigram is what a name begins with.
    """

    def __init__(self, pool: tuple[TokenStream, ...], shadow: tuple[TokenStream, ...]) -> None:
        self.bigrams = np.unique(np.concatenate([ngrams(one, 2).hashes for one in shadow]) >> np.uint64(8))
        self.samples = self._most(pool) + self._most(shadow)

    def _most(self, views: tuple[TokenStream, ...]) -> I64:
        """In how many samples each bigram stands; prompt and question of one sample are not two samples."""
        most: I64 = np.max([self._samples(view) for view in views], axis=0)
        return most

    def _samples(self, view: TokenStream) -> I64:
        counts = np.zeros(len(self.bigrams), dtype=np.int64)
        for block in blocks(view):
            found = distinct(ngrams(block, 2)).hashes
            place = np.minimum(np.searchsorted(self.bigrams, found), len(self.bigrams) - 1)
            counts += np.bincount(place[self.bigrams[place] == found], minlength=len(self.bigrams))
        return counts

    def is_in(self, ours: U64, theirs: U64) -> bool:
        bigrams = np.unique(pairs(theirs) >> np.uint64(8))
        if not len(bigrams):
            return True
        shared = np.isin(bigrams, pairs(ours) >> np.uint64(8))
        others = self.samples[np.searchsorted(self.bigrams, bigrams)] - shared
        rarest = others <= np.sort(others)[min(RAREST, len(others)) - 1]
        return bool(shared[rarest].mean() >= MOST)
