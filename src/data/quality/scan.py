"""One pass over a pool by worker processes, a chunk of lines each.

This process keeps 19 bytes per sample, counts, and a bounded sample of the spoken text. Token hashes and ids, about
1 KB per sample, stay with the workers: on a Ray cluster in its object store, else in this process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from askgate_env.types import ALL_TASKS, LANGS, Lang, Sample, Task, Turn

from ...core.errors import BadInput
from ...core.jsonl import decode, read_lines
from ...runtime.workers import Kept, Workers, local_workers
from ..difficulty.metrics import prompt_and_context
from ..pool.meta import PoolMeta, id_hash, refuse_repeated_ids, verify_sha256
from .consistency import contradictions, task_hash
from .shortcuts import observe
from .token_stream import I64, U64, TokenStream, count_tokens, mix64, offsets_of, token_stream

BATCH = 256
CHUNK = 2_500
PARALLEL_FROM = 5_000
"""Number of samples from which worker processes are started."""
MIN_PER_SHARD, MAX_PER_SHARD = 125_000, 1_000_000
"""Range of the number of samples of a shard. Each two shards are compared for near duplicates, by a worker that holds
both."""
MAX_SAMPLES = 4_000
"""Samples of a group whose spoken text is kept; a seeded random sample where there are more."""

Group = tuple[Task, Lang]
GROUPS: list[Group] = [(task, lang) for task in ALL_TASKS for lang in LANGS]
Limits = dict[Group, int]


def spoken(sample: Sample, by: Literal["user", "assistant"] = "user") -> str:
    """Words of the user in a sample, or of the assistant: thoughts, asks, call inputs, answer.

    The gates measure the user's side: the assistant of the demonstrations has one plain voice. Tool results and
    articles are left out: no template can make them more varied.
    """
    turns = [turn for turn in _after_prompt(sample) if turn.by == by]
    opening = [sample.prompt] if by == "user" else []
    return "\n".join([*opening, *(text for turn in turns for text in (turn.thought, turn.text))])


def rendered(sample: Sample) -> str:
    """Everything that a model may have to read: prompt, articles, and the dialogue with its tool results."""
    said = [text for turn in _after_prompt(sample) for text in (turn.thought, turn.text)]
    return "\n".join([prompt_and_context(sample), *said])


def _after_prompt(sample: Sample) -> tuple[Turn, ...]:
    """The dialogue without the prompt, which may also be its first turn: it is counted once."""
    opening = sample.dialogue[:1]
    if opening and opening[0].by == "user" and opening[0].text == sample.prompt:
        return sample.dialogue[1:]
    return sample.dialogue


class RandomSample:
    """A bounded random sample of a pool for each task and language, drawn in one pass. It keeps the parts of a sample
    that the shortcut gates read.

    Each position gets a random number from the seed, and a group keeps the positions with the smallest numbers. So the
    sample of a task, of a language or of everything is the start of one random order, whatever the size of the pool,
    and the samples of the parts of a pool merge into that of the whole. `first` is the position where a part begins;
    `limits` are the random numbers from which a group does not keep a position.
    """

    def __init__(self, most: int, seed: int, first: int = 0, limits: Limits | None = None) -> None:
        self._most, self._seen = most, first
        self._seed = mix64(np.array([seed % 2**63], dtype=np.uint64))[0]
        self._kept: dict[Group, list[tuple[int, Any]]] = {group: [] for group in GROUPS}
        self.limits: Limits = dict(limits) if limits else dict.fromkeys(GROUPS, 2**64)

    def add(self, samples: Sequence[Sample]) -> None:
        """Takes the next samples, and keeps those with small random numbers."""
        numbers = np.arange(self._seen, self._seen + len(samples), dtype=np.uint64)
        self._seen += len(samples)
        ranks = mix64(numbers ^ self._seed).tolist()
        ranked = zip(ranks, samples, strict=True)
        chosen = [(rank, sample) for rank, sample in ranked if rank < self.limits[sample.task, sample.lang]]
        for (rank, sample), view in zip(chosen, self.views([sample for _, sample in chosen]), strict=True):
            self.keep((sample.task, sample.lang), [(rank, view)])

    def views(self, samples: Sequence[Sample]) -> Iterable[Any]:
        """The part of each sample that is kept."""
        return map(observe, samples)

    def keep(self, group: Group, entries: Iterable[tuple[int, Any]]) -> None:
        """Adds entries (random number, view) to a group, and drops the largest when there are too many."""
        kept, limit = self._kept[group], self.limits[group]
        kept += (entry for entry in entries if entry[0] < limit)
        if len(kept) > 2 * self._most:
            kept.sort(key=lambda entry: entry[0])
            del kept[self._most :]
            self.limits[group] = kept[-1][0]

    def merge(self, other: RandomSample) -> None:
        for group, entries in other._kept.items():
            self.keep(group, entries)

    def kept(self, task: Task | None = None, lang: Lang | None = None) -> list[Any]:
        """The sample of a task and a language (None: all), in random order, limited per group."""
        found: list[tuple[int, Any]] = []
        for (its_task, its_lang), entries in self._kept.items():
            if task in (None, its_task) and lang in (None, its_lang):
                found += sorted(entries, key=lambda entry: entry[0])[: self._most]
        return [view for _, view in sorted(found, key=lambda entry: entry[0])]


class SpokenSample(RandomSample):
    """A random sample of what the user (or the assistant) says, as token hashes."""

    by: Literal["user", "assistant"] = "user"

    def views(self, samples: Sequence[Sample]) -> Iterable[U64]:
        stream = token_stream([spoken(sample, self.by) for sample in samples])
        return (stream.text(index).copy() for index in range(stream.texts))

    def stream(self, task: Task | None = None, lang: Lang | None = None) -> TokenStream:
        """Up to `most` texts of a task and a language (None: all) in random order."""
        texts = self.kept(task, lang)[: self._most]
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return TokenStream(np.concatenate([np.zeros(0, dtype=np.uint64), *texts]), offsets_of(sizes))


class AssistantSample(SpokenSample):
    """A random sample of what the assistant says."""

    by = "assistant"


class Chunk(NamedTuple):
    """Texts and ids of consecutive samples, which stay with the worker that read them."""

    samples: int
    prompts: Kept
    originals: Kept
    ids: Kept


class PoolScan:
    """Everything that the quality checks need of a pool. Arrays have one entry per sample, in the pool's order."""

    lengths: I64
    """Tokens of the rendered sample."""
    needs: NDArray[np.bool_]
    workers: Workers
    shards: list[list[Chunk]]

    def __init__(self, seed: int, first: int = 0, limits: Sequence[Limits | None] = (None, None, None)) -> None:
        self.spoken = SpokenSample(MAX_SAMPLES, seed, first, limits[0])
        self.assistant = AssistantSample(MAX_SAMPLES, seed, first, limits[1])
        self.observed = RandomSample(MAX_SAMPLES, seed ^ 1, first, limits[2])
        self.n, self._first = 0, first
        self.prompt_tokens = 0
        self.task_hashes: list[int] = []
        """Taken from the first `MAX_SAMPLES` samples of the pool."""
        self.roles: Counter[tuple[Task, str]] = Counter()
        self.registers: Counter[tuple[Task, str]] = Counter()
        self.broken_rules: Counter[str] = Counter()
        self.contradicting: list[str] = []
        self.from_shadow: list[str] = []
        """Ids of the samples whose source id the shadow set has."""
        self._lengths: list[I64] = []
        self._groups: list[NDArray[np.uint8]] = []
        self._id_hashes: list[U64] = []

    @property
    def random_samples(self) -> tuple[RandomSample, RandomSample, RandomSample]:
        return self.spoken, self.assistant, self.observed

    def add(self, samples: list[Sample], meta: PoolMeta, shadow_sources: Collection[str]) -> None:
        for kept in self.random_samples:
            kept.add(samples)
        groups = [(ALL_TASKS.index(s.task), LANGS.index(s.lang), s.needs_clarification) for s in samples]
        self._groups.append(np.array(groups, dtype=np.uint8))
        self._lengths.append(count_tokens([rendered(sample) for sample in samples]))
        self._id_hashes.append(np.array([id_hash(sample.id) for sample in samples], dtype=np.uint64))
        compared = MAX_SAMPLES - self._first - self.n
        self.task_hashes += [task_hash(sample) for sample in samples[: max(compared, 0)]]
        self.n += len(samples)
        for sample in samples:
            self.roles[sample.task, sample.provenance.role] += 1
            self.registers[sample.task, sample.provenance.register] += 1
            if sample.provenance.source_id in shadow_sources:
                self.from_shadow.append(sample.id)
            if broken := contradictions(sample, meta):
                self.broken_rules.update(broken)
                self.contradicting.append(sample.id)

    def merge(self, part: PoolScan) -> None:
        """Adds the scan of the part of the pool that comes next."""
        for kept, more in zip(self.random_samples, part.random_samples, strict=True):
            kept.merge(more)
        self.n += part.n
        self.prompt_tokens += part.prompt_tokens
        for name in ("task_hashes", "contradicting", "from_shadow", "_lengths", "_groups", "_id_hashes"):
            getattr(self, name).extend(getattr(part, name))
        for name in ("roles", "registers", "broken_rules"):
            getattr(self, name).update(getattr(part, name))

    def close(self, pool: Path) -> None:
        """Joins the arrays of the chunks, and refuses ids that occur twice."""
        refuse_repeated_ids(pool, Sample, np.concatenate(self._id_hashes))
        self.lengths = np.concatenate(self._lengths)
        self._tasks, self._langs, needs = np.concatenate(self._groups).T
        self.needs = needs.astype(np.bool_)
        del self._id_hashes, self._lengths, self._groups

    def ids(self, positions: Iterable[int]) -> dict[int, str]:
        """Ids of the samples at these positions; only these are fetched from the workers."""
        chunks = [chunk for shard in self.shards for chunk in shard]
        starts = offsets_of(np.array([chunk.samples for chunk in chunks]))
        positions = sorted(set(positions))
        owners = np.searchsorted(starts, positions, side="right") - 1
        calls = ((position - int(starts[k]), chunks[k].ids) for position, k in zip(positions, owners, strict=True))
        return dict(zip(positions, self.workers.map(_id_at, calls), strict=True))

    def where(self, task: Task, lang: Lang | None = None) -> I64:
        """Positions of the samples of a task, in one language or in all."""
        mask = self._tasks == ALL_TASKS.index(task)
        if lang is not None:
            mask &= self._langs == LANGS.index(lang)
        return np.flatnonzero(mask)

    def tasks(self) -> list[Task]:
        return [task for task in ALL_TASKS if len(self.where(task))]


def measuring_seed(meta: PoolMeta) -> int:
    """Seed of every random choice of a measurement. It comes from the pool's bytes, so nobody can know in advance which
    samples will be measured and clean only those."""
    return int(meta.sha256[:8], 16)


def scan(pool: Path, meta: PoolMeta, shadow_sources: Collection[str] = (), workers: Workers | None = None) -> PoolScan:
    """Reads the pool once. A file that is no pool, or not the one that its sidecar describes, is refused."""
    verify_sha256(pool, meta, Sample)
    scanned = PoolScan(measuring_seed(meta))
    scanned.workers = workers = workers or local_workers(meta.n >= PARALLEL_FROM, most=4)
    shared = workers.share((str(pool), meta, shadow_sources))
    chunks_per_shard = min(max(-(-meta.n // 4), MIN_PER_SHARD), MAX_PER_SHARD) // CHUNK
    chunks = []
    lines = read_lines(pool)
    line_chunks = iter(lambda: list(islice(lines, CHUNK)), [])
    # A call gets the limits reached so far, so that its part keeps few samples that would be dropped later.
    calls = (
        (CHUNK * number, [sample.limits for sample in scanned.random_samples], chunk, shared)
        for number, chunk in enumerate(line_chunks)
    )
    for part, kept in workers.keep(_scan_chunk, calls, parts=3):
        scanned.merge(part)
        chunks.append(Chunk(part.n, *kept))
    if not scanned.n:
        raise BadInput("the pool is empty", where=str(pool), remedy="build it with build_rollout_pool")
    scanned.close(pool)
    if scanned.n != meta.n:
        what = f"the pool has {scanned.n} samples and its sidecar says {meta.n}"
        raise BadInput(what, where=str(pool), remedy="build the pool again")
    scanned.shards = [chunks[start : start + chunks_per_shard] for start in range(0, len(chunks), chunks_per_shard)]
    return scanned


def _scan_chunk(
    first: int, limits: Sequence[Limits], lines: list[tuple[int, bytes]], shared: tuple[str, PoolMeta, Collection[str]]
) -> tuple[PoolScan, TokenStream, TokenStream, list[str]]:
    pool, meta, shadow_sources = shared
    decoder = msgspec.json.Decoder(Sample)
    samples = [decode(decoder, line, f"{pool}:{number}") for number, line in lines]
    part = PoolScan(measuring_seed(meta), first, limits)
    for start in range(0, len(samples), BATCH):
        part.add(samples[start : start + BATCH], meta, shadow_sources)
    prompts = token_stream([sample.prompt for sample in samples])
    originals = token_stream([sample.original for sample in samples])
    part.prompt_tokens = len(prompts.hashes)
    return part, prompts, originals, [sample.id for sample in samples]


def _id_at(index: int, ids: list[str]) -> str:
    return ids[index]
