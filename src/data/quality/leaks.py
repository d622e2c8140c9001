"""Does the pool give away the shadow set? Similarity of pool samples with shadow samples.

Any text of a pool sample (prompt, complete question) may hold any text of a shadow sample: what a forger writes into
one field says nothing about the other. Similarity is the largest of three numbers:

- the Jaccard similarity of n-gram shingles, which sees copies;
- containment: the share of the shadow text's shingles that the pool text has, which sees copies inside longer texts;
- how much of the shadow text's content the pool text has: the share, weighted by `rarity`, of its tokens that the
  pool text has beside the same neighbour. It sees copies in which a few words were changed: three new words break
  fifteen 5-grams, and they lower even a Jaccard of single tokens weighted by idf, because new words are rare words.
  (GSM8K questions with three words replaced by new ones, similarity >= 0.85: that Jaccard sees 15 in 100, this share
  92, and neither sees one in 2,000 honest questions.)

The last two ask what the shadow text has, not what the pool text adds. So they look inside a longer text only for a
shadow text of some length, and for changed words only in one place; and they count only where the shadow text's own
part is shared too (`OwnPart`): an honest sibling from the same generator has the same wording but other names and
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .token_stream import I64, U64, TokenStream, blocks, distinct, join_streams, ngrams, pairs

HALF = 0.5
LONG = 8
"""Shingles of a shadow text that is worth looking for inside longer texts; a shorter one may stand there by chance."""
EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Match:
    pool: int
    shadow: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Likeness:
    count: int
    """Pool samples at or above the similarity with at least one shadow sample."""
    examples: list[Match]
    matches: frozenset[int]
    """Places in the pool of all samples that are counted."""


def similar_samples(
    pool: tuple[TokenStream, ...], shadow: tuple[TokenStream, ...], n: int, threshold: float
) -> Likeness:
    """`pool` and `shadow` hold one or more views (prompts, complete questions) of their samples."""
    theirs = join_streams(shadow)
    best: dict[int, Match] = {}
    if theirs.texts and pool[0].texts:
        rare, own = rarity(join_streams([*pool, theirs])), OwnPart(pool, shadow)
        for ours in pool:
            for match in _matches(ours, theirs, n, threshold, rare, own):
                sample = Match(match.pool, match.shadow % shadow[0].texts, match.similarity)
                if sample.pool not in best or best[sample.pool].similarity < sample.similarity:
                    best[sample.pool] = sample
    ranked = sorted(best.values(), key=lambda match: (-match.similarity, match.pool))
    return Likeness(len(best), ranked[:EXAMPLES], frozenset(best))


def _matches(
    ours: TokenStream, theirs: TokenStream, n: int, threshold: float, rare: Rarity, own: OwnPart
) -> Iterator[Match]:
    yield from _shingle_matches(ours, theirs, n, threshold, own)
    yield from _content_matches(ours, theirs, n, threshold, rare, own)


class _Index:
    """Sets of the shadow texts as a matrix, and sets of pool texts in the same columns."""

    def __init__(self, sets: TokenStream) -> None:
        self.columns, place = np.unique(sets.hashes, return_inverse=True)
        self.sizes = sets.sizes.astype(np.float32)
        shape = (sets.texts, len(self.columns))
        self.matrix = sparse.csr_matrix((np.ones(len(place), dtype=np.float32), place, sets.offsets), shape=shape)

    def rows(self, sets: TokenStream) -> Any:
        place = np.minimum(np.searchsorted(self.columns, sets.hashes), len(self.columns) - 1)
        known = self.columns[place] == sets.hashes
        counts = np.concatenate([[0], np.cumsum(known)])[sets.offsets]
        ones = np.ones(int(counts[-1]), dtype=np.float32)
        return sparse.csr_matrix((ones, place[known], counts), shape=(sets.texts, len(self.columns)))


def _shingle_matches(pool: TokenStream, shadow: TokenStream, n: int, threshold: float, own: OwnPart) -> Iterator[Match]:
    index = _Index(distinct(ngrams(shadow, n)))
    turned = index.matrix.T.tocsr()
    first = 0
    for block in blocks(pool):
        sets = distinct(ngrams(block, n))
        both = (index.rows(sets) @ turned).tocoo()
        jaccard = both.data / (sets.sizes[both.row] + index.sizes[both.col] - both.data)
        held = np.where(index.sizes[both.col] >= LONG, both.data / index.sizes[both.col], 0)
        for at in np.flatnonzero(_reaches(np.maximum(jaccard, held), threshold)):
            row, column = int(both.row[at]), int(both.col[at])
            if _reaches(jaccard[at], threshold):
                yield Match(first + row, column, float(jaccard[at]))
            if _reaches(held[at], threshold) and own.is_in(block.text(row), shadow.text(column)):
                yield Match(first + row, column, float(held[at]))
        first += block.texts


def _content_matches(
    pool: TokenStream, shadow: TokenStream, n: int, threshold: float, rare: Rarity, own: OwnPart
) -> Iterator[Match]:
    index = _Index(distinct(shadow))
    weights = _set_weights(index, shadow, rare)
    # A text that lacks too much of the weight anywhere lacks it beside the right neighbours too.
    sides = index.matrix.multiply(weights / np.maximum(index.matrix @ weights, 1e-9)[:, None]).toarray().T
    first = 0
    for block in blocks(pool):
        near = _reaches(index.rows(distinct(block)) @ sides.astype(np.float32), threshold)
        for row, column in np.argwhere(near):
            theirs = shadow.text(int(column))
            ours = block.text(int(row))
            if len(theirs) - n + 1 >= LONG:
                ours = likest_passage(ours, theirs)
            if not _half_shared(ours, theirs):
                continue
            similarity = content_share(ours, theirs, rare)
            if _reaches(similarity, threshold) and own.is_in(ours, theirs):
                yield Match(first + int(row), int(column), similarity)
        first += block.texts


def likest_passage(ours: U64, theirs: U64) -> U64:
    """The stretch of `ours`, little longer than `theirs`, with the most bigrams of it: a copy stands in one place."""
    length = len(theirs) + LONG
    if len(ours) <= length:
        return ours
    found = np.concatenate([[0], np.cumsum(np.isin(pairs(ours), pairs(theirs)))])
    start = int(np.argmax(found[length - 1 :] - found[: len(found) - length + 1]))
    return ours[start : start + length]


def _half_shared(ours: U64, theirs: U64) -> bool:
    shared = len(np.intersect1d(ours, theirs))
    return shared >= HALF * (len(np.unique(ours)) + len(np.unique(theirs)) - shared)


def _set_weights(index: _Index, shadow: TokenStream, rare: Rarity) -> NDArray[np.float32]:
    """A weight for each column. Columns are hashes cut to 56 bits, weights are known by the whole hash."""
    whole = np.unique(shadow.hashes)
    return rare.of(whole)[np.searchsorted(whole >> np.uint64(8), index.columns)].astype(np.float32)


def content_share(ours: U64, theirs: U64, rare: Rarity) -> float:
    """Weighted share of the different tokens of `theirs` that `ours` has beside one of their neighbours there.

    A text's edges are neighbours too. The neighbour keeps a number that siblings use elsewhere from counting as shared.
    """
    if not len(theirs):
        return 0.0
    shared = np.isin(pairs(np.pad(theirs, 1)), pairs(np.pad(ours, 1)))
    kept = np.unique(theirs[shared[:-1] | shared[1:]])
    return float(rare.of(kept).sum() / rare.of(np.unique(theirs)).sum())


def _reaches(similarity: Any, threshold: float) -> Any:
    """Sums in single precision may fall a hair short of a share that is exactly the threshold."""
    return similarity >= threshold - 1e-6


# How much a token tells about its text: how surprising it is where it stands.
#
# Inverse document frequency would call every word of a word-problem skeleton rare, because few samples use that
# skeleton, and two honest siblings that differ in their names and numbers would look alike. But within the skeleton
# each word is certain from the one beside it. So a token weighs what it surprises, in nats, after the token before it
# or before the token after it, whichever predicts it better, on average over the pool. Names and numbers weigh much,
# fixed wording little; in free text every content word weighs.


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
