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
  words stand in its place: `replaced`.

The last two ask what the shadow text has, not what the pool text adds. So they search inside a longer text only for a
shadow text of some length, and for changed words only in one place; and they count only where the part that is unique
to the shadow text is shared too (`UniquePart`): an honest sibling from the same generator has the same wording but
other names and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askgate_env.types import Sample

from ...runtime.workers import Kept, Workers
from .near_duplicates import SetMatrix
from .token_stream import (
    CUT_BITS,
    I64,
    U64,
    TokenStream,
    blocks,
    distinct,
    join_streams,
    lookup,
    ngrams,
    offsets_of,
    pairs,
    random_odd,
    token_stream,
)

HALF = 0.5
LONG = 8
"""Shingles of a shadow text that is searched for inside longer texts; a shorter one may occur there by chance."""
EXAMPLES = 20
RARITY_TEXTS = 20_000
"""Texts that rarity is measured on: enough to know the wording of a pool of any size."""
RARITY_FLOOR = 0.3
"""Least weight of a token. Without it two texts of nothing but fixed wording would have no similarity."""
RAREST = 8
"""Number of bigrams, with all that are as rare, that make the unique part: two names with their neighbours."""
WORDING = 20
"""A bigram this many times as frequent as the rarest is wording: a short question may have one name of two bigrams."""
PLANTED = 0.02
"""A bigram in a smaller share of samples is never wording. A text planted more often fails the gate on duplicates."""
RAREST_SHARED = 0.7
"""Share of the unique part that a leak has. Three changed words spoil few bigrams of a name; another name, all."""

REST_SHARED = 0.65
"""Replaces `RAREST_SHARED` if bigrams of replaced common words are among those that are not shared."""
COMMON = 0.005
"""Share of the samples that have a common word. A name is in fewer."""
MOST_NUMBER = 10_000
"""Numbers below this are no common words, however many samples have them: other numbers make another problem."""
CHARACTERS = [chr(code) for code in range(0x4E00, 0xA000)]
"""Chinese characters. Each is a token, and names consist of common ones: only a common pair is a common word."""
IN_A_ROW = 2
"""Words in a row that may be replaced."""
CANDIDATE = 0.6
"""Weighted share of tokens, in any order, below which a text is not compared: replaced words are not in it."""

F64 = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Match:
    pool: int
    shadow: int
    similarity: float


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
    return similar_in_shards([[(one,) for one in pool]], [pool[0].texts], shadow, n, threshold, Workers(), samples)


def similar_in_shards(
    shards: Sequence[Sequence[Sequence[Kept]]],
    texts: Sequence[int],
    shadow: tuple[TokenStream, ...],
    n: int,
    threshold: float,
    workers: Workers,
    samples: int | None = None,
) -> SimilarSamples:
    """Similar samples of a pool in shards of so many texts. A shard has a list of token streams for each view, which
    the workers keep."""
    theirs = join_streams(shadow)
    best: dict[int, Match] = {}
    if theirs.texts and sum(texts):
        views, starts = len(shards[0]), offsets_of(np.array(texts))
        streams = [[one for view in shard for one in view] for shard in shards]
        given = workers.share(_measure(streams, views, starts, samples or sum(texts), theirs, shadow, workers))
        calls = ((given, shadow[0].texts, n, threshold, views, *some) for some in streams)
        for start, found in zip(starts.tolist(), workers.map(_matches, calls), strict=False):
            best |= {start + place: Match(start + place, *match) for place, match in found.items()}
    ranked = sorted(best.values(), key=lambda match: (-match.similarity, match.pool))
    return SimilarSamples(len(best), ranked[:EXAMPLES], frozenset(best))


def _measure(
    streams: Sequence[Sequence[Kept]],
    views: int,
    starts: I64,
    samples: int,
    theirs: TokenStream,
    shadow: tuple[TokenStream, ...],
    workers: Workers,
) -> tuple[TokenStream, Rarity, UniquePart]:
    """The shadow set's texts, and what rarity and unique parts take from the whole pool."""
    total = int(starts[-1])
    all_texts = views * total + theirs.texts
    # Evenly spaced texts; the pool's order is already random.
    rare_places = np.linspace(0, all_texts - 1, min(all_texts, RARITY_TEXTS)).astype(np.int64)
    unique = UniquePart(shadow)
    given = workers.share(unique)
    calls = []
    for start, end, some in zip(starts[:-1], starts[1:], streams, strict=True):
        here = [
            rare_places[(rare_places >= view * total + start) & (rare_places < view * total + end)]
            for view in range(views)
        ]
        calls.append((given, [places - view * total - start for view, places in enumerate(here)], views, *some))
    counted = list(workers.map(_count, calls))
    unique.count([one for one, _ in counted], samples)
    picked = [texts[view] for view in range(views) for _, texts in counted]
    own = theirs.take(rare_places[rare_places >= views * total] - views * total)
    return theirs, rarity(join_streams([*picked, own])), unique


def _count(
    unique: UniquePart, places: Sequence[I64], views: int, *streams: TokenStream
) -> tuple[tuple[I64, I64], list[TokenStream]]:
    """Counts of a shard for the unique parts, and its texts at these places of each view."""
    joined = _views(views, streams)
    return unique.counts(joined), [view.take(some) for view, some in zip(joined, places, strict=True)]


def _matches(
    given: tuple[TokenStream, Rarity, UniquePart],
    shadow_texts: int,
    n: int,
    threshold: float,
    views: int,
    *streams: TokenStream,
) -> dict[int, tuple[int, float]]:
    """The most similar shadow sample, and its similarity, of each sample of a shard that is similar to one."""
    theirs, rare, unique = given
    best: dict[int, tuple[int, float]] = {}
    for ours in _views(views, streams):
        for match in chain(
            _shingle_matches(ours, theirs, n, threshold, unique),
            _content_matches(ours, theirs, n, threshold, rare, unique),
        ):
            if match.pool not in best or best[match.pool][1] < match.similarity:
                best[match.pool] = match.shadow % shadow_texts, match.similarity
    return best


def _views(views: int, streams: Sequence[TokenStream]) -> list[TokenStream]:
    each = len(streams) // views
    return [join_streams(streams[view * each : (view + 1) * each]) for view in range(views)]


def _shingle_matches(
    pool: TokenStream, shadow: TokenStream, n: int, threshold: float, unique: UniquePart
) -> Iterator[Match]:
    index = SetMatrix(distinct(ngrams(shadow, n)))
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
            if _reaches(held[at], threshold) and unique.is_in(block.text(row), shadow.text(column)):
                yield Match(first + row, column, float(held[at]))
        first += block.texts


def _content_matches(
    pool: TokenStream, shadow: TokenStream, n: int, threshold: float, rare: Rarity, unique: UniquePart
) -> Iterator[Match]:
    index = SetMatrix(distinct(shadow))
    # Columns are hashes cut to 56 bits, weights go by the whole hash.
    whole = np.unique(shadow.hashes)
    weights = rare.of(whole)[np.searchsorted(whole >> CUT_BITS, index.columns)].astype(np.float32)
    sides = index.matrix.multiply(weights / np.maximum(index.matrix @ weights, 1e-9)[:, None]).tocsr()
    common = sides.multiply(unique.is_common[np.searchsorted(unique.tokens, index.columns)]).tocsr()
    all_common = np.asarray(common.sum(axis=1)).ravel()
    dense = sides.T.astype(np.float32).toarray(order="C")  # in another order every product would copy it
    first = 0
    for block in blocks(pool):
        rows = index.rows(distinct(block))
        share = rows @ dense
        at, of = np.nonzero(_reaches(share, min(CANDIDATE, threshold)))
        # Every common word may count as replaced, so this is the largest similarity that a pair can have.
        missing = all_common[of] - np.asarray(rows[at].multiply(common[of]).sum(axis=1)).ravel()
        possible = share[at, of] + missing >= threshold - 1e-4
        for row, column in zip(at[possible].tolist(), of[possible].tolist(), strict=True):
            theirs, ours = shadow.text(column), block.text(row)
            if len(theirs) - n + 1 >= LONG:
                ours = likest_passage(ours, theirs)
            shared = len(np.intersect1d(ours, theirs))
            if shared < HALF * (len(np.unique(ours)) + len(np.unique(theirs)) - shared):
                continue
            similarity = content_share(ours, theirs, rare, unique)
            if _reaches(similarity, threshold) and unique.is_in(ours, theirs):
                yield Match(first + row, column, similarity)
        first += block.texts


def likest_passage(ours: U64, theirs: U64) -> U64:
    """The passage of `ours`, a little longer than `theirs`, with the most bigrams of `theirs`."""
    length = len(theirs) + LONG
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
    found = np.unique(theirs[kept(ours, theirs) | unique.common(theirs, replaced(ours, theirs))])
    return float(rare.of(found).sum() / rare.of(np.unique(theirs)).sum())


def kept(ours: U64, theirs: U64) -> Flags:
    """Tokens of `theirs` that `ours` has beside one of their neighbours there."""
    shared = np.isin(pairs(np.pad(theirs, 1)), pairs(np.pad(ours, 1)))
    return np.asarray(shared[:-1] | shared[1:])


def replaced(ours: U64, theirs: U64) -> Flags:
    """Tokens of `theirs` in whose place `ours` has others: those before and after are there, at the same distance."""
    long, other = np.pad(theirs, 1), np.pad(ours, 1)
    found = np.zeros(len(long), dtype=bool)
    first, second = random_odd(2)
    for apart in range(2, min(IN_A_ROW + 2, len(long), len(other))):
        frames = other[:-apart] * first + other[apart:] * second
        hits = np.flatnonzero(np.isin(long[:-apart] * first + long[apart:] * second, frames))
        for step in range(1, apart):
            found[hits + step] = True
    return found[1:-1] & ~kept(ours, theirs)


def _reaches(similarity: Any, threshold: float) -> Any:
    """Comparison with a margin: single-precision sums may fall just short of a share that is exactly the threshold."""
    return similarity >= threshold - 1e-6


@dataclass(frozen=True, slots=True)
class Rarity:
    """Weight of each token: how surprising it is beside its neighbours, in nats, on average over the pool.

    Inverse document frequency would call every word of a word-problem skeleton rare, because few samples use that
    skeleton, and two honest siblings that differ in names and numbers would look alike. But within the skeleton each
    word is certain from the one beside it. So a token weighs its surprise after the token before it or before the token
    after it, whichever is smaller. Names and numbers weigh much, fixed wording little; in free text every content word
    weighs.
    """

    tokens: U64
    weights: F64

    def of(self, tokens: U64) -> F64:
        """Weights of tokens. Those that the pool does not have weigh as much as its heaviest."""
        place, known = lookup(self.tokens, tokens)
        return np.where(known, self.weights[place], self.weights.max())


def rarity(stream: TokenStream) -> Rarity:
    # All tokens in one line, with a zero before each text and after the last.
    line = np.zeros(len(stream.hashes) + stream.texts + 1, dtype=np.uint64)
    line[np.arange(len(stream.hashes)) + stream.owners() + 1] = stream.hashes
    kinds, kind, of_kind = np.unique(line, return_inverse=True, return_counts=True)
    _, pair, of_pair = np.unique(pairs(line), return_inverse=True, return_counts=True)
    after = np.log(of_kind[kind[:-2]] / of_pair[pair[:-1]])
    before = np.log(of_kind[kind[2:]] / of_pair[pair[1:]])
    surprise = np.minimum(after, before)
    inner = kind[1:-1]
    weights = np.bincount(inner, weights=surprise, minlength=len(kinds)) / np.maximum(of_kind, 1)
    return Rarity(kinds, weights + RARITY_FLOOR)


class UniquePart:
    """The part of a shadow text that is its own: the bigrams that the fewest other samples have.

    It goes by rank, and leaves out wording, which many more samples have. A question that is planted makes all its
    bigrams equally more frequent, and samples taken out of the pool make none of them rarer than the names. In Chinese,
    where a character is a token, a bigram is the start of a name.
    """

    samples: I64
    """Number of samples with each bigram."""
    planted: float
    """A bigram that is in fewer samples than this is never taken for wording."""
    is_common: Flags
    is_frequent: Flags
    """Flags of the bigrams that as many samples have as a common word."""

    def __init__(self, shadow: tuple[TokenStream, ...]) -> None:
        self.bigrams = np.unique(np.concatenate([ngrams(one, 2).hashes for one in shadow]) >> CUT_BITS)
        self.tokens = np.unique(np.concatenate([one.hashes for one in shadow]) >> CUT_BITS)
        self.is_character = np.isin(self.tokens, token_stream(CHARACTERS).hashes >> CUT_BITS)
        self._own, self._texts = self.counts(shadow), shadow[0].texts

    def counts(self, views: Sequence[TokenStream]) -> tuple[I64, I64]:
        """Number of texts with each bigram by view, and of those of the first view with each token."""
        bigrams = np.zeros((len(views), len(self.bigrams)), dtype=np.int64)
        tokens = np.zeros(len(self.tokens), dtype=np.int64)
        for row, view in zip(bigrams, views, strict=True):
            for block in blocks(view):
                place, known = lookup(self.bigrams, distinct(ngrams(block, 2)).hashes)
                row += np.bincount(place[known], minlength=len(self.bigrams))
        for block in blocks(views[0]):
            place, known = lookup(self.tokens, distinct(block).hashes)
            tokens += np.bincount(place[known], minlength=len(self.tokens))
        return bigrams, tokens

    def count(self, pool: Sequence[tuple[I64, I64]], samples: int) -> None:
        """Takes the counts of the shards of a pool of so many samples. Prompt and question of one sample are not two
        samples."""
        bigrams, tokens = (np.sum(parts, axis=0) for parts in zip(*pool, strict=True))
        self.samples = bigrams.max(axis=0) + self._own[0].max(axis=0)
        self.planted = PLANTED * (samples + self._texts)
        numbers = np.isin(self.tokens, token_stream([str(number) for number in range(MOST_NUMBER)]).hashes >> CUT_BITS)
        many = COMMON * (samples + self._texts)
        self.is_common = (tokens + self._own[1] >= many) & ~numbers
        self.is_frequent = self.samples >= many

    def common(self, tokens: U64, gone: Flags) -> Flags:
        """Which of the replaced tokens of a shadow text (`gone`) are words, or characters of words, that many samples
        have. A frequent pair of characters is such a word only where both were replaced: the last character of a
        town's name is often before that for `town`."""
        at = np.searchsorted(self.tokens, tokens >> CUT_BITS)
        frequent = self.is_frequent[np.searchsorted(self.bigrams, pairs(tokens) >> CUT_BITS)]
        word = np.pad(frequent & gone[:-1] & gone[1:], 1)
        return np.asarray(gone & self.is_common[at] & (~self.is_character[at] | word[:-1] | word[1:]))

    def is_in(self, ours: U64, theirs: U64) -> bool:
        """Whether `ours` has enough of the unique part of the shadow text `theirs`."""
        bigrams, first = np.unique(pairs(theirs) >> CUT_BITS, return_index=True)
        if not len(bigrams):
            return True
        shared = np.isin(bigrams, pairs(ours) >> CUT_BITS)
        others = self.samples[np.searchsorted(self.bigrams, bigrams)] - shared
        wording = max(WORDING * (others.min() + 1), self.planted)
        rarest = others <= min(np.sort(others)[min(RAREST, len(others)) - 1], wording)
        if shared[rarest].mean() < REST_SHARED:
            return False
        # The other half of the bigram of a replaced common word is there beside its other neighbour.
        there, gone = kept(ours, theirs), self.common(theirs, replaced(ours, theirs))
        spared = (gone[first] & there[first + 1]) | (gone[first + 1] & there[first])
        return bool(shared[rarest & ~spared].mean() >= RAREST_SHARED)


def demonstration_leaks(samples: Sequence[Sample], shadow: Sequence[Sample], n: int, threshold: float) -> set[str]:
    """Ids of the samples whose demonstration shows a shadow sample: it is from the same source, or somebody says the
    shadow sample's prompt or question in it. What tools reply is not compared."""
    said: dict[str, set[str]] = {}
    for sample in samples:
        for turn in sample.dialogue:
            for text in (turn.text, turn.thought) if turn.by != "tool" else ():
                said.setdefault(text, set()).add(sample.id)
    sources = {sample.provenance.source_id for sample in shadow}
    leaks = {sample.id for sample in samples if sample.provenance.source_id in sources}
    owners = list(said.values())
    found = similar_samples((token_stream([*said]),), leak_views(shadow), n, threshold, len(samples)).matches
    return leaks.union(*(owners[place] for place in found))
