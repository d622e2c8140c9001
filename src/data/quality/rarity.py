"""What is rare in the texts of a shadow set: how surprising a token is, and the part of a text that is its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .token_stream import (
    CUT_BITS,
    I64,
    U64,
    TokenStream,
    blocks,
    distinct,
    lookup,
    ngrams,
    pairs,
    random_odd,
    token_stream,
)

RARITY_FLOOR = 0.3
"""Least weight of a token. Without it two texts of nothing but fixed wording would have no similarity."""
UNIQUE_BIGRAMS = 8
"""Number of bigrams that make the unique part, with all that are as rare: two names with their neighbours."""
WORDING_RATIO = 20
"""A bigram that is this many times as frequent as the rarest is wording: a short question may have one name of two
bigrams."""
MIN_WORDING_SHARE = 0.02
"""A bigram in a smaller share of samples is not yet wording: copies that are planted often make bigrams frequent."""
MIN_UNIQUE_SHARED = 0.7
"""Share of the unique part that a leak has. Three changed words spoil few bigrams of a name; another name, all."""
MIN_UNIQUE_SHARED_IF_REPLACED = 0.65
"""Replaces `MIN_UNIQUE_SHARED` if bigrams of replaced common words are among those that are not shared."""
COMMON_SHARE = 0.005
"""Share of the samples that have a common word. A name is in fewer."""
NUMBERS_BELOW = 10_000
"""Numbers below this are no common words, however many samples have them: other numbers make another problem."""
CHARACTERS = [chr(code) for code in range(0x4E00, 0xA000)]
"""Chinese characters. Each is a token, and names consist of common ones: only a common pair is a common word."""
MAX_REPLACED_RUN = 2
"""Words in a row that may be replaced."""

F64 = NDArray[np.float64]
Flags = NDArray[np.bool_]


def kept_tokens(ours: U64, theirs: U64) -> Flags:
    """Tokens of `theirs` that `ours` has beside one of their neighbours there."""
    shared = np.isin(pairs(np.pad(theirs, 1)), pairs(np.pad(ours, 1)))
    return np.asarray(shared[:-1] | shared[1:])


def replaced_tokens(ours: U64, theirs: U64) -> Flags:
    """Tokens of `theirs` in whose place `ours` has others: those before and after are there, at the same distance."""
    theirs_padded, ours_padded = np.pad(theirs, 1), np.pad(ours, 1)
    found = np.zeros(len(theirs_padded), dtype=bool)
    first, second = random_odd(2)

    def frames(tokens: U64, distance: int) -> U64:
        """Hashes of the pairs of tokens at a distance."""
        hashes: U64 = tokens[:-distance] * first + tokens[distance:] * second
        return hashes

    for distance in range(2, min(MAX_REPLACED_RUN + 2, len(theirs_padded), len(ours_padded))):
        hits = np.flatnonzero(np.isin(frames(theirs_padded, distance), frames(ours_padded, distance)))
        for step in range(1, distance):
            found[hits + step] = True
    return found[1:-1] & ~kept_tokens(ours, theirs)


@dataclass(frozen=True, slots=True)
class Rarity:
    """Weight of each token: how surprising it is beside its neighbours, in nats, averaged over the pool.

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
        index, known = lookup(self.tokens, tokens)
        return np.where(known, self.weights[index], self.weights.max())


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
    min_wording_count: float
    """A bigram that is in fewer samples than this is not yet wording."""
    is_common: Flags
    """Flags of the tokens that are common words."""
    is_frequent: Flags
    """Flags of the bigrams that are in as many samples as a common word."""

    def __init__(self, shadow: tuple[TokenStream, ...]) -> None:
        self.bigrams = np.unique(np.concatenate([ngrams(one, 2).hashes for one in shadow]) >> CUT_BITS)
        self.tokens = np.unique(np.concatenate([one.hashes for one in shadow]) >> CUT_BITS)
        self.is_character = np.isin(self.tokens, token_stream(CHARACTERS).hashes >> CUT_BITS)
        self._shadow_counts, self._texts = self.counts(shadow), shadow[0].texts

    def counts(self, views: Sequence[TokenStream]) -> tuple[I64, I64]:
        """Number of texts with each bigram, by view, and number of texts of the first view with each token."""
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
        """Sets the counts from those of the shards of a pool with that many samples. Prompt and question of a sample
        count as one."""
        bigrams, tokens = (np.sum(parts, axis=0) for parts in zip(*pool, strict=True))
        self.samples = bigrams.max(axis=0) + self._shadow_counts[0].max(axis=0)
        self.min_wording_count = MIN_WORDING_SHARE * (samples + self._texts)
        numbers = np.isin(
            self.tokens, token_stream([str(number) for number in range(NUMBERS_BELOW)]).hashes >> CUT_BITS
        )
        many = COMMON_SHARE * (samples + self._texts)
        self.is_common = (tokens + self._shadow_counts[1] >= many) & ~numbers
        self.is_frequent = self.samples >= many

    def common(self, tokens: U64, gone: Flags) -> Flags:
        """Flags of the replaced tokens of a shadow text (`gone`) that are common words, or Chinese characters of one.

        A frequent pair of characters is a common word only where both were replaced: the last character of a town's
        name is often before that for `town`.
        """
        index = np.searchsorted(self.tokens, tokens >> CUT_BITS)
        frequent = self.is_frequent[np.searchsorted(self.bigrams, pairs(tokens) >> CUT_BITS)]
        word = np.pad(frequent & gone[:-1] & gone[1:], 1)
        return np.asarray(gone & self.is_common[index] & (~self.is_character[index] | word[:-1] | word[1:]))

    def shared_part(self, ours: U64, theirs: U64) -> tuple[U64, Flags] | None:
        """The bigrams of the unique part of the shadow text `theirs`, with flags of those that `ours` has; None if it
        has too few of them."""
        bigrams, first = np.unique(pairs(theirs) >> CUT_BITS, return_index=True)
        if not len(bigrams):
            return None  # a text of one token: only the comparison of all shingles can find it
        shared = np.isin(bigrams, pairs(ours) >> CUT_BITS)
        others = self.samples[np.searchsorted(self.bigrams, bigrams)] - shared
        wording = max(WORDING_RATIO * (others.min() + 1), self.min_wording_count)
        rarest = others <= min(np.sort(others)[min(UNIQUE_BIGRAMS, len(others)) - 1], wording)
        if shared[rarest].mean() < MIN_UNIQUE_SHARED_IF_REPLACED:
            return None
        # The other token of the bigram of a replaced common word is still beside its other neighbour.
        kept, gone = kept_tokens(ours, theirs), self.common(theirs, replaced_tokens(ours, theirs))
        spared = (gone[first] & kept[first + 1]) | (gone[first + 1] & kept[first])
        own = rarest & ~spared
        return (bigrams[own], shared[own]) if shared[own].mean() >= MIN_UNIQUE_SHARED else None
