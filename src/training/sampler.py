"""Which samples a batch is made of: by difficulty, first what goes badly, from the frozen pool or made afresh.

Every place in a batch gets a level and an origin from a sequence that fills its shares evenly (`_even`), so that shares
hold over any stretch of steps, whatever the batch size. Places of the pool go first to low performers, up to their cap
and never more than half of the pool's places, then to the pool in random order, every sample once before any comes
again. All memory is in the state, and neither it nor the cost of a draw grows with the pool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from math import floor, gcd
from random import Random
from typing import Any, Literal, Protocol

from ..config.sections import SamplingSection
from ..core.episode import Episode
from ..core.errors import BadInput
from ..core.types import LEVELS, Level, Sample
from ..data.pool.fresh import Fresh
from .low_performers import LowPerformers, did_well

Bucket = Level | Literal["all"]
Origin = Literal["pool", "low", "fresh"]


class Samples(Protocol):
    """A list of them, or a file that decodes one when it is asked for."""

    def __getitem__(self, place: int, /) -> Sample: ...


@dataclass(frozen=True)
class Drawn:
    sample: Sample
    level: Level
    weight: float
    """How much its episodes count: less where its score is unstable."""
    origin: Origin


class Sampler:
    def __init__(
        self,
        samples: Samples,
        levels: Mapping[str, Level],
        sampling: SamplingSection,
        seed: int,
        fresh: Fresh | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """`levels` and `weights` are by sample id, the former in the order of the samples; a weight is 1 where nothing
        is said. `fresh` is needed where a ratio is below 1."""
        self._samples, self._levels, self._sampling, self._seed = samples, list(levels.values()), sampling, seed
        self._fresh, self._weights = fresh, weights or {}
        self._place = {identity: place for place, identity in enumerate(levels)}
        self._pool = blake2b("\n".join([*levels, *self._levels]).encode(), digest_size=16).hexdigest()
        self._buckets = self._sorted()
        self._refuse_empty()
        self._turns: dict[Bucket, int] = dict.fromkeys(self._buckets, 0)
        self._low = {bucket: LowPerformers() for bucket in self._buckets}

    def draw(self, step: int, count: int) -> list[Drawn]:
        """The samples of a step. It depends on seed, step and what was drawn and observed before, on nothing else."""
        ratio = self._sampling.ratio(step)
        rng = Random(f"draw:{self._seed}:{step}")
        places = [(self._bucket(level), origin < ratio) for level, origin in _even(self._seed, step * count, count)]
        again = self._room_for_low(count, sum(frozen for _, frozen in places))
        used: set[int] = set()
        batch: list[Drawn] = []
        for bucket, frozen in places:
            if not frozen:
                batch.append(self._afresh(bucket))
                continue
            place = self._low[bucket].pick(rng, used) if again else None
            again -= place is not None
            origin: Origin = "pool" if place is None else "low"
            place = self._next(bucket, used) if place is None else place
            used.add(place)
            sample = self._samples[place]
            batch.append(Drawn(sample, self._levels[place], self._weights.get(sample.id, 1.0), origin))
        return batch

    def observe(self, episodes: Sequence[Episode]) -> None:
        """What came of a batch. Of samples made afresh nothing is kept: they do not come again."""
        results: defaultdict[int, list[bool]] = defaultdict(list)
        for episode in episodes:
            if (place := self._place.get(episode.sample_id)) is not None:
                results[place].append(did_well(episode))
        for place, went in results.items():
            bucket: Bucket = self._levels[place] if self._sampling.enable else "all"
            if bucket in self._low:
                self._low[bucket].note(place, sum(went) / len(went))

    def metrics(self) -> dict[str, float]:
        return {f"low_performers_{bucket}": float(len(low)) for bucket, low in self._low.items()}

    def state_dict(self) -> dict[str, Any]:
        return {
            "pool": self._pool,
            "turns": dict(self._turns),
            "low": {bucket: [list(one) for one in low.state()] for bucket, low in self._low.items()},
            "fresh": self._fresh.state_dict() if self._fresh else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state["pool"] != self._pool or set(state["turns"]) != set(self._buckets):
            raise BadInput(
                "the pool, or priority_sampling.enable, is not what the run began with",
                where="seed_pool",
                remedy="resume with the same pool file and settings, or start a new run",
            )
        self._turns = {bucket: int(state["turns"][bucket]) for bucket in self._buckets}
        self._low = {bucket: LowPerformers(map(tuple, state["low"][bucket])) for bucket in self._buckets}
        if self._fresh:
            self._fresh.load_state_dict(state["fresh"])

    def _sorted(self) -> dict[Bucket, list[int]]:
        """Places of the pool by level, each bucket in an order of its own; one bucket where levels play no part."""
        if not self._sampling.enable:
            buckets: dict[Bucket, list[int]] = {"all": list(range(len(self._levels)))}
        else:
            buckets = {level: [] for level in LEVELS if self._sampling.by_difficulty[level] > 0}
            for place, level in enumerate(self._levels):
                if level in buckets:
                    buckets[level].append(place)
        for bucket, places in buckets.items():
            Random(f"order:{self._seed}:{bucket}").shuffle(places)
        return buckets

    def _refuse_empty(self) -> None:
        steps = [0, *(entry.step for entry in self._sampling.seed_ratio_schedule)]
        ratios = [self._sampling.ratio(step) for step in steps]
        if self._fresh is None and min(ratios) < 1:
            raise ValueError("the schedule asks for fresh samples and nothing makes them")
        for bucket, places in self._buckets.items():
            if not places and max(ratios) > 0:
                raise BadInput(
                    f"the pool has no {'' if bucket == 'all' else bucket + ' '}samples",
                    where="seed_pool",
                    remedy="train on a pool that difficulty_bucketize wrote, or set that share of "
                    "priority_sampling.by_difficulty to 0",
                )

    def _bucket(self, at: float) -> Bucket:
        """The bucket in whose share of 0..1 a number lies."""
        if not self._sampling.enable:
            return "all"
        shares = [self._sampling.by_difficulty[level] for level in LEVELS]
        inside = [level for level, end in zip(LEVELS, accumulate(shares), strict=True) if at < end]
        return inside[0] if inside else list(self._buckets)[-1]

    def _room_for_low(self, count: int, frozen: int) -> int:
        return min(floor(self._sampling.low_perf_cap * count + 1e-9), frozen // 2) if self._sampling.enable else 0

    def _afresh(self, bucket: Bucket) -> Drawn:
        assert self._fresh is not None
        assert bucket != "all"
        return Drawn(self._fresh.take(bucket), bucket, 1.0, "fresh")

    def _next(self, bucket: Bucket, used: set[int]) -> int:
        """The next one in the pool's order that is not in the batch yet; a pool smaller than the batch must repeat."""
        for _ in range(2 * len(used) + 2):
            place = self._nth(bucket, self._turns[bucket])
            self._turns[bucket] += 1
            if place not in used:
                break
        return place

    def _nth(self, bucket: Bucket, turn: int) -> int:
        """Number `turn` of a walk that meets every place of a bucket once, then all of them again in another order."""
        places = self._buckets[bucket]
        epoch, at = divmod(turn, len(places))
        rng = Random(f"walk:{self._seed}:{bucket}:{epoch}")
        start, stride = rng.randrange(len(places)), rng.randrange(len(places)) + 1
        while gcd(stride, len(places)) != 1:
            stride = rng.randrange(len(places)) + 1
        return places[(start + at * stride) % len(places)]


GOLDEN, SILVER = (5**0.5 - 1) / 2, 2**0.5 - 1
"""Numbers far from every fraction: steps of such a length, wrapped around, fill a line evenly and never repeat."""


def _even(seed: int, first: int, count: int) -> Iterator[tuple[float, float]]:
    """Pairs of numbers in 0..1, of which every stretch lies evenly in the square."""
    rng = Random(f"even:{seed}")
    start = rng.random(), rng.random()
    for number in range(first, first + count):
        yield (start[0] + number * GOLDEN) % 1, (start[1] + number * SILVER) % 1
