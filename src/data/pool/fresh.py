"""Fresh samples, made while training runs with the source, templates and plan of the seed pool, from new source ids.

They come in chunks. A chunk is a small pool: the pool builder makes it with a seed derived from pool, run and chunk
number, from no source id of the pool or of the shadow set, and samples that the leak check flags are dropped. So the
position of a run is one number per level, and the same chunk can be made again at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from askgate_env.types import LEVELS, Level, Sample

from ...core.errors import BadInput
from ...core.files import shipped
from ..difficulty.metrics import measure_all
from ..quality.leaks import leak_views, similar_samples
from .build import make_jobs, make_sample, open_source, plan_of
from .meta import PoolMeta
from .templates import load_pack, pack_fingerprints
from .voice import voice_fingerprints

CHUNK = 128
KEPT_CHUNKS = 4
"""Number of chunks in memory. Levels are used up at different speeds; a level that falls behind skips older chunks."""
MAX_EMPTY_CHUNKS = 20
"""Number of chunks in a row without a sample of a level after which the level counts as used up."""

LEAK_NGRAM, LEAK_SIM = 5, 0.85
"""Leak check of fresh samples: tokens per n-gram, and similarity that counts as a leak. Not configurable, so that a
resumed run draws the same samples."""

WHERE = "priority_sampling.seed_ratio"
REMEDY = "set the ratios to 1.0, so that all samples come from the pool, or build a pool that leaves records unused"


class FreshSamples:
    """Supply of fresh samples by level. A chunk uses no record twice; a later chunk may use it again."""

    def __init__(
        self,
        meta: PoolMeta,
        taken: Collection[str],
        shadow: Sequence[Sample],
        seed: int,
        need_ask_share: float | None = None,
    ) -> None:
        """`taken` are the source ids of the pool; `need_ask_share` is by default that of the pool. A plan that cannot
        give any samples is refused here; a level that is used up is refused by `take`."""
        self._meta, self._seed = meta, seed
        plan = plan_of(meta)
        share = plan.clarify_rate if need_ask_share is None else need_ask_share
        self._plan = replace(plan, n=CHUNK, clarify_rate=share)
        self._source, self._pack = open_source(self._plan), load_pack(shipped(self._plan.templates_dir))
        self._taken = frozenset(taken) | {sample.provenance.source_id for sample in shadow}
        self._shadow = leak_views(shadow)
        self._chunks: dict[int, dict[Level, list[Sample]]] = {}
        self._positions: dict[Level, tuple[int, int]] = dict.fromkeys(LEVELS, (0, 0))
        """Number of the chunk that each level draws from, and how many of its samples were drawn."""
        templates = pack_fingerprints(shipped(self._plan.templates_dir)) | voice_fingerprints()
        self._refuse_changed("templates", templates, meta.templates_sha256)
        try:
            self._chunk(0)
        except BadInput as error:
            raise BadInput(f"no fresh samples can be made: {error.what}", where=WHERE, remedy=REMEDY) from None
        self._refuse_changed("source files", self._source.fingerprints, meta.sources_sha256)

    def take(self, level: Level) -> Sample:
        """The next sample of a level."""
        oldest = max(number for number, _ in self._positions.values()) - KEPT_CHUNKS + 1
        self._positions[level] = max(self._positions[level], (oldest, 0))
        for _ in range(MAX_EMPTY_CHUNKS):
            number, used = self._positions[level]
            supply = self._chunk(number)[level]
            if used < len(supply):
                self._positions[level] = (number, used + 1)
                return supply[used]
            self._positions[level] = (number + 1, 0)
        raise BadInput(f"source {self._plan.source} gives no {level} samples", where=WHERE, remedy=REMEDY)

    def state_dict(self) -> dict[str, Any]:
        return {level: list(position) for level, position in self._positions.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._positions = {level: (int(state[level][0]), int(state[level][1])) for level in LEVELS}

    def _chunk(self, number: int) -> dict[Level, list[Sample]]:
        if number not in self._chunks:
            while len(self._chunks) >= KEPT_CHUNKS:
                del self._chunks[min(self._chunks)]
            self._chunks[number] = self._make_chunk(number)
        return self._chunks[number]

    def _make_chunk(self, number: int) -> dict[Level, list[Sample]]:
        digest = hashlib.sha256(f"fresh:{self._meta.sha256}:{self._seed}:{number}".encode()).digest()
        plan = replace(self._plan, seed=int.from_bytes(digest[:6]))
        jobs = make_jobs(plan, self._source, self._taken)
        samples = [make_sample(plan, self._source, self._pack, job) for job in jobs]
        leaks = similar_samples(leak_views(samples), self._shadow, LEAK_NGRAM, LEAK_SIM).matches
        by_level: dict[Level, list[Sample]] = {level: [] for level in LEVELS}
        for index, (sample, record) in enumerate(zip(samples, measure_all(samples), strict=True)):
            if index not in leaks:
                by_level[record.level].append(sample)
        return by_level

    def _refuse_changed(self, what: str, now: dict[str, str], then: dict[str, str]) -> None:
        if now != then:
            changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
            what = f"the {what} have changed since the pool was built ({', '.join(changed)})"
            raise BadInput(what, where=WHERE, remedy="build the pool again, or set the ratios to 1.0")
