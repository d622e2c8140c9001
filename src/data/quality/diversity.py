"""Diversity of a pool's wording, and the stage `diversity_report`.

Everything is measured on what the user says (`scan.spoken`): the assistant of the demonstrations has one plain voice,
and its distinct-2 is only reported. Tokens keep their case, and punctuation counts: both are part of a register.

*distinct-n* of a whole corpus falls with its size and says nothing, so it is the mean over random windows of 5,000
tokens, of samples in random order; a bigram is inside its window.

*3-gram KL to v1* is KL(pool || v1), smoothed by adding half a count to every 3-gram that either side has. Most 3-grams
of any text occur once, so two halves of v1 are far from each other too; that distance is the noise floor, and the gate
takes the excess above it. Three rules keep the figure comparable between pools:

- both sides have the same number of samples and then of 3-grams, at any pool size, and so have the halves that make
  the floor: an estimate of KL depends on the amount of text;
- words that fewer than one sample in 200 uses count as one and the same word: new names and numbers (another seed)
  are not new wording;
- pool and v1 are read in the same random order, and the first part of the pool is compared with the last part of v1:
  the same question in two wordings is never compared, so the pool differs from that part in content as much as the
  first part of v1 does.

v1 against v1, of the same or another seed, measures an excess near 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from askgate_env.types import LANGS, Lang, Sample, Task

from ...core.check import evidence, now
from ...core.files import refuse_overlap, sidecar, write_json
from ..pool.meta import PoolMeta, read_meta
from .consistency import task_hash
from .scan import BATCH, MAX_SAMPLES, PoolScan, SpokenSample, measuring_seed, scan
from .token_stream import CUT_BITS, I64, U64, TokenStream, distinct, ngrams, pairs

WINDOW = 5_000
"""Tokens of a window in which distinct-n is measured."""
WINDOWS = 64
SMOOTHING = 0.5
"""Count that is added to every 3-gram."""
COMMON_WORD_SHARE = 1 / 200
"""Share of the samples from which a word is common; all others count as one word."""
ZIPF_RANKS = 1_000
MIN_COVERAGE = 0.01
"""Share of the samples from which a role or register counts as covered: three odd samples are no coverage."""

Reference = Callable[[PoolMeta, int], Iterable[Sample]]
"""Makes the first `n` samples of a pool again with `pack_v1`: same builder, source, mix and seed."""
Scope = tuple[Task | None, Lang | None]


class Wording(Struct, frozen=True):
    """Diversity figures. None where there is too little text: a window of 5,000 tokens for distinct-n, two samples a
    side for KL."""

    samples: int
    tokens: int
    ttr: float | None
    """Type-token ratio; comparable only between texts of the same size."""
    distinct1: float | None
    distinct2: float | None
    zipf_slope: float | None
    kl3: float | None
    kl3_floor: float | None
    kl3_excess: float | None


class Divergence(NamedTuple):
    """3-gram KL to v1, its noise floor, and the excess above it."""

    distance: float
    floor: float
    excess: float


def diversity_report(pool: Path, out: Path, reference: Reference) -> dict[str, Any]:
    refuse_overlap({"--out": out}, {"POOL": pool})
    started = now()
    meta = read_meta(pool)
    scanned = scan(pool, meta)
    v1, _ = read_reference(scanned, meta, reference)
    figures = diversity_figures(scanned, wording_by_scope(scanned, meta, v1))
    proof = evidence([pool, sidecar(pool)], [], {"pool": str(pool), "out": str(out)}, started)
    report = {"stage": "diversity_report", "samples": scanned.n, **figures, "evidence": proof}
    write_json(out, report)
    return report


def read_reference(scanned: PoolScan, meta: PoolMeta, reference: Reference) -> tuple[SpokenSample, list[int]]:
    """The spoken text of v1, and the hashes of its tasks, which are the pool's tasks built again."""
    v1 = SpokenSample(MAX_SAMPLES, measuring_seed(meta))
    rebuilt: list[int] = []
    # Never more than the pool has: a source of real questions may have no more.
    samples = iter(reference(meta, min(MAX_SAMPLES, scanned.n)))
    while batch := list(islice(samples, BATCH)):
        v1.add(batch)
        rebuilt += [task_hash(sample) for sample in batch]
    return v1, rebuilt


def wording_by_scope(scanned: PoolScan, meta: PoolMeta, v1: SpokenSample) -> dict[Scope, Wording]:
    """Diversity figures of the whole pool, of each language, of each task, and of each language in a task."""
    out: dict[Scope, Wording] = {}
    scopes: list[Scope] = [(task, lang) for task in (None, *scanned.tasks()) for lang in (None, *LANGS)]
    for task, lang in scopes:
        texts = scanned.spoken.stream(task, lang)
        if texts.texts:
            out[task, lang] = wording(texts, v1.stream(task, lang), measuring_seed(meta))
    return out


def diversity_figures(scanned: PoolScan, scopes: dict[Scope, Wording]) -> dict[str, Any]:
    """The figures as a report has them: overall and by task."""

    def figures(task: Task | None) -> dict[str, Any]:
        return {
            **msgspec.structs.asdict(scopes[task, None]),
            "roles": _shares(scanned.roles, task),
            "registers": _shares(scanned.registers, task),
            "langs": {lang: scopes[task, lang] for lang in LANGS if (task, lang) in scopes},
            "assistant_distinct2": distinct_n(scanned.assistant.stream(task).hashes, 2, 0),
        }

    return {"overall": figures(None), "tasks": {task: figures(task) for task in scanned.tasks()}}


def _shares(counts: Counter[tuple[Task, str]], task: Task | None) -> dict[str, float]:
    """The share of each role or register, largest first."""
    names: Counter[str] = Counter()
    for (its_task, name), count in counts.items():
        if task in (None, its_task):
            names[name] += count
    return {name: count / names.total() for name, count in names.most_common()}


def count_covered(counts: Counter[tuple[Task, str]]) -> int:
    """Number of roles or registers with a share of at least `MIN_COVERAGE`."""
    return sum(share >= MIN_COVERAGE for share in _shares(counts, None).values())


def wording(texts: TokenStream, reference: TokenStream, seed: int) -> Wording:
    """Diversity figures of the first `MAX_SAMPLES` texts. Both streams are in random order."""
    texts = texts.slice(0, min(texts.texts, MAX_SAMPLES))
    distance, floor, excess = kl3(texts, reference) or (None, None, None)
    tokens = texts.hashes
    return Wording(
        samples=texts.texts,
        tokens=len(tokens),
        ttr=len(np.unique(tokens)) / len(tokens) if len(tokens) else None,
        distinct1=distinct_n(tokens, 1, seed),
        distinct2=distinct_n(tokens, 2, seed),
        zipf_slope=zipf_slope(tokens),
        kl3=distance,
        kl3_floor=floor,
        kl3_excess=excess,
    )


def distinct_n(tokens: U64, n: int, seed: int) -> float | None:
    """Mean share of different n-grams (n = 1 or 2) in random windows; None when the text is shorter than one."""
    if len(tokens) < WINDOW:
        return None
    starts = np.random.default_rng(seed).integers(0, len(tokens) - WINDOW + 1, WINDOWS)
    grams, size = (tokens, WINDOW) if n == 1 else (pairs(tokens), WINDOW - 1)
    windows = np.sort(grams[starts[:, None] + np.arange(size)], axis=1)  # a third of the time of `np.unique`
    different = 1 + np.count_nonzero(windows[:, 1:] != windows[:, :-1], axis=1)
    return float(np.mean(different / size))


def zipf_slope(tokens: U64) -> float | None:
    """Slope of log frequency over log rank for the commonest words; about -1 in natural text."""
    counts = np.sort(np.unique(tokens, return_counts=True)[1])[::-1][:ZIPF_RANKS]
    if len(counts) < 2:
        return None
    return float(np.polyfit(np.log(np.arange(1, len(counts) + 1)), np.log(counts), 1)[0])


def kl3(texts: TokenStream, reference: TokenStream) -> Divergence | None:
    """3-gram KL divergence of `texts` from `reference`, with its noise floor (see the top of this file)."""
    half = min(reference.texts // 2, texts.texts)
    if half < 1:
        return None
    first, last = reference.slice(0, half), reference.slice(reference.texts - half, reference.texts)
    sides = [texts.slice(0, half), first, last]
    common = _common_words(sides)
    grams = [ngrams(_masked(side, common), 3).hashes for side in sides]
    shortest = min(map(len, grams))
    ours, v1_first, v1_last = (side[:shortest] for side in grams)
    distance, floor = _divergence(ours, v1_last), _divergence(v1_first, v1_last)
    return Divergence(distance, floor, distance - floor)


def _common_words(sides: list[TokenStream]) -> U64:
    """Words that at least one sample in 200 uses, on any side; their hashes as `distinct` cuts them."""
    found = []
    for side in sides:
        words, samples = np.unique(distinct(side).hashes, return_counts=True)
        found.append(words[samples >= max(2, COMMON_WORD_SHARE * side.texts)])
    return np.unique(np.concatenate(found))


def _masked(side: TokenStream, common: U64) -> TokenStream:
    """The stream with every uncommon word replaced by one and the same token."""
    return TokenStream(np.where(np.isin(side.hashes >> CUT_BITS, common), side.hashes, np.uint64(0)), side.offsets)


def _divergence(ours: U64, theirs: U64) -> float:
    """Smoothed KL divergence of one list of 3-grams from another."""
    kinds, number = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    p = _smoothed(number[: len(ours)], len(kinds))
    q = _smoothed(number[len(ours) :], len(kinds))
    return float(np.sum(p * np.log(p / q)))


def _smoothed(numbers: I64, kinds: int) -> NDArray[np.float64]:
    counts = np.bincount(numbers, minlength=kinds).astype(np.float64) + SMOOTHING
    return counts / np.sum(counts)
