"""Near duplicates, exactly: every text with a Jaccard similarity >= t of 5-gram shingles to an earlier text.

1. Texts with the same set of shingles are collapsed; all but the first are duplicates.
2. Prefix filter: order all shingles by rarity. Two sets with Jaccard >= t share one of their rarest
   `|x| - ceil(t|x|) + 1`. So only texts in the posting list of such a rare shingle are compared, and most posting
   lists of honest texts have one member.
3. A pair in a list is dropped when a 256-bit parity sketch, whose differing bits are a lower bound of the symmetric
   difference, rules the similarity out. The rest is counted exactly.

Work is bounded for pools of almost identical texts. Each text is compared with its nearest earlier neighbours in a
list first and leaves every list once it is known as a duplicate, so 30,000 copies cost one comparison each. Where
texts crowd the same lists without being duplicates, comparing stops after `PAIRS_PER_TEXT` pairs per text on average.
The texts that were not compared with all others by then are counted as `unresolved`, and a gate must count them as
duplicates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .token_stream import I64, U64, TokenStream, blocks, distinct, join_streams, lookup, mix64, ngrams

THRESHOLD = 0.85
SHINGLE = 5
PAIRS_PER_TEXT = 800
PAIRS_AT_LEAST = 20_000_000
PAIRS_AT_ONCE = 2**19
PAIRS_COUNTED_AT_ONCE = 2**14
EXAMPLES = 20

_EPSILON = 1e-9
_SKETCH_WORDS = 4
_RARITY_BITS = 4


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    texts: int
    duplicate: NDArray[np.bool_]
    """For every text, whether it is an exact or near duplicate of an earlier one."""
    exact: int
    """Number of duplicates whose set of shingles equals that of an earlier text."""
    unresolved: int
    """Texts not known as duplicates that were not compared with every earlier text that they could duplicate."""
    examples: list[tuple[int, int]]
    """Positions (earlier, later) of some pairs."""

    @property
    def count(self) -> int:
        return int(self.duplicate.sum())


def near_duplicates(stream: TokenStream, threshold: float = THRESHOLD, n: int = SHINGLE) -> NearDuplicates:
    sets = _sets_by_rarity(stream, n)
    first, copies = _collapse(sets)
    duplicate = np.zeros(stream.texts, dtype=np.bool_)
    duplicate[copies[:, 1]] = True
    different = sets if len(first) == sets.texts else sets.take(first)
    near, near_pairs, unresolved = _Search(different, threshold).run()
    duplicate[first[near]] = True
    examples = [(int(a), int(b)) for a, b in copies[: EXAMPLES // 2]]
    examples += [(int(first[a]), int(first[b])) for a, b in near_pairs[: EXAMPLES - len(examples)]]
    return NearDuplicates(stream.texts, duplicate, len(copies), unresolved, examples)


def _sets_by_rarity(stream: TokenStream, n: int) -> TokenStream:
    """Sets of shingles, rarest first: a few bits of how common a shingle is, then its hash.

    The filter needs one order for all texts, not the best one, so counts are taken in buckets of hashes.
    """
    width = int(np.clip(np.ceil(np.log2(max(len(stream.hashes), 1))) + 2, 10, 24))
    drop = np.uint64(64 - width)
    counts = np.zeros(2**width, dtype=np.int64)
    for block in blocks(stream, 2**16):
        counts += np.bincount((ngrams(block, n).hashes >> drop).astype(np.int64), minlength=2**width)
    commonness = np.minimum(np.ceil(np.log2(np.maximum(counts, 1))), 2**_RARITY_BITS - 1).astype(np.uint64)
    del counts
    commonness <<= np.uint64(64 - _RARITY_BITS)
    parts = []
    for block in blocks(stream):
        grams = ngrams(block, n)
        keys = commonness[(grams.hashes >> drop).astype(np.int64)] | (grams.hashes >> np.uint64(_RARITY_BITS))
        parts.append(distinct(TokenStream(keys, grams.offsets)))
    return join_streams(parts)


def _collapse(sets: TokenStream) -> tuple[I64, I64]:
    """The first text of every different set, in order, and (first, copy) pairs for the others."""
    running = np.zeros(len(sets.hashes) + 1, dtype=np.uint64)
    np.cumsum(mix64(sets.hashes), out=running[1:])
    names = running[sets.offsets[1:]] - running[sets.offsets[:-1]]
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    firsts = first[inverse].astype(np.int64)
    numbers = np.arange(sets.texts)
    copies = numbers[firsts != numbers]
    return np.sort(first).astype(np.int64), np.stack([firsts[copies], copies], axis=1)


class _Search:
    """Posting lists of rare shingles over sets that are all different, and the walk through them."""

    def __init__(self, sets: TokenStream, threshold: float) -> None:
        self.sets = sets
        self.threshold = threshold
        self.sizes = sets.sizes
        self.sketches = _sketches(sets)
        self._build_lists()

    def _build_lists(self) -> None:
        """Entries sorted by shingle, within a shingle by text; lists with one member are left out."""
        prefix = self.sizes - np.ceil(self.threshold * self.sizes - _EPSILON).astype(np.int64) + 1
        texts = np.repeat(np.arange(self.sets.texts, dtype=np.int32), prefix)
        begins = np.cumsum(prefix) - prefix
        keys = self.sets.hashes[np.arange(len(texts)) + np.repeat(self.sets.offsets[:-1] - begins, prefix)]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        new = np.ones(len(keys), dtype=np.bool_)
        new[1:] = keys[1:] != keys[:-1]
        heads = np.flatnonzero(new)
        lengths = np.diff(heads, append=len(keys))
        shared = np.repeat(lengths > 1, lengths)
        self.texts = texts[order[shared]]
        lengths = lengths[lengths > 1]
        self.heads = np.repeat(np.cumsum(lengths) - lengths, lengths)

    def run(self) -> tuple[I64, list[tuple[int, int]], int]:
        """Sets that are near an earlier one, some such pairs, and how many sets the budget left uncompared."""
        found = np.zeros(self.sets.texts, dtype=np.bool_)
        examples: list[tuple[int, int]] = []
        budget = PAIRS_AT_LEAST + PAIRS_PER_TEXT * self.sets.texts
        entries = np.arange(len(self.texts))
        active = entries[entries > self.heads]
        distance = 1
        while len(active) and budget > 0:
            steps = max(1, PAIRS_AT_ONCE // len(active))
            for first in range(0, len(active), PAIRS_AT_ONCE):
                later = active[first : first + PAIRS_AT_ONCE]
                near = self._compare(later, distance, steps, found)
                examples += [(int(a), int(b)) for a, b in near[: EXAMPLES - len(examples)]]
                found[near[:, 1]] = True
            budget -= len(active) * steps
            distance += steps
            active = active[(active - distance >= self.heads[active]) & ~found[self.texts[active]]]
        return np.flatnonzero(found), examples, len(np.unique(self.texts[active]))

    def _compare(self, later: I64, distance: int, steps: int, found: NDArray[np.bool_]) -> I64:
        """Near pairs (earlier, later) among these entries and those `distance` .. `distance + steps` before them."""
        later = later[~found[self.texts[later]]]
        back = np.arange(distance, distance + steps)
        earlier = (later[:, None] - back[None, :]).ravel()
        later = np.repeat(later, steps)
        inside = earlier >= self.heads[later]
        earlier, later = earlier[inside], later[inside]

        a, b = self.texts[earlier], self.texts[later]
        total = self.sizes[a] + self.sizes[b]
        shared_at_least = np.ceil(self.threshold / (1 + self.threshold) * total - _EPSILON)
        differing = np.bitwise_count(self.sketches[a] ^ self.sketches[b]).sum(axis=1, dtype=np.int64)
        keep = differing <= total - 2 * shared_at_least
        pairs = np.unique(np.stack([a[keep], b[keep]], axis=1).astype(np.int64), axis=0)
        return pairs[self._near(pairs)]

    def _near(self, pairs: I64) -> NDArray[np.bool_]:
        """The exact count for pairs that no filter could rule out."""
        starts = range(0, len(pairs), PAIRS_COUNTED_AT_ONCE)
        parts = [_shared(self.sets, pairs[start : start + PAIRS_COUNTED_AT_ONCE]) for start in starts]
        both = np.concatenate([np.zeros(0), *parts])
        near: NDArray[np.bool_] = both >= self.threshold * (self.sizes[pairs].sum(axis=1) - both) - _EPSILON
        return near


def _shared(sets: TokenStream, pairs: I64) -> NDArray[Any]:
    """Number of shared elements of each pair."""
    texts, row = np.unique(pairs, return_inverse=True)
    matrix = SetMatrix(sets.take(texts)).matrix
    earlier, later = row.reshape(-1, 2).T
    return np.asarray(matrix[earlier].multiply(matrix[later]).sum(axis=1)).ravel()


class SetMatrix:
    """Sets of some texts as a sparse matrix of ones, a column for each element, and other sets in the same columns."""

    def __init__(self, sets: TokenStream) -> None:
        self.columns, place = np.unique(sets.hashes, return_inverse=True)
        self.sizes = sets.sizes.astype(np.float32)
        self.matrix = self._rows(place, sets.offsets)

    def rows(self, sets: TokenStream) -> Any:
        """Other sets, without the elements that have no column."""
        place, known = lookup(self.columns, sets.hashes)
        return self._rows(place[known], np.concatenate([[0], np.cumsum(known)])[sets.offsets])

    def _rows(self, places: I64, offsets: I64) -> Any:
        ones = np.ones(len(places), dtype=np.float32)
        return sparse.csr_matrix((ones, places, offsets), shape=(len(offsets) - 1, len(self.columns)))


def _sketches(sets: TokenStream) -> U64:
    """256 parity bits a set; each element flips one."""
    out = np.zeros((sets.texts, _SKETCH_WORDS), dtype=np.uint64)
    filled = 0
    for block in blocks(sets):
        bits = np.uint64(1) << (block.hashes & np.uint64(63))
        words = (block.hashes >> np.uint64(6)) & np.uint64(_SKETCH_WORDS - 1)
        for word in range(_SKETCH_WORDS):
            # No set is empty: a text without tokens still has the one shingle of its whole.
            ones = np.where(words == word, bits, np.uint64(0))
            out[filled : filled + block.texts, word] = np.bitwise_xor.reduceat(ones, block.offsets[:-1])
        filled += block.texts
    return out
