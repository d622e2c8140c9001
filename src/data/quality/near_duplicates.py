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

A large pool comes in shards, and each two of them are compared by a worker that holds their sets: the texts of the
later one with those of the earlier one. The shards follow from the pool's size alone, so the number of workers does not
change the result. Work grows with the square of the number of shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...runtime.workers import Kept, Workers
from .token_stream import I64, U64, TokenStream, blocks, distinct, join_streams, lookup, mix64, ngrams, offsets_of

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


def near_duplicates(stream: TokenStream, threshold: float = THRESHOLD) -> NearDuplicates:
    return near_duplicates_in_shards([[stream]], len(stream.hashes), Workers(), threshold)


def near_duplicates_in_shards(
    shards: Sequence[Sequence[Kept]], tokens: int, workers: Workers, threshold: float = THRESHOLD
) -> NearDuplicates:
    """Near duplicates of a pool that comes in shards. A shard is a list of token streams, which the workers keep;
    `tokens` is the number of tokens of all shards."""
    commonness = workers.share(_commonness(shards, tokens, workers))
    sets, fingerprints = [], []
    calls = ((commonness, *streams) for streams in shards)
    for shard_fingerprints, kept in workers.keep(_sets_by_rarity, calls, parts=1):
        fingerprints.append(shard_fingerprints)
        sets += kept
    starts = offsets_of(np.array(list(map(len, fingerprints))))
    first, copies = _collapse(np.concatenate(fingerprints))
    texts = int(starts[-1])
    duplicate, unresolved = np.zeros((2, texts), dtype=np.bool_)
    duplicate[copies[:, 1]] = True
    # Texts of each shard without copies: their positions in the pool, and in the shard with its sets.
    distinct_texts = [first[slice(*np.searchsorted(first, starts[[shard, shard + 1]]))] for shard in range(len(sets))]
    in_shard = [
        (positions - start, kept) for positions, start, kept in zip(distinct_texts, starts[:-1], sets, strict=True)
    ]
    budgets = [PAIRS_AT_LEAST + PAIRS_PER_TEXT * len(positions) for positions in distinct_texts]
    examples = [(int(original), int(copy)) for original, copy in copies[: EXAMPLES // 2]]
    # All pairs of shards, each shard with itself first. The pairs of one distance run in parallel: each uses the budget
    # of its later shard.
    for distance in range(len(sets)):
        shard_pairs = [(later - distance, later) for later in range(distance, len(sets))]
        sides = [[part for shard in sorted({a, b}) for part in in_shard[shard]] for a, b in shard_pairs]
        searches = (
            (threshold, budgets[b], duplicate[distinct_texts[b]], *side)
            for (_, b), side in zip(shard_pairs, sides, strict=True)
        )
        for (a, b), found in zip(shard_pairs, workers.map(_search, searches), strict=True):
            positions = distinct_texts[b] if a == b else np.concatenate([distinct_texts[a], distinct_texts[b]])
            near, near_pairs, left, budgets[b] = found
            duplicate[positions[near]] = True
            unresolved[positions[left]] = True
            for earlier, later in near_pairs[: EXAMPLES - len(examples)]:
                examples.append((int(positions[earlier]), int(positions[later])))
    return NearDuplicates(texts, duplicate, len(copies), int((unresolved & ~duplicate).sum()), examples)


def _commonness(shards: Sequence[Sequence[Kept]], tokens: int, workers: Workers) -> NDArray[np.uint8]:
    """Frequency of the shingles of each bucket of hashes, as a power of two.

    The filter needs one order for all texts, not the best one, so counts are taken in buckets.
    """
    width = int(np.clip(np.ceil(np.log2(max(tokens, 1))) + 2, 10, 24))
    counts = np.zeros(2**width, dtype=np.int64)
    for buckets, times in workers.map(_count_buckets, ((width, *streams) for streams in shards)):
        counts[buckets] += times
    powers = np.ceil(np.log2(np.maximum(counts, 1)))
    return np.asarray(np.minimum(powers, 2**_RARITY_BITS - 1), dtype=np.uint8)


def _count_buckets(width: int, *streams: TokenStream) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    counts = np.zeros(2**width, dtype=np.int64)
    for block in blocks(join_streams(streams), 2**16):
        counts += np.bincount(
            (ngrams(block, SHINGLE).hashes >> np.uint64(64 - width)).astype(np.int64), minlength=2**width
        )
    buckets = np.flatnonzero(counts).astype(np.uint32)
    return buckets, counts[buckets].astype(np.uint32)


def _sets_by_rarity(commonness: NDArray[np.uint8], *streams: TokenStream) -> tuple[U64, TokenStream]:
    """A fingerprint of each text's set of shingles, and the sets, rarest shingle first: an element has a few bits for
    how common the shingle is, then its hash."""
    drop = np.uint64(64 - len(commonness).bit_length() + 1)
    parts = []
    for block in blocks(join_streams(streams)):
        grams = ngrams(block, SHINGLE)
        common = commonness[(grams.hashes >> drop).astype(np.int64)].astype(np.uint64) << np.uint64(64 - _RARITY_BITS)
        parts.append(distinct(TokenStream(common | (grams.hashes >> np.uint64(_RARITY_BITS)), grams.offsets)))
    sets = join_streams(parts)
    return TokenStream(mix64(sets.hashes), sets.offsets).sums(), sets


def _collapse(fingerprints: U64) -> tuple[I64, I64]:
    """The first text of every different set, in order, and (first, copy) pairs for the others."""
    _, first, inverse = np.unique(fingerprints, return_index=True, return_inverse=True)
    original = first[inverse].astype(np.int64)
    positions = np.arange(len(fingerprints))
    copies = positions[original != positions]
    return np.sort(first).astype(np.int64), np.stack([original[copies], copies], axis=1)


Found = tuple[I64, list[tuple[int, int]], I64, int]
"""Near duplicates, some pairs of them, the texts that were not compared with all others, and the rest of the budget."""


def _search(threshold: float, budget: int, known: NDArray[np.bool_], *parts: Any) -> Found:
    """Near duplicates among the chosen texts of one shard (`parts`: chosen, sets), or of those of a second shard
    (chosen, sets, chosen, sets) in the first. `known` flags the texts of the last shard that are duplicates already."""
    streams = [
        sets if len(chosen) == sets.texts else sets.take(chosen)
        for chosen, sets in zip(parts[::2], parts[1::2], strict=True)
    ]
    found = np.zeros(sum(stream.texts for stream in streams), dtype=np.bool_)
    first_later = len(found) - streams[-1].texts
    found[first_later:] = known
    sets = streams[0] if len(streams) == 1 else join_streams(streams)
    return _Search(sets, threshold, first_later).run(budget, found)


class _Search:
    """Posting lists of rare shingles over sets that are all different, and the walk through them.

    Texts from `first_later` on are searched for among those before it; where it is 0, among all earlier ones.
    """

    def __init__(self, sets: TokenStream, threshold: float, first_later: int = 0) -> None:
        self.sets = sets
        self.first_later = first_later
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
        lengths = np.unique(keys, return_counts=True)[1]
        shared = np.repeat(lengths > 1, lengths)
        self.texts = texts[order[shared]]
        lengths = lengths[lengths > 1]
        heads = np.cumsum(lengths) - lengths
        self.heads = np.repeat(heads, lengths)
        # An entry's neighbours end before its own place, or where the earlier shard ends in its list.
        self.ends = np.arange(len(self.texts))
        if self.first_later and len(heads):
            earlier = np.add.reduceat(self.texts < self.first_later, heads, dtype=np.int64)
            self.ends = np.repeat(heads + earlier, lengths)

    def run(self, budget: int, found: NDArray[np.bool_]) -> Found:
        """Searches for the later texts that are not found yet."""
        known = found.copy()
        examples: list[tuple[int, int]] = []
        is_searched = (self.ends > self.heads) & (self.texts >= self.first_later) & ~found[self.texts]
        active = np.flatnonzero(is_searched)
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
            active = active[(self.ends[active] - distance >= self.heads[active]) & ~found[self.texts[active]]]
        return np.flatnonzero(found & ~known), examples, np.unique(self.texts[active]).astype(np.int64), budget

    def _compare(self, later: I64, distance: int, steps: int, found: NDArray[np.bool_]) -> I64:
        """Near pairs (earlier, later) of these entries and the neighbours at `distance` .. `distance + steps`."""
        later = later[~found[self.texts[later]]]
        back = np.arange(distance, distance + steps)
        earlier = (self.ends[later][:, None] - back[None, :]).ravel()
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
        """Flags of the pairs that are near, by their exact similarity."""
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
    """Sets as a sparse matrix of ones, a column for each element; `rows` puts other sets into the same columns."""

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
