"""A bounded random choice of samples' spoken text, for each task and language, made while a pool streams by.

Each sample gets a random number from its place and the seed, and a group keeps those with the smallest numbers. So
the choice for a task, a language or everything is the start of one random order, whatever the size of the pool.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.types import LANGS, TASKS, Lang, Sample, Task
from .spoken import spoken
from .tokenstream import U64, TokenStream, mix64, offsets_of, token_stream

Group = tuple[Task, Lang]


class SpokenChoice:
    def __init__(self, most: int, seed: int) -> None:
        self._most = most
        self._seed = mix64(np.array([seed % 2**63], dtype=np.uint64))[0]
        self._seen = 0
        self._kept: dict[Group, list[tuple[int, U64]]] = {(task, lang): [] for task in TASKS for lang in LANGS}
        self._limit: dict[Group, int] = dict.fromkeys(self._kept, 2**64)

    def add(self, samples: Sequence[Sample]) -> None:
        numbers = np.arange(self._seen, self._seen + len(samples), dtype=np.uint64)
        self._seen += len(samples)
        ranks = mix64(numbers ^ self._seed).tolist()
        chosen = [
            (rank, sample)
            for rank, sample in zip(ranks, samples, strict=True)
            if rank < self._limit[sample.task, sample.lang]
        ]
        stream = token_stream([spoken(sample) for _, sample in chosen])
        for index, (rank, sample) in enumerate(chosen):
            self._kept[sample.task, sample.lang].append((rank, stream.text(index).copy()))
        for group, kept in self._kept.items():
            if len(kept) > 2 * self._most:
                self._cut(group)

    def stream(self, task: Task | None = None, lang: Lang | None = None) -> TokenStream:
        """Up to `most` samples of a task and a language (None: all) in random order."""
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

    def _cut(self, group: Group) -> None:
        kept = sorted(self._kept[group], key=lambda entry: entry[0])[: self._most]
        self._kept[group] = kept
        self._limit[group] = kept[-1][0]
