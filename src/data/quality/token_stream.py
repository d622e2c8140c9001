"""Tokens and n-grams of many texts at once, as numpy arrays. The tokens are those of `askgate_env.tokenize.tokens`.

Texts are joined, converted to code points, classified by a table, and cut where a token starts. A token is identified
by a 64-bit hash: the sum over its characters of a random number for the character times a random odd number for its
position. Two different tokens share a hash about once in 2**64 pairs, so every count made here is exact in practice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from askgate_env.tokenize import CJK

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

CHARS_AT_ONCE = 2**19
"""Characters handled at once: small enough that the working arrays stay in the processor's cache."""

SPACE, WORD, SINGLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class TokenStream:
    """Token hashes of many texts, concatenated: text `i` has `hashes[offsets[i] : offsets[i + 1]]`."""

    hashes: U64
    offsets: I64

    @property
    def texts(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> I64:
        return np.diff(self.offsets)

    def text(self, index: int) -> U64:
        return self.hashes[self.offsets[index] : self.offsets[index + 1]]

    def slice(self, first: int, last: int) -> TokenStream:
        """Texts `first` to `last` (without `last`); the tokens are not copied."""
        start = self.offsets[first]
        return TokenStream(self.hashes[start : self.offsets[last]], self.offsets[first : last + 1] - start)

    def take(self, indices: I64) -> TokenStream:
        """The chosen texts, in the order of `indices`."""
        sizes = self.sizes[indices]
        offsets = offsets_of(sizes)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return TokenStream(self.hashes[np.repeat(self.offsets[indices], sizes) + within], offsets)

    def owners(self) -> I64:
        """For every token the number of its text."""
        return np.repeat(np.arange(self.texts), self.sizes)

    def sums(self) -> U64:
        """For every text the sum of its hashes."""
        running: U64 = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(self.hashes)])
        return running[self.offsets[1:]] - running[self.offsets[:-1]]


def offsets_of(sizes: I64) -> I64:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def join_streams(streams: Sequence[TokenStream]) -> TokenStream:
    if not streams:
        return TokenStream(np.zeros(0, dtype=np.uint64), np.zeros(1, dtype=np.int64))
    sizes = np.concatenate([stream.sizes for stream in streams])
    return TokenStream(np.concatenate([stream.hashes for stream in streams]), offsets_of(sizes))


def token_stream(texts: Sequence[str]) -> TokenStream:
    """The tokens of texts, as hashes."""
    return join_streams([_hashed(chunk) for chunk in _chunks(texts)])


def count_tokens(texts: Sequence[str]) -> I64:
    counts = [np.diff(_cut(chunk)[2]) for chunk in _chunks(texts)]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def mix64(values: U64) -> U64:
    """Hashes of numbers: every input bit affects every output bit (the finalizer of splitmix64)."""
    out = values + np.uint64(0x9E3779B97F4A7C15)
    out ^= out >> np.uint64(30)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    out ^= out >> np.uint64(27)
    out *= np.uint64(0x94D049BB133111EB)
    out ^= out >> np.uint64(31)
    return out


def random_odd(count: int) -> U64:
    """Fixed odd multipliers, the same in every process."""
    return mix64(np.arange(count, dtype=np.uint64) << np.uint64(32)) | np.uint64(1)


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    chars = 0
    for text in texts:
        chunk.append(text)
        chars += len(text) + 1
        if chars >= CHARS_AT_ONCE:
            yield chunk
            chunk, chars = [], 0
    if chunk:
        yield chunk


def _cut(texts: list[str]) -> tuple[NDArray[np.uint32], I64, I64, NDArray[np.uint8]]:
    """Code points, where tokens start, which token is the first of each text, and the class of each code point."""
    joined = " ".join(texts)
    # A lone surrogate is not valid text, but `re` takes it as a character, so we do too.
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    classes = _class_table(_size(points))[points]
    starting = classes == SINGLE
    in_word = classes == WORD
    starting |= in_word
    starting[1:] &= ~(in_word[1:] & in_word[:-1])
    starts = np.flatnonzero(starting)
    begins = offsets_of(np.fromiter((len(text) + 1 for text in texts), dtype=np.int64, count=len(texts)))
    return points, starts, np.searchsorted(starts, begins), classes


def _hashed(texts: list[str]) -> TokenStream:
    points, starts, offsets, classes = _cut(texts)
    if not len(starts):
        return TokenStream(np.zeros(0, dtype=np.uint64), offsets)
    first = int(starts[0])
    reach = np.diff(starts, append=len(points))
    position = np.arange(first, len(points)) - np.repeat(starts, reach)
    values = _point_table(_size(points))[points[first:]]
    values *= random_odd(int(reach.max()))[position]
    values[classes[first:] == SPACE] = 0
    return TokenStream(np.add.reduceat(values, starts - first), offsets)


def _size(points: NDArray[np.uint32]) -> int:
    """Size of the tables for these code points. Few texts need more than the first plane, which takes a tenth of the
    time."""
    return 0x10000 if points.max(initial=0) < 0x10000 else 0x110000


@cache
def _class_table(size: int) -> NDArray[np.uint8]:
    """The class of every code point, taken from `re` itself so that the two cannot differ."""
    table = np.full(size, SINGLE, dtype=np.uint8)
    everything = np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for pattern, kind in ((r"\w+", WORD), (r"\s+", SPACE), (rf"[{CJK}]+", SINGLE)):
        for run in re.finditer(pattern, everything):
            table[run.start() : run.end()] = kind
    return table


@cache
def _point_table(size: int) -> U64:
    return mix64(np.arange(size, dtype=np.uint64))


TEXTS_AT_ONCE = 2**13

CUT_BITS = np.uint64(8)
"""`distinct` sorts 2**8 texts at a time by text and hash in one 64-bit number, which leaves 56 bits for the hash."""


def blocks(stream: TokenStream, texts: int = TEXTS_AT_ONCE) -> Iterator[TokenStream]:
    """The stream in pieces of a bounded number of texts, so that working memory does not grow with it."""
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
    """A hash of each whole text. It includes the length, so that a short text is no n-gram of a longer one."""
    position = np.arange(len(stream.hashes)) - np.repeat(stream.offsets[:-1], stream.sizes)
    return TokenStream(stream.hashes * factors[position], stream.offsets).sums() + stream.sizes.astype(np.uint64)


def pairs(tokens: U64) -> U64:
    """Hashes of the bigrams of one run of tokens."""
    factors = random_odd(2)
    return mix64(tokens[:-1] * factors[0] + tokens[1:] * factors[1])


def lookup(known: U64, values: U64) -> tuple[I64, NDArray[np.bool_]]:
    """Indices of the values in `known`, which is sorted, and flags of the values that are in it."""
    index = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return index, known[index] == values


def distinct(stream: TokenStream) -> TokenStream:
    """Each text as a set: its different hashes in rising order, cut to their upper 56 bits."""
    out = np.empty(len(stream.hashes), dtype=np.uint64)
    sizes = np.zeros(stream.texts, dtype=np.int64)
    filled = 0
    at_once = 2 ** int(CUT_BITS)
    shift = np.uint64(64) - CUT_BITS
    mask = np.uint64(2 ** int(shift) - 1)
    for number, block in enumerate(blocks(stream, at_once)):
        local = block.owners().astype(np.uint64) << shift
        keys = np.sort(local | (block.hashes >> CUT_BITS))
        if len(keys):
            keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        out[filled : filled + len(keys)] = keys & mask
        filled += len(keys)
        first = number * at_once
        sizes[first : first + block.texts] = np.bincount((keys >> shift).astype(np.int64), minlength=block.texts)
    return TokenStream(out[:filled].copy() if filled < len(out) // 2 else out[:filled], offsets_of(sizes))
