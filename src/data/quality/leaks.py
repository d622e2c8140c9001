"""Leaks of the shadow set into the pool: similarity of pool samples with shadow samples.

Any text of a pool sample (prompt, complete question) may contain any text of a shadow sample: what a forger writes into
one field says nothing about the other. Similarity is the largest of three numbers:

- the Jaccard similarity of n-gram shingles, which finds copies;
- containment: the share of the shadow text's shingles that the pool text has, which finds copies inside longer texts;
- content share: the share of the shadow text's tokens, weighted by `Rarity`, that the pool text has beside the same
  neighbour. It finds copies in which a few words were changed: three new words break fifteen 5-grams, and they lower
  even a Jaccard of single tokens weighted by idf, because new words are rare words. (GSM8K questions with three words
  replaced by new ones, similarity >= 0.85: that Jaccard finds 15 in 100, this share 92, and neither flags one in 2,000
  honest questions.) In a short text three words are much of the weight, so a common word counts as had where other
  words are in its place: `replaced_tokens`.

The last two ask what the shadow text has, not what the pool text adds. So they search inside a longer text only for a
shadow text of some length, and for changed words only in one place; and they count only where the part that is unique
to the shadow text is shared too (`UniquePart`): an honest sibling from the same generator has the same wording but
other names and numbers. In a large pool the wording of a few samples can be as rare as names. So bigrams of
the unique part do not count if `MIN_UNRELATED` samples have them that have little else of the shadow text. Planted
copies are no such samples, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from askgate_env.types import Sample

from ...runtime.workers import Kept, Workers
from .near_duplicates import SetMatrix
from .rarity import Flags, Rarity, UniquePart, kept_tokens, rarity, replaced_tokens
from .token_stream import (
    CUT_BITS,
    I64,
    U64,
    TokenStream,
    blocks,
    distinct,
    join_streams,
    ngrams,
    offsets_of,
    pairs,
    token_stream,
)

MIN_JACCARD = 0.5
"""Jaccard similarity of the tokens below which two texts are not compared by content share."""
MIN_SEARCHED = 8
"""Shingles that a shadow text needs to be searched for inside longer texts; a shorter one may occur there by chance."""
EXAMPLES = 20
RARITY_TEXTS = 20_000
"""Texts that rarity is measured on: enough to know the wording of a pool of any size."""
MIN_UNRELATED = 10
"""A rare bigram is wording all the same if this many unrelated samples have it."""
MIN_OWN_SHARED = 0.35
"""A leak has at least this share of the unique part, without such wording."""
RELATED_SHARE = 0.4
"""A sample with at least this share of a shadow text's bigrams is related to it, such as a copy in a longer text."""
MIN_CANDIDATE_SHARE = 0.6
"""Weighted share of tokens, in any order, below which a text is not compared: replaced words are not in it."""


@dataclass(frozen=True, slots=True)
class Match:
    pool: int
    shadow: int
    similarity: float


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """A text of the pool and a similar text of the shadow set."""

    pool: int
    shadow: int
    similarity: float
    own_bigrams: U64 | None = None
    """The bigrams of the shadow text's unique part; None if the texts are alike in all."""
    is_shared: Flags | None = None
    """Flags of those that the pool's text has."""


@dataclass(frozen=True, slots=True)
class SimilarSamples:
    count: int
    """Number of pool samples at or above the similarity with at least one shadow sample."""
    examples: list[Match]
    matches: frozenset[int]


def leak_views(samples: Sequence[Sample]) -> tuple[TokenStream, TokenStream]:
    """The two texts of a sample that the leak check compares: prompt and complete question."""
    return token_stream([sample.prompt for sample in samples]), token_stream([sample.original for sample in samples])


def similar_samples(
    pool: tuple[TokenStream, ...], shadow: tuple[TokenStream, ...], n: int, threshold: float, samples: int | None = None
) -> SimilarSamples:
    """Pool samples that are similar to a shadow sample. Both sides come in one or more views (prompts, questions).
    `samples`: how many samples the pool's texts come from, if a view has several texts of a sample."""
    return similar_in_shards([[(view,) for view in pool]], [pool[0].texts], shadow, n, threshold, Workers(), samples)


def similar_in_shards(
    shards: Sequence[Sequence[Sequence[Kept]]],
    texts: Sequence[int],
    shadow: tuple[TokenStream, ...],
    n: int,
    threshold: float,
    workers: Workers,
    samples: int | None = None,
) -> SimilarSamples:
    """Similar samples of a pool that comes in shards. A shard has a list of token streams for each view, which the
    workers keep; `texts` is the number of texts of each shard."""
    theirs = join_streams(shadow)
    best: dict[int, Match] = {}
    if theirs.texts and sum(texts):
        views, starts = len(shards[0]), offsets_of(np.array(texts))
        shard_streams = [[stream for view in shard for stream in view] for shard in shards]
        measured = _measure_pool(shard_streams, views, starts, samples or sum(texts), theirs, shadow, workers)
        shared = workers.share(measured)
        calls = ((shared, n, threshold, views, *streams) for streams in shard_streams)
        found = [
            replace(pair, pool=start + pair.pool)
            for start, pairs_of_shard in zip(starts.tolist(), workers.map(_similar_pairs, calls), strict=False)
            for pair in pairs_of_shard
        ]
        for pair in _without_shared_wording(found, shard_streams, views, theirs, measured[2], workers):
            shadow_sample = pair.shadow % shadow[0].texts
            if pair.pool not in best or best[pair.pool].similarity < pair.similarity:
                best[pair.pool] = Match(pair.pool, shadow_sample, pair.similarity)
    ranked = sorted(best.values(), key=lambda match: (-match.similarity, match.pool))
    return SimilarSamples(len(best), ranked[:EXAMPLES], frozenset(best))


def _measure_pool(
    shard_streams: Sequence[Sequence[Kept]],
    views: int,
    starts: I64,
    samples: int,
    theirs: TokenStream,
    shadow: tuple[TokenStream, ...],
    workers: Workers,
) -> tuple[TokenStream, Rarity, UniquePart]:
    """The shadow set's texts, and the rarity and the unique parts as measured on the whole pool."""
    total = int(starts[-1])
    all_texts = views * total + theirs.texts
    # Evenly spaced texts of all views, then of the shadow set; the pool's order is already random.
    drawn = np.linspace(0, all_texts - 1, min(all_texts, RARITY_TEXTS)).astype(np.int64)
    unique = UniquePart(shadow)
    shared = workers.share(unique)
    calls = []
    for start, end, streams in zip(starts[:-1], starts[1:], shard_streams, strict=True):
        drawn_here = []
        for view_start in range(0, views * total, total):
            first, last = view_start + start, view_start + end
            drawn_here.append(drawn[(drawn >= first) & (drawn < last)] - first)
        calls.append((shared, drawn_here, views, *streams))
    counted = list(workers.map(_count, calls))
    unique.count([counts for counts, _ in counted], samples)
    pool_texts = [texts[view] for view in range(views) for _, texts in counted]
    shadow_texts = theirs.take(drawn[drawn >= views * total] - views * total)
    return theirs, rarity(join_streams([*pool_texts, shadow_texts])), unique


def _count(
    unique: UniquePart, drawn: Sequence[I64], views: int, *streams: TokenStream
) -> tuple[tuple[I64, I64], list[TokenStream]]:
    """Counts of a shard for the unique parts, and the texts of each view that are drawn for the rarity."""
    joined = _join_views(views, streams)
    return unique.counts(joined), [view.take(indices) for view, indices in zip(joined, drawn, strict=True)]


def _similar_pairs(
    measured: tuple[TokenStream, Rarity, UniquePart],
    n: int,
    threshold: float,
    views: int,
    *streams: TokenStream,
) -> list[SimilarPair]:
    """The pairs of a text of a shard and a similar shadow text."""
    theirs, rare, unique = measured
    return [
        pair
        for ours in _join_views(views, streams)
        for pair in chain(
            _shingle_matches(ours, theirs, n, threshold, unique),
            _content_matches(ours, theirs, n, threshold, rare, unique),
        )
    ]


def _without_shared_wording(
    found: Sequence[SimilarPair],
    shard_streams: Sequence[Sequence[Kept]],
    views: int,
    theirs: TokenStream,
    unique: UniquePart,
    workers: Workers,
) -> list[SimilarPair]:
    """The pairs that share more than wording: at least `MIN_OWN_SHARED` of those bigrams of the unique part that fewer
    than `MIN_UNRELATED` unrelated samples have."""
    texts = sorted({pair.shadow for pair in found if pair.own_bigrams is not None})
    if not texts:
        return list(found)
    shadow_texts = theirs.take(np.array(texts))
    calls = ((shadow_texts, views, *streams) for streams in shard_streams)
    related = np.sum(list(workers.map(_related_counts, calls)), axis=0).max(axis=0)
    wording: dict[int, U64] = {}
    start = 0
    for place, text in enumerate(texts):
        bigrams = _bigrams(shadow_texts.text(place))
        counts = unique.samples[np.searchsorted(unique.bigrams, bigrams)]
        wording[text] = bigrams[counts - related[start : start + len(bigrams)] >= MIN_UNRELATED]
        start += len(bigrams)

    def shares_its_own(pair: SimilarPair) -> bool:
        if pair.own_bigrams is None or pair.is_shared is None:
            return True
        is_own = ~np.isin(pair.own_bigrams, wording[pair.shadow])
        return not is_own.any() or bool(pair.is_shared[is_own].mean() >= MIN_OWN_SHARED)

    return [pair for pair in found if shares_its_own(pair)]


def _related_counts(shadow_texts: TokenStream, views: int, *streams: TokenStream) -> I64:
    """Number of related texts of a shard that have each bigram of each shadow text: a row for each view, and the
    bigrams of all shadow texts in a line."""
    wanted = [_bigrams(shadow_texts.text(place)) for place in range(shadow_texts.texts)]
    index = SetMatrix(distinct(ngrams(shadow_texts, 2)))
    columns = [np.searchsorted(index.columns, bigrams) for bigrams in wanted]
    counts = [np.zeros((views, len(bigrams)), dtype=np.int64) for bigrams in wanted]
    transposed = index.matrix.T.tocsr()
    for view, ours in enumerate(_join_views(views, streams)):
        for block in blocks(ours):
            rows = index.rows(distinct(ngrams(block, 2))).tocsr()
            shared = (rows @ transposed).tocoo()
            is_related = shared.data >= RELATED_SHARE * index.sizes[shared.col]
            for place in np.unique(shared.col[is_related]).tolist():
                related_rows = shared.row[is_related & (shared.col == place)]
                has = np.asarray(rows[related_rows].sum(axis=0)).ravel()
                counts[place][view] += has[columns[place]].astype(np.int64)
    return np.concatenate(counts, axis=1)


def _bigrams(text: U64) -> U64:
    """The different bigrams of a text, cut to the bits of `UniquePart.bigrams`."""
    return np.unique(pairs(text) >> CUT_BITS)


def _join_views(views: int, streams: Sequence[TokenStream]) -> list[TokenStream]:
    """One stream per view of a shard's streams, which come view after view."""
    each = len(streams) // views
    return [join_streams(streams[view * each : (view + 1) * each]) for view in range(views)]


def _shingle_matches(
    pool: TokenStream, shadow: TokenStream, n: int, threshold: float, unique: UniquePart
) -> Iterator[SimilarPair]:
    index = SetMatrix(distinct(ngrams(shadow, n)))
    transposed = index.matrix.T.tocsr()
    first = 0
    for block in blocks(pool):
        sets = distinct(ngrams(block, n))
        both = (index.rows(sets) @ transposed).tocoo()
        jaccard = both.data / (sets.sizes[both.row] + index.sizes[both.col] - both.data)
        containment = np.where(index.sizes[both.col] >= MIN_SEARCHED, both.data / index.sizes[both.col], 0)
        for pair in np.flatnonzero(_reaches(np.maximum(jaccard, containment), threshold)):
            row, column = int(both.row[pair]), int(both.col[pair])
            if _reaches(jaccard[pair], threshold):
                yield SimilarPair(first + row, column, float(jaccard[pair]))
            if _reaches(containment[pair], threshold):
                part = unique.shared_part(block.text(row), shadow.text(column))
                if part is not None:
                    yield SimilarPair(first + row, column, float(containment[pair]), *part)
        first += block.texts


def _content_matches(
    pool: TokenStream, shadow: TokenStream, n: int, threshold: float, rare: Rarity, unique: UniquePart
) -> Iterator[SimilarPair]:
    index = SetMatrix(distinct(shadow))
    # Columns are hashes cut to 56 bits; weights belong to whole hashes.
    whole = np.unique(shadow.hashes)
    weights = rare.of(whole)[np.searchsorted(whole >> CUT_BITS, index.columns)].astype(np.float32)
    shares = index.matrix.multiply(weights / np.maximum(index.matrix @ weights, 1e-9)[:, None]).tocsr()
    common = shares.multiply(unique.is_common[np.searchsorted(unique.tokens, index.columns)]).tocsr()
    all_common = np.asarray(common.sum(axis=1)).ravel()
    dense = shares.T.astype(np.float32).toarray(order="C")  # in another order every product would copy it
    first = 0
    for block in blocks(pool):
        rows = index.rows(distinct(block))
        share = rows @ dense
        ours_at, theirs_at = np.nonzero(_reaches(share, min(MIN_CANDIDATE_SHARE, threshold)))
        # Every common word may count as replaced, so this is the largest similarity that a pair can have.
        missing = all_common[theirs_at] - np.asarray(rows[ours_at].multiply(common[theirs_at]).sum(axis=1)).ravel()
        possible = share[ours_at, theirs_at] + missing >= threshold - 1e-4
        for row, column in zip(ours_at[possible].tolist(), theirs_at[possible].tolist(), strict=True):
            theirs, ours = shadow.text(column), block.text(row)
            if len(theirs) - n + 1 >= MIN_SEARCHED:
                ours = most_similar_passage(ours, theirs)
            shared = len(np.intersect1d(ours, theirs))
            if shared < MIN_JACCARD * (len(np.unique(ours)) + len(np.unique(theirs)) - shared):
                continue
            similarity = content_share(ours, theirs, rare, unique)
            if _reaches(similarity, threshold):
                part = unique.shared_part(ours, theirs)
                if part is not None:
                    yield SimilarPair(first + row, column, similarity, *part)
        first += block.texts


def most_similar_passage(ours: U64, theirs: U64) -> U64:
    """The passage of `ours`, a little longer than `theirs`, with the most bigrams of `theirs`."""
    length = len(theirs) + MIN_SEARCHED
    if len(ours) <= length:
        return ours
    found = np.concatenate([[0], np.cumsum(np.isin(pairs(ours), pairs(theirs)))])
    start = int(np.argmax(found[length - 1 :] - found[: len(found) - length + 1]))
    return ours[start : start + length]


def content_share(ours: U64, theirs: U64, rare: Rarity, unique: UniquePart) -> float:
    """Weighted share of the different tokens of `theirs` that `ours` has beside one of their neighbours there.

    A text's edges are neighbours too. Without the neighbour, a number that a sibling uses elsewhere would count.
    """
    if not len(theirs):
        return 0.0
    found = np.unique(theirs[kept_tokens(ours, theirs) | unique.common(theirs, replaced_tokens(ours, theirs))])
    return float(rare.of(found).sum() / rare.of(np.unique(theirs)).sum())


def _reaches(similarity: Any, threshold: float) -> Any:
    """Comparison with a margin: single-precision sums may fall just short of a share that is exactly the threshold."""
    return similarity >= threshold - 1e-6


def demonstration_leaks(samples: Sequence[Sample], shadow: Sequence[Sample], n: int, threshold: float) -> set[str]:
    """Ids of the samples with the source id of a shadow sample, or with its prompt or question in the demonstration.
    Replies of tools are not compared."""
    said: dict[str, set[str]] = {}
    for sample in samples:
        for turn in sample.dialogue:
            for text in (turn.text, turn.thought) if turn.by != "tool" else ():
                said.setdefault(text, set()).add(sample.id)
    sources = {sample.provenance.source_id for sample in shadow}
    leaks = {sample.id for sample in samples if sample.provenance.source_id in sources}
    owners = list(said.values())
    found = similar_samples((token_stream([*said]),), leak_views(shadow), n, threshold, len(samples)).matches
    return leaks.union(*(owners[index] for index in found))
