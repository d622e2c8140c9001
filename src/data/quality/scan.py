"""One pass over a pool. What stays in memory is small: token hashes of the questions, counts, and a bounded choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BadInput
from ...core.jsonl import read_unique
from ...core.types import LANGS, TASKS, Lang, Sample, Task
from ..pool.meta import PoolMeta, described
from ..pool.rebuilt import task_hash
from .choice import SpokenChoice
from .consistency import contradictions
from .diversity import MOST_SAMPLES
from .spoken import rendered
from .tokenstream import I64, TokenStream, count_tokens, join_streams, token_stream

BATCH = 256
EXAMPLES = 20


@dataclass(slots=True)
class Tally:
    """What is counted sample by sample."""

    roles: Counter[tuple[Task, str]] = field(default_factory=Counter)
    registers: Counter[tuple[Task, str]] = field(default_factory=Counter)
    contradictions: Counter[str] = field(default_factory=Counter)
    contradicting: list[str] = field(default_factory=list)
    """Ids of the samples that contradict themselves."""
    from_shadow: list[str] = field(default_factory=list)
    """Ids of the samples whose source id the shadow set has."""

    made: list[int] = field(default_factory=list)
    """`task_hash` of every sample, in order."""

    def add(self, sample: Sample, meta: PoolMeta, shadow_sources: Collection[str]) -> None:
        self.made.append(task_hash(sample))
        self.roles[sample.task, sample.provenance.role] += 1
        self.registers[sample.task, sample.provenance.register] += 1
        if sample.provenance.source_id in shadow_sources:
            self.from_shadow.append(sample.id)
        if broken := contradictions(sample, meta):
            self.contradictions.update(broken)
            self.contradicting.append(sample.id)


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays with one entry for each sample, in the pool's order."""

    prompts: TokenStream
    originals: TokenStream
    lengths: I64
    """Tokens of the rendered sample."""
    tasks: NDArray[np.uint8]
    langs: NDArray[np.uint8]
    needs: NDArray[np.bool_]

    @staticmethod
    def of(samples: list[Sample]) -> Columns:
        return Columns(
            prompts=token_stream([sample.prompt for sample in samples]),
            originals=token_stream([sample.original for sample in samples]),
            lengths=count_tokens([rendered(sample) for sample in samples]),
            tasks=np.array([TASKS.index(sample.task) for sample in samples], dtype=np.uint8),
            langs=np.array([LANGS.index(sample.lang) for sample in samples], dtype=np.uint8),
            needs=np.array([sample.needs_clarification for sample in samples], dtype=np.bool_),
        )

    @staticmethod
    def join(parts: list[Columns]) -> Columns:
        return Columns(
            prompts=join_streams([part.prompts for part in parts]),
            originals=join_streams([part.originals for part in parts]),
            lengths=np.concatenate([part.lengths for part in parts]),
            tasks=np.concatenate([part.tasks for part in parts]),
            langs=np.concatenate([part.langs for part in parts]),
            needs=np.concatenate([part.needs for part in parts]),
        )

    def where(self, task: Task, lang: Lang | None = None) -> I64:
        """Numbers of the samples of a task, in one language or in all."""
        mask = self.tasks == TASKS.index(task)
        if lang is not None:
            mask &= self.langs == LANGS.index(lang)
        return np.flatnonzero(mask)


@dataclass(frozen=True, slots=True)
class Scan:
    ids: list[str]
    columns: Columns
    tally: Tally
    choice: SpokenChoice

    def tasks(self) -> list[Task]:
        return [task for task in TASKS if len(self.columns.where(task))]


def seed_of(meta: PoolMeta) -> int:
    """Of every random choice that a measurement makes: from the pool's own bytes, so that nobody can know beforehand
    by which samples a pool will be judged and spare only those."""
    return int(meta.sha256[:8], 16)


def scan(pool: Path, meta: PoolMeta, shadow_sources: Collection[str] = ()) -> Scan:
    """Reads the pool once; what is no pool, or not the one of its sidecar, is refused."""
    described(pool, meta, Sample)
    ids: list[str] = []
    parts: list[Columns] = []
    tally, choice = Tally(), SpokenChoice(MOST_SAMPLES, seed_of(meta))
    samples = read_unique(pool, Sample)
    while batch := list(islice(samples, BATCH)):
        choice.add(batch)
        parts.append(Columns.of(batch))
        ids += [sample.id for sample in batch]
        for sample in batch:
            tally.add(sample, meta, shadow_sources)
    if not ids:
        raise BadInput("the pool is empty", where=str(pool), remedy="build it with build_rollout_pool")
    if len(ids) != meta.n:
        what = f"the pool has {len(ids)} samples and its sidecar says {meta.n}"
        raise BadInput(what, where=str(pool), remedy="build the pool again")
    return Scan(ids, Columns.join(parts), tally, choice)
