"""How varied the wording of a pool is. Everything is measured on what user and assistant say (`spoken`).

Tokens count as they stand: case and punctuation are part of a register.

*distinct-n* of a whole corpus falls with its size and says nothing, so it is the mean over random windows of 5,000
tokens of samples that stand one after another in random order; a bigram lies inside its window.

*3-gram KL to v1* is KL(pool || v1), smoothed by adding half a count to every 3-gram that either side has. Most
3-grams of any text are seen once, so two halves of v1 are far from each other too; that distance is the noise floor,
and the gate takes what lies above it. Three rules keep the figure comparable between pools:

- both sides have the same number of samples and then of 3-grams, at any pool size, and so have the halves that make
  the floor: an estimate of KL depends on how much text it is made from;
- words that fewer than one sample in 200 uses count as one and the same word: new names and numbers (another seed)
  are not new wording;
- pool and v1 are read in the same random order, and the first part of the pool meets the last part of v1: the same
  questions in two wordings never meet, so the pool is as far from that part in content as the first part of v1 is.

v1 against v1, of the same or another seed, measures an excess near 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .ngrams import ngrams, pairs
from .tokenstream import I64, U64, TokenStream

WINDOW = 5_000
WINDOWS = 64
MOST_SAMPLES = 4_000
"""Samples that a figure is made from; a seeded choice where there are more."""
MOST_REFERENCE = MOST_SAMPLES
"""Of v1, which has to be built to be read: a half of it meets as many samples of the pool."""
ADDED = 0.5
COMMON = 1 / 200
ZIPF_RANKS = 1_000


class Wording(Struct, frozen=True):
    """None where there is too little text: a window of 5,000 tokens for distinct-n, two samples a side for KL."""

    samples: int
    """Samples that these figures were made from."""
    tokens: int
    ttr: float | None
    """Different tokens over tokens, over all of them; comparable only between texts of the same size."""
    distinct1: float | None
    distinct2: float | None
    zipf_slope: float | None
    kl3: float | None
    kl3_floor: float | None
    kl3_excess: float | None


@dataclass(frozen=True, slots=True)
class Divergence:
    distance: float
    floor: float

    @property
    def excess(self) -> float:
        return self.distance - self.floor


def wording(texts: TokenStream, reference: TokenStream, seed: int) -> Wording:
    """`texts` and `reference` in random order; of `texts` the first `MOST_SAMPLES` are used."""
    texts = texts.slice(0, min(texts.texts, MOST_SAMPLES))
    found = kl3(texts, reference)
    tokens = texts.hashes
    return Wording(
        samples=texts.texts,
        tokens=len(tokens),
        ttr=len(np.unique(tokens)) / len(tokens) if len(tokens) else None,
        distinct1=distinct_n(tokens, 1, seed),
        distinct2=distinct_n(tokens, 2, seed),
        zipf_slope=zipf_slope(tokens),
        kl3=found.distance if found else None,
        kl3_floor=found.floor if found else None,
        kl3_excess=found.excess if found else None,
    )


def distinct_n(tokens: U64, n: int, seed: int) -> float | None:
    """Mean share of different n-grams (n = 1 or 2) in random windows; None when the text is shorter than one."""
    if len(tokens) < WINDOW:
        return None
    starts = np.random.default_rng(seed).integers(0, len(tokens) - WINDOW + 1, WINDOWS)
    shares = []
    for start in starts:
        window = tokens[start : start + WINDOW]
        grams = window if n == 1 else pairs(window)
        shares.append(len(np.unique(grams)) / len(grams))
    return float(np.mean(shares))


def zipf_slope(tokens: U64) -> float | None:
    """Slope of log frequency over log rank for the commonest words; about -1 in natural text."""
    counts = np.sort(np.unique(tokens, return_counts=True)[1])[::-1][:ZIPF_RANKS]
    if len(counts) < 2:
        return None
    return float(np.polyfit(np.log(np.arange(1, len(counts) + 1)), np.log(counts), 1)[0])


def kl3(texts: TokenStream, reference: TokenStream) -> Divergence | None:
    half = min(reference.texts // 2, texts.texts)
    if half < 1:
        return None
    first, last = reference.slice(0, half), reference.slice(reference.texts - half, reference.texts)
    sides = [texts.slice(0, half), first, last]
    common = _common_words(sides)
    ours, v1, far = _equal_lengths([ngrams(_masked(side, common), 3).hashes for side in sides])
    return Divergence(distance=_divergence(ours, far), floor=_divergence(v1, far))


def _common_words(sides: list[TokenStream]) -> U64:
    """Words that at least one sample in 200 uses, on any side."""
    found = []
    for side in sides:
        per_sample = _used_in(side)
        words, samples = np.unique(per_sample, return_counts=True)
        found.append(words[samples >= max(2, COMMON * side.texts)])
    return np.unique(np.concatenate(found))


def _used_in(side: TokenStream) -> U64:
    """Each word once for each sample that uses it."""
    order = np.lexsort((side.hashes, side.owners()))
    words, owners = side.hashes[order], side.owners()
    new = np.ones(len(words), dtype=np.bool_)
    new[1:] = (words[1:] != words[:-1]) | (owners[1:] != owners[:-1])
    return words[new]


def _masked(side: TokenStream, common: U64) -> TokenStream:
    return TokenStream(np.where(np.isin(side.hashes, common), side.hashes, np.uint64(0)), side.offsets)


def _equal_lengths(sides: list[U64]) -> list[U64]:
    shortest = min(len(side) for side in sides)
    return [side[:shortest] for side in sides]


def _divergence(ours: U64, theirs: U64) -> float:
    kinds, number = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    p = _smoothed(number[: len(ours)], len(kinds))
    q = _smoothed(number[len(ours) :], len(kinds))
    return float(np.sum(p * np.log(p / q)))


def _smoothed(numbers: I64, kinds: int) -> NDArray[np.float64]:
    counts = np.bincount(numbers, minlength=kinds).astype(np.float64) + ADDED
    return counts / np.sum(counts)
