"""Does the pool give away the shadow set? Similarity of pool samples with shadow samples.

Similarity is the larger of two numbers, each taken on the prompt and on the complete question without wrapping:

- the Jaccard similarity of n-gram shingles, which sees copies;
- how much of the shadow text's content the pool text has: the share, weighted by `rarity`, of its tokens that the
  pool text has beside the same neighbour. It sees copies in which a few words were changed: three new words break
  fifteen 5-grams, and they lower even a Jaccard of single tokens weighted by idf, because new words are rare words.
  (GSM8K questions with three words replaced by new ones, similarity >= 0.85: that Jaccard sees 15 in 100, this share
  97, and neither sees one in 2,000 honest questions.) It asks what the shadow text has, not what the pool text adds,
  so it counts only where the two texts share half of all their tokens.

An honest sibling from the same generator has the same wording but other names and numbers, which carry the weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .ngrams import blocks, distinct, ngrams, pairs
from .rarity import Rarity, rarity
from .tokenstream import U64, TokenStream

HALF = 0.5
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
    """`pool` and `shadow` hold the same views (prompts, complete questions) in the same order."""
    best: dict[int, Match] = {}
    for ours, theirs in zip(pool, shadow, strict=True):
        if not ours.texts or not theirs.texts:
            continue
        for match in _shingle_matches(ours, theirs, n, threshold):
            _keep_best(best, match)
        for match in _content_matches(ours, theirs, threshold):
            _keep_best(best, match)
    ranked = sorted(best.values(), key=lambda match: (-match.similarity, match.pool))
    return Likeness(len(best), ranked[:EXAMPLES], frozenset(best))


def _keep_best(best: dict[int, Match], match: Match) -> None:
    if match.pool not in best or best[match.pool].similarity < match.similarity:
        best[match.pool] = match


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


def _shingle_matches(pool: TokenStream, shadow: TokenStream, n: int, threshold: float) -> Iterator[Match]:
    index = _Index(distinct(ngrams(shadow, n)))
    turned = index.matrix.T.tocsr()
    first = 0
    for block in blocks(pool):
        sets = distinct(ngrams(block, n))
        both = (index.rows(sets) @ turned).tocoo()
        similarity = both.data / (sets.sizes[both.row] + index.sizes[both.col] - both.data)
        for at in np.flatnonzero(_reaches(similarity, threshold)):
            yield Match(first + int(both.row[at]), int(both.col[at]), float(similarity[at]))
        first += block.texts


def _content_matches(pool: TokenStream, shadow: TokenStream, threshold: float) -> Iterator[Match]:
    rare = rarity(pool)
    index = _Index(distinct(shadow))
    weights = _set_weights(index, shadow, rare)
    # One product gives both sums: weighted tokens shared and plain tokens shared.
    sides = np.concatenate([index.matrix.multiply(weights).toarray(), index.matrix.toarray()]).T.astype(np.float32)
    total = np.maximum(index.matrix @ weights, 1e-9)
    first = 0
    for block in blocks(pool):
        sets = distinct(block)
        both = index.rows(sets) @ sides
        weighted, plain = both[:, : shadow.texts], both[:, shadow.texts :]
        half = plain >= HALF * (sets.sizes[:, None] + index.sizes[None, :] - plain)
        near = half & _reaches(weighted / total, threshold)
        for row, column in np.argwhere(near):
            similarity = content_share(block.text(int(row)), shadow.text(int(column)), rare)
            if _reaches(similarity, threshold):
                yield Match(first + int(row), int(column), similarity)
        first += block.texts


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
