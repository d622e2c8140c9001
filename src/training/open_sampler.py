"""Opens what a run draws its samples from: the frozen pool, its levels, and the maker of fresh ones."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..config.sections import SamplingSection
from ..core.errors import BadInput
from ..core.jsonl import decode, read_unique
from ..core.types import Level, Sample
from ..data.difficulty.metrics import DifficultyRecord, measured
from ..data.pool.fresh import Fresh
from ..data.pool.meta import PoolMeta, described, read_meta
from ..data.pool.shadow_set import read_shadow
from .sampler import Sampler


class _Source(Struct):
    source_id: str


class _Origin(Struct):
    """What is wanted of every line at the start; the rest of it is skipped unread."""

    id: str
    provenance: _Source


class PoolFile:
    """The samples of a pool, decoded when asked for: tens of thousands of them with their articles fill the memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(Sample)
        self._offsets = array("q")
        self._handle = open(path, "rb")
        while line := self._handle.readline():
            if not line.isspace():
                self._offsets.append(self._handle.tell() - len(line))

    def __getitem__(self, place: int) -> Sample:
        self._handle.seek(self._offsets[place])
        return decode(self._decoder, self._handle.readline(), f"{self._path}, sample {place + 1}")


def open_sampler(
    pool: Path,
    shadow: Path,
    sampling: SamplingSection,
    seed: int,
    metrics: Path | None = None,
    weights: Mapping[str, float] | None = None,
) -> Sampler:
    """`metrics` is what difficulty_metrics wrote of this pool or of the one it was balanced from; left out, the pool is
    measured here."""
    meta = read_meta(pool)
    described(pool, meta, Sample)
    if meta.kind not in ("pool", "balanced"):
        raise BadInput(f"this is a {meta.kind}, not a pool to train on", where=str(pool), remedy="name the seed pool")
    levels = _levels(pool, meta, metrics)
    source_of = {one.id: one.provenance.source_id for one in read_unique(pool, _Origin)}
    source_ids = set(source_of.values())
    held_out = read_shadow(shadow, meta)
    _refuse_shared(source_ids, held_out, shadow)
    ratios = [sampling.ratio(step) for step in (0, *(entry.step for entry in sampling.seed_ratio_schedule))]
    fresh = Fresh(meta, source_ids, held_out, seed) if min(ratios) < 1 else None
    return Sampler(PoolFile(pool), {one: levels[one] for one in source_of}, sampling, seed, fresh, weights)


def _levels(pool: Path, meta: PoolMeta, metrics: Path | None) -> dict[str, Level]:
    if metrics is None:
        return {record.id: record.level for record in measured(pool)}
    facts = read_meta(metrics)
    described(metrics, facts, DifficultyRecord)
    if facts.kind != "metrics" or facts.parent_sha256 not in {meta.sha256, meta.parent_sha256} - {""}:
        raise BadInput(
            f"does not measure {pool.name} nor the pool that it was balanced from",
            where=str(metrics),
            remedy="run difficulty_metrics on the pool again",
        )
    return {record.id: record.level for record in read_unique(metrics, DifficultyRecord)}


def _refuse_shared(source_ids: set[str], shadow: list[Sample], path: Path) -> None:
    """A run that trained on what it is judged by has shown nothing."""
    shared = [sample.provenance.source_id for sample in shadow if sample.provenance.source_id in source_ids]
    if shared:
        raise BadInput(
            f"{len(shared)} of its source ids are in the seed pool, among them {shared[0]}",
            where=str(path),
            remedy="run validate_pool and build the pool again",
        )
