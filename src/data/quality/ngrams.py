"""n-grams and sets of a token stream, still as arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .tokenstream import U64, TokenStream, mix64, offsets_of, random_odd

TEXTS_AT_ONCE = 2**13

_LOCAL_BITS = 8
"""`distinct` sorts 2**8 texts at a time by text and hash in one 64-bit number, which leaves 56 bits for the hash."""


def blocks(stream: TokenStream, texts: int = TEXTS_AT_ONCE) -> Iterator[TokenStream]:
    """The stream in pieces, so that working memory does not grow with it."""
    for first in range(0, stream.texts, texts):
        yield stream.slice(first, min(first + texts, stream.texts))


def ngrams(stream: TokenStream, n: int) -> TokenStream:
    """Hashes of the n-grams inside each text. A text with fewer than n tokens is one n-gram: the whole of it."""
    sizes = stream.sizes
    counts = np.maximum(sizes - n + 1, 1)
    offsets = offsets_of(counts)
    factors = random_odd(n)
    # One slot more than there are tokens: an empty last text still has a place to read its n-gram from.
    sums = np.zeros(len(stream.hashes) + 1, dtype=np.uint64)
    for step in range(min(n, len(stream.hashes))):
        sums[: len(stream.hashes) - step] += stream.hashes[step:] * factors[step]
    at = np.arange(offsets[-1]) + np.repeat(stream.offsets[:-1] - offsets[:-1], counts)
    grams = sums[at]
    short = np.flatnonzero(sizes < n)
    grams[offsets[short]] = _whole(stream.take(short), factors)
    return TokenStream(mix64(grams), offsets)


def _whole(stream: TokenStream, factors: U64) -> U64:
    """One sum a text, plus its length, which keeps a text of three tokens apart from longer ones."""
    place = np.arange(len(stream.hashes)) - np.repeat(stream.offsets[:-1], stream.sizes)
    running = np.zeros(len(stream.hashes) + 1, dtype=np.uint64)
    np.cumsum(stream.hashes * factors[place], out=running[1:])
    return running[stream.offsets[1:]] - running[stream.offsets[:-1]] + stream.sizes.astype(np.uint64)


def pairs(tokens: U64) -> U64:
    """Hashes of the bigrams of one run of tokens."""
    factors = random_odd(2)
    return mix64(tokens[:-1] * factors[0] + tokens[1:] * factors[1])


def distinct(stream: TokenStream) -> TokenStream:
    """Each text as a set: its different hashes in rising order, cut to their upper 56 bits."""
    out = np.empty(len(stream.hashes), dtype=np.uint64)
    sizes = np.zeros(stream.texts, dtype=np.int64)
    filled = 0
    at_once = 2**_LOCAL_BITS
    shift = np.uint64(64 - _LOCAL_BITS)
    mask = np.uint64(2 ** (64 - _LOCAL_BITS) - 1)
    for number, block in enumerate(blocks(stream, at_once)):
        local = block.owners().astype(np.uint64) << shift
        keys = np.sort(local | (block.hashes >> np.uint64(_LOCAL_BITS)))
        if len(keys):
            keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        out[filled : filled + len(keys)] = keys & mask
        filled += len(keys)
        first = number * at_once
        sizes[first : first + block.texts] = np.bincount((keys >> shift).astype(np.int64), minlength=block.texts)
    return TokenStream(out[:filled].copy() if filled < len(out) // 2 else out[:filled], offsets_of(sizes))
