"""The sampler: draws the samples of a batch, from the frozen seed pool or newly generated.

An evenly distributed sequence (`_even_triples`) decides for every slot of a batch the level, the origin and (with
`need_ask_share`) whether an ask is needed, so the shares hold over any stretch of steps, whatever the batch size. Slots
of the pool go first to samples that the policy failed and may solve (`Undecided`), up to `low_perf_cap` and never more
than half of the pool's slots, then to the pool in random order, every sample once before any repeats. The state is
small: neither it nor the cost of a draw grows with the pool.

    sampler = open_sampler(pool, shadow_set, config.priority_sampling, seed)
    batch = sampler.draw(step, 32)
    sampler.observe(episodes)
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b, sha256
from itertools import accumulate
from math import floor, gcd
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec

from askgate_env.reward import achieved
from askgate_env.types import LEVELS, Episode, Level, Sample

from ..config.train_config import SamplingSection
from ..core.errors import BadInput
from ..core.files import note_read
from ..core.jsonl import decode, read_unique
from ..data.difficulty.metrics import measured
from ..data.pool.fresh import FreshSamples
from ..data.pool.meta import read_meta, verify_sha256
from ..data.pool.shadow_set import read_shadow
from ..engines.job import Drawn

Bucket = Level | Literal["all"]

MAX_UNDECIDED = 256
"""Maximum number of undecided samples per bucket, the ones seen last. It bounds the state and the cost of a draw."""
DECIDED = 0.06
"""An undecided sample with success rate p is dropped if p (1 - p) is smaller than this: the policy nearly always or
nearly never solves it. Three failures in a row are enough."""
ASK, COMPLETE = "ask", "complete"
"""Parts of a bucket if `need_ask_share` is set: samples that need an ask, and complete ones."""

GOLDEN, SILVER, BRONZE = (5**0.5 - 1) / 2, 2**0.5 - 1, (13**0.5 - 3) / 2
"""Irrational steps that are far from every fraction: wrapped around 1, they cover the unit interval evenly."""


class Sampler:
    """The built-in `PromptSampler` (`engines/job.py`)."""

    def __init__(
        self,
        samples: Sequence[Sample] | PoolFile,
        levels: Mapping[str, Level],
        sampling: SamplingSection,
        seed: int,
        fresh: FreshSamples | None = None,
        weights: Mapping[str, float] | None = None,
        need_ask: Collection[str] = (),
    ) -> None:
        """`levels` and `weights` are keyed by sample id, `levels` in the order of the samples; the default weight is 1.
        `fresh` is needed if the share of the pool is below 1 at some step. `need_ask`: ids of the samples that need an
        ask, for `need_ask_share`."""
        self._samples, self._levels, self._sampling, self._seed = samples, list(levels.values()), sampling, seed
        self._fresh, self._weights, self._need_ask = fresh, weights or {}, frozenset(need_ask)
        self._ids = list(levels)
        self._index = {identity: index for index, identity in enumerate(levels)}
        self._pool = blake2b("\n".join([*levels, *self._levels]).encode(), digest_size=16).hexdigest()
        self._buckets = self._make_buckets()
        self._refuse_empty()
        self._turns: dict[str, int] = dict.fromkeys(self._buckets, 0)
        self._low = {bucket: Undecided() for bucket in self._buckets}

    def draw(self, step: int, count: int) -> list[Drawn]:
        """The samples of a step. They depend on seed, step and what was drawn and observed before, on nothing else."""
        pool_share = self._sampling.ratio(step)
        rng = Random(f"draw:{self._seed}:{step}")
        slots = [
            (self._level(level), origin < pool_share, need)
            for level, origin, need in _even_triples(self._seed, step * count, count)
        ]
        low_left = 0
        if self._sampling.enable:
            from_pool_count = sum(from_pool for _, from_pool, _ in slots)
            low_left = min(floor(self._sampling.low_perf_cap * count + 1e-9), from_pool_count // 2)
        used: set[int] = set()
        batch: list[Drawn] = []
        for level, from_pool, need in slots:
            if not from_pool:
                assert self._fresh is not None
                assert level != "all"
                batch.append(Drawn(self._fresh.take(level), level, 1.0, "fresh"))
                continue
            bucket = self._bucket(level, need < (self._sampling.need_ask_share or 0))
            index = self._low[bucket].pick(rng, used) if low_left else None
            origin: Literal["pool", "low"]
            if index is not None:
                origin = "low"
                low_left -= 1
            else:
                origin = "pool"
                index = self._next(bucket, used)
            used.add(index)
            sample = self._samples[index]
            batch.append(Drawn(sample, self._levels[index], self._weights.get(sample.id, 1.0), origin))
        return batch

    def observe(self, episodes: Sequence[Episode]) -> None:
        """Records the success of a batch by sample. Fresh samples are not recorded: they are never drawn again."""
        results: defaultdict[int, list[bool]] = defaultdict(list)
        for episode in episodes:
            if (index := self._index.get(episode.sample_id)) is not None:
                results[index].append(did_well(episode))
        for index, successes in results.items():
            level: Bucket = self._levels[index] if self._sampling.enable else "all"
            bucket = self._bucket(level, self._ids[index] in self._need_ask)
            if bucket in self._low:
                self._low[bucket].record(index, sum(successes) / len(successes))

    def state_dict(self) -> dict[str, Any]:
        return {
            "pool": self._pool,
            "turns": dict(self._turns),
            "low": {bucket: [list(one) for one in low.known.items()] for bucket, low in self._low.items()},
            "fresh": self._fresh.state_dict() if self._fresh else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state["pool"] != self._pool or set(state["turns"]) != set(self._buckets):
            raise BadInput(
                "the pool, or priority_sampling, is not what the run began with",
                where="seed_pool",
                remedy="resume with the same pool file and settings, or start a new run",
            )
        self._turns = {bucket: int(state["turns"][bucket]) for bucket in self._buckets}
        self._low = {bucket: Undecided(map(tuple, state["low"][bucket])) for bucket in self._buckets}
        if self._fresh:
            self._fresh.load_state_dict(state["fresh"])

    def _make_buckets(self) -> dict[str, list[int]]:
        """Indices of the pool's samples by bucket, each bucket shuffled."""
        share = self._sampling.need_ask_share
        levels: list[Bucket] = ["all"]
        if self._sampling.enable:
            levels = [level for level in LEVELS if self._sampling.by_difficulty[level] > 0]
        needs = [need for need, part in ((True, share or 0), (False, 1 - (share or 0))) if part > 0]
        buckets: dict[str, list[int]] = {self._bucket(level, need): [] for level in levels for need in needs}
        for index, (identity, own) in enumerate(zip(self._ids, self._levels, strict=True)):
            bucket = self._bucket(own if self._sampling.enable else "all", identity in self._need_ask)
            if bucket in buckets:
                buckets[bucket].append(index)
        for bucket, indices in buckets.items():
            Random(f"order:{self._seed}:{bucket}").shuffle(indices)
        return buckets

    def _refuse_empty(self) -> None:
        shares = _pool_shares(self._sampling)
        if self._fresh is None and min(shares) < 1:
            raise ValueError("the schedule asks for fresh samples and nothing makes them")
        for bucket, indices in self._buckets.items():
            if not indices and max(shares) > 0:
                raise BadInput(
                    f"the pool has no {'' if bucket == 'all' else bucket + ' '}samples",
                    where="seed_pool",
                    remedy="set priority_sampling: {enable: false} to draw all samples alike, or give "
                    "priority_sampling.by_difficulty shares that the pool has",
                )

    def _bucket(self, level: Bucket, need_ask: bool) -> str:
        """Name of the bucket of a level; if `need_ask_share` is set, of one of its two parts."""
        if self._sampling.need_ask_share is None:
            return level
        return f"{level}_{ASK if need_ask else COMPLETE}"

    def _level(self, number: float) -> Bucket:
        """The level whose share of the unit interval contains the number; `all` without sampling by difficulty."""
        if not self._sampling.enable:
            return "all"
        shares = self._sampling.by_difficulty
        levels = [level for level in LEVELS if shares[level] > 0]
        ends = accumulate(shares[level] for level in levels)
        # The shares may sum to a little less than 1, by rounding: then the last level has the rest.
        return next((level for level, end in zip(levels, ends, strict=True) if number < end), levels[-1])

    def _next(self, bucket: str, used: set[int]) -> int:
        """The next index in the bucket's order that is not in the batch yet; a pool smaller than a batch repeats."""
        for _ in range(2 * len(used) + 2):
            index = self._nth(bucket, self._turns[bucket])
            self._turns[bucket] += 1
            if index not in used:
                break
        return index

    def _nth(self, bucket: str, turn: int) -> int:
        """Entry `turn` of a walk that visits every index of a bucket once an epoch, in another order each epoch."""
        indices = self._buckets[bucket]
        epoch, at = divmod(turn, len(indices))
        rng = Random(f"walk:{self._seed}:{bucket}:{epoch}")
        start, stride = rng.randrange(len(indices)), rng.randrange(len(indices)) + 1
        while gcd(stride, len(indices)) != 1:
            stride = rng.randrange(len(indices)) + 1
        return indices[(start + at * stride) % len(indices)]


class Undecided:
    """Samples of one bucket that the policy failed and may solve, by pool index, each with its success rate p.

    p is a moving average: it starts at 0.5, and each new result, from the first failure on, counts half.
    """

    def __init__(self, known: Iterable[tuple[int, float]] = ()) -> None:
        self.known = dict(known)

    def pick(self, rng: Random, exclude: Collection[int]) -> int | None:
        """A random sample, drawn in proportion to p (1 - p); None where all are excluded."""
        candidates = [(index, rate * (1 - rate)) for index, rate in self.known.items() if index not in exclude]
        if not candidates:
            return None
        indices, weights = zip(*candidates, strict=True)
        return int(rng.choices(indices, weights)[0])

    def record(self, index: int, success: float) -> None:
        """Updates the success rate of a sample with that of its new episodes."""
        if index not in self.known and success == 1:
            return
        rate = (self.known.pop(index, 0.5) + success) / 2
        if rate * (1 - rate) >= DECIDED:
            self.known[index] = rate
        if len(self.known) > MAX_UNDECIDED:
            del self.known[next(iter(self.known))]


def did_well(episode: Episode) -> bool:
    """Whether the answer was right and the policy asked exactly where it had to."""
    return achieved(episode) and (episode.needs_clarification or episode.asks == 0)


def _even_triples(seed: int, first: int, count: int) -> Iterator[tuple[float, float, float]]:
    """Entries `first` to `first + count` of a sequence of triples in 0..1, of which every stretch covers the unit cube
    evenly (a Weyl sequence)."""
    rng = Random(f"even:{seed}")
    start = rng.random(), rng.random(), rng.random()
    for number in range(first, first + count):
        first_, second, third = (at + number * by for at, by in zip(start, (GOLDEN, SILVER, BRONZE), strict=True))
        yield first_ % 1, second % 1, third % 1


def _pool_shares(sampling: SamplingSection) -> list[float]:
    """The share of the pool at each step of the schedule."""
    return [sampling.ratio(step) for step in (0, *(entry.step for entry in sampling.seed_ratio_schedule))]


class PoolFile:
    """The samples of a pool, decoded on access: tens of thousands with their articles would take too much memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(Sample)
        self._offsets = array("q")
        self._handle = open(path, "rb")
        digest = sha256()
        while line := self._handle.readline():
            digest.update(line)
            if not line.isspace():
                self._offsets.append(self._handle.tell() - len(line))
        note_read(path, digest.hexdigest())

    def __getitem__(self, index: int) -> Sample:
        self._handle.seek(self._offsets[index])
        return decode(self._decoder, self._handle.readline(), f"{self._path}, sample {index + 1}")


def open_sampler(
    pool: Path, shadow: Path, sampling: SamplingSection, seed: int, weights: Mapping[str, float] | None = None
) -> Sampler:
    """The sampler of a pool. Refuses a file that is no pool, was edited, or shares sources with the held-out set."""
    meta = read_meta(pool)
    verify_sha256(pool, meta, Sample)
    if meta.kind not in ("pool", "balanced"):
        raise BadInput(f"this is a {meta.kind}, not a pool to train on", where=str(pool), remedy="name the seed pool")
    levels = {record.id: record.level for record in measured(pool)}
    source_ids: set[str] = set()
    need_ask: set[str] = set()
    for sample in read_unique(pool, Sample):
        source_ids.add(sample.provenance.source_id)
        if sample.needs_clarification:
            need_ask.add(sample.id)
    held_out = read_shadow(shadow, meta)
    shared = [sample.provenance.source_id for sample in held_out if sample.provenance.source_id in source_ids]
    if shared:
        # An evaluation on such samples would show nothing.
        raise BadInput(
            f"{len(shared)} of its source ids are in the seed pool, among them {shared[0]}",
            where=str(shadow),
            remedy="run validate-pool and build the pool again",
        )
    fresh = None
    if min(_pool_shares(sampling)) < 1:
        fresh = FreshSamples(meta, source_ids, held_out, seed, sampling.need_ask_share)
    return Sampler(PoolFile(pool), levels, sampling, seed, fresh, weights, need_ask)
