"""One pass over a pool. What stays in memory is small: token hashes of the questions, counts, and a bounded sample of
the spoken text."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askgate_env.types import ALL_TASKS, LANGS, Lang, Sample, Task, Turn

from ...core.errors import BadInput
from ...core.jsonl import read_unique
from ..pool.meta import PoolMeta, verify_sha256
from .consistency import contradictions, task_hash
from .shortcuts import Observed, observe
from .token_stream import I64, U64, TokenStream, count_tokens, join_streams, mix64, offsets_of, token_stream

BATCH = 256
MAX_SAMPLES = 4_000
"""Samples of a group whose spoken text is kept; a seeded random sample where there are more."""


def spoken(sample: Sample, by: Literal["user", "assistant"] = "user") -> str:
    """What the user says in a sample, or what the assistant does: thoughts, asks, call inputs, answer.

    The gates measure the user's side: the assistant of the demonstrations has one plain voice. Tool results and
    articles are left out: no template can make them more varied.
    """
    parts = [sample.prompt] if by == "user" else []
    for turn in _after_prompt(sample):
        if turn.by == by:
            parts += (turn.thought, turn.text)
    return "\n".join(parts)


def rendered(sample: Sample) -> str:
    """Everything that a model may have to read: prompt, articles, and the dialogue with its tool results."""
    parts = [sample.prompt]
    for article in sample.context:
        parts.append(article.title)
        parts += article.sentences
    for turn in _after_prompt(sample):
        parts += (turn.thought, turn.text)
    return "\n".join(parts)


def _after_prompt(sample: Sample) -> tuple[Turn, ...]:
    """The dialogue without the prompt, which may also be its first turn: it is counted once."""
    opening = sample.dialogue[:1]
    if opening and opening[0].by == "user" and opening[0].text == sample.prompt:
        return sample.dialogue[1:]
    return sample.dialogue


class SpokenSample:
    """A bounded random sample of spoken texts for each task and language, drawn while a pool streams by.

    Each text gets a random number from its position and the seed, and a group keeps those with the smallest numbers.
    So the choice for a task, a language or everything is the start of one random order, whatever the size of the pool.
    """

    def __init__(self, most: int, seed: int, by: Literal["user", "assistant"] = "user") -> None:
        self._most, self._by = most, by
        self._seed = mix64(np.array([seed % 2**63], dtype=np.uint64))[0]
        self._seen = 0
        self._kept: dict[tuple[Task, Lang], list[tuple[int, U64]]] = {
            (task, lang): [] for task in ALL_TASKS for lang in LANGS
        }
        self._limit: dict[tuple[Task, Lang], int] = dict.fromkeys(self._kept, 2**64)

    def add(self, samples: Sequence[Sample]) -> None:
        numbers = np.arange(self._seen, self._seen + len(samples), dtype=np.uint64)
        self._seen += len(samples)
        ranks = mix64(numbers ^ self._seed).tolist()
        chosen = [
            (rank, sample)
            for rank, sample in zip(ranks, samples, strict=True)
            if rank < self._limit[sample.task, sample.lang]
        ]
        stream = token_stream([spoken(sample, self._by) for _, sample in chosen])
        for index, (rank, sample) in enumerate(chosen):
            self._kept[sample.task, sample.lang].append((rank, stream.text(index).copy()))
        for group, kept in self._kept.items():
            if len(kept) > 2 * self._most:
                kept.sort(key=lambda entry: entry[0])
                del kept[self._most :]
                self._limit[group] = kept[-1][0]

    def stream(self, task: Task | None = None, lang: Lang | None = None) -> TokenStream:
        """Up to `most` texts of a task and a language (None: all) in random order."""
        kept = [
            entry
            for (its_task, its_lang), entries in self._kept.items()
            if task in (None, its_task) and lang in (None, its_lang)
            for entry in entries
        ]
        kept.sort(key=lambda entry: entry[0])
        texts = [tokens for _, tokens in kept[: self._most]]
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return TokenStream(np.concatenate([np.zeros(0, dtype=np.uint64), *texts]), offsets_of(sizes))


class PoolScan:
    """Everything that the quality checks need of a pool. Lists and arrays have one entry per sample, in its order."""

    prompts: TokenStream
    originals: TokenStream
    lengths: I64
    """Tokens of the rendered sample."""
    needs: NDArray[np.bool_]

    def __init__(self, seed: int) -> None:
        self.spoken = SpokenSample(MAX_SAMPLES, seed)
        self.assistant = SpokenSample(MAX_SAMPLES, seed, "assistant")
        self._observed: dict[tuple[Task, Lang], list[tuple[int, Observed]]] = {
            (task, lang): [] for task in ALL_TASKS for lang in LANGS
        }
        self._seed = mix64(np.array([seed % 2**63 ^ 1], dtype=np.uint64))[0]
        self.ids: list[str] = []
        self.task_hashes: list[int] = []
        self.roles: Counter[tuple[Task, str]] = Counter()
        self.registers: Counter[tuple[Task, str]] = Counter()
        self.broken_rules: Counter[str] = Counter()
        self.contradicting: list[str] = []
        """Ids of the samples that contradict themselves."""
        self.from_shadow: list[str] = []
        """Ids of the samples whose source id the shadow set has."""
        self._batches: list[tuple[TokenStream, TokenStream, I64, NDArray[np.uint8]]] = []

    def add(self, samples: list[Sample], meta: PoolMeta, shadow_sources: Collection[str]) -> None:
        self.spoken.add(samples)
        self.assistant.add(samples)
        groups = [(ALL_TASKS.index(one.task), LANGS.index(one.lang), one.needs_clarification) for one in samples]
        self._batches.append(
            (
                token_stream([sample.prompt for sample in samples]),
                token_stream([sample.original for sample in samples]),
                count_tokens([rendered(sample) for sample in samples]),
                np.array(groups, dtype=np.uint8),
            )
        )
        ranks = mix64(np.arange(len(self.ids), len(self.ids) + len(samples), dtype=np.uint64) ^ self._seed).tolist()
        for rank, sample in zip(ranks, samples, strict=True):
            self._keep_observed(rank, sample)
            self.ids.append(sample.id)
            self.task_hashes.append(task_hash(sample))
            self.roles[sample.task, sample.provenance.role] += 1
            self.registers[sample.task, sample.provenance.register] += 1
            if sample.provenance.source_id in shadow_sources:
                self.from_shadow.append(sample.id)
            if broken := contradictions(sample, meta):
                self.broken_rules.update(broken)
                self.contradicting.append(sample.id)

    def _keep_observed(self, rank: int, sample: Sample) -> None:
        """Keep a bounded random sample of what the shortcut gates read: those with the smallest random numbers."""
        kept = self._observed[sample.task, sample.lang]
        if len(kept) == MAX_SAMPLES and rank >= -kept[0][0]:
            return
        entry = (-rank, observe(sample))
        if len(kept) < MAX_SAMPLES:
            heapq.heappush(kept, entry)
        else:
            heapq.heapreplace(kept, entry)

    def observed(self, task: Task, lang: Lang | None = None) -> list[Observed]:
        """Prompts and first tool replies of a random sample of a task, in one language or in all."""
        langs = LANGS if lang is None else (lang,)
        kept = [entry for one in langs for entry in self._observed[task, one]]
        return [seen for _, seen in sorted(kept, key=lambda entry: -entry[0])]

    def close(self) -> None:
        """Join the arrays of the batches."""
        prompts, originals, lengths, groups = zip(*self._batches, strict=True)
        self.prompts, self.originals = join_streams(prompts), join_streams(originals)
        self.lengths = np.concatenate(lengths)
        self._tasks, self._langs, needs = np.concatenate(groups).T
        self.needs = needs.astype(np.bool_)

    def where(self, task: Task, lang: Lang | None = None) -> I64:
        """Positions of the samples of a task, in one language or in all."""
        mask = self._tasks == ALL_TASKS.index(task)
        if lang is not None:
            mask &= self._langs == LANGS.index(lang)
        return np.flatnonzero(mask)

    def tasks(self) -> list[Task]:
        return [task for task in ALL_TASKS if len(self.where(task))]


def measuring_seed(meta: PoolMeta) -> int:
    """Seed of every random choice of a measurement. It comes from the pool's own bytes, so nobody can know in advance
    which samples will be measured and keep only those clean."""
    return int(meta.sha256[:8], 16)


def scan(pool: Path, meta: PoolMeta, shadow_sources: Collection[str] = ()) -> PoolScan:
    """Reads the pool once. A file that is no pool, or not the one that its sidecar describes, is refused."""
    verify_sha256(pool, meta, Sample)
    found = PoolScan(measuring_seed(meta))
    samples = read_unique(pool, Sample)
    while batch := list(islice(samples, BATCH)):
        found.add(batch, meta, shadow_sources)
    if not found.ids:
        raise BadInput("the pool is empty", where=str(pool), remedy="build it with build_rollout_pool")
    if len(found.ids) != meta.n:
        what = f"the pool has {len(found.ids)} samples and its sidecar says {meta.n}"
        raise BadInput(what, where=str(pool), remedy="build the pool again")
    found.close()
    return found
