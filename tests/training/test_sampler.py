"""Batches keep their shares, repeat samples that go badly, and are the same after a resume."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import LEVELS, Level, Sample
from src.config.train_config import RatioAt, SamplingSection
from src.core.errors import BadInput
from src.core.files import sidecar
from src.core.jsonl import read_records
from src.data.difficulty.bucketize import difficulty_bucketize
from src.data.difficulty.metrics import DifficultyRecord, difficulty_metrics
from src.data.pool.build import build_pool
from src.data.pool.fresh import FreshSamples
from src.data.pool.meta import PoolMeta, read_meta
from src.data.pool.source import TARGET
from src.engines.job import Drawn
from src.training.sampler import MAX_UNDECIDED, PoolFile, Sampler, Undecided, open_sampler
from tests.data.build_samples import small_plan
from tests.data.samples import make_sample, measure, write_meta
from tests.eval.episodes import episode

POOL_ONLY = SamplingSection()


class Pool:
    """Samples of known level that count their reads."""

    def __init__(self, easy: int, medium: int, hard: int) -> None:
        levels: list[Level] = ["easy"] * easy + ["medium"] * medium + ["hard"] * hard
        self.levels = {f"s{number}": level for number, level in enumerate(levels)}
        self.reads = 0

    def __getitem__(self, place: int) -> Sample:
        self.reads += 1
        return make_sample(f"s{place}", f"Question {place}?")


def sampler(pool: Pool, sampling: SamplingSection = POOL_ONLY, seed: int = 1, **parts: Any) -> Sampler:
    return Sampler(pool, pool.levels, sampling, seed, **parts)


def ids(batch: list[Drawn]) -> list[str]:
    return [drawn.sample.id for drawn in batch]


def fail(one: Sampler, batch: list[Drawn]) -> None:
    one.observe([episode(drawn.sample.id, success=False) for drawn in batch])


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> PoolMeta:
    path: Path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    return build_pool(small_plan(20), path)


@pytest.mark.parametrize("count", [1, 7, 8, 32])
def test_difficulty_shares_hold_over_any_stretch_of_steps(count: int) -> None:
    one = sampler(Pool(100, 100, 100))
    drawn = [[item.level for item in one.draw(step, count)] for step in range(600)]
    for start in (0, 137, 400):
        seen = Counter(level for batch in drawn[start : start + 200] for level in batch)
        for level, share in {"easy": 0.2, "medium": 0.4, "hard": 0.4}.items():
            assert seen[level] / (200 * count) == pytest.approx(share, abs=0.02)  # type: ignore[index]
    for batch in drawn:
        for level, share in {"easy": 0.2, "medium": 0.4, "hard": 0.4}.items():
            assert abs(batch.count(level) - share * count) <= 2 + 1e-9  # type: ignore[arg-type]


def test_levels_without_a_share_are_not_drawn_or_needed() -> None:
    sampling = SamplingSection(by_difficulty={"easy": 0.0, "medium": 0.5, "hard": 0.5})
    seen = {drawn.level for step in range(20) for drawn in sampler(Pool(0, 9, 9), sampling).draw(step, 8)}
    assert seen == {"medium", "hard"}
    with pytest.raises(BadInput, match="no hard samples"):
        sampler(Pool(9, 9, 0))


def test_the_pool_share_follows_its_schedule_at_every_level(facts: PoolMeta) -> None:
    schedule = (RatioAt(step=0, ratio=0.5), RatioAt(step=100, ratio=0.25), RatioAt(step=200, ratio=1.0))
    one = sampler(
        Pool(50, 50, 50), SamplingSection(seed_ratio_schedule=schedule), fresh=FreshSamples(facts, (), [], seed=1)
    )
    for start, ratio in ((0, 0.5), (100, 0.25), (200, 1.0)):
        batch = [drawn for step in range(start, start + 100) for drawn in one.draw(step, 8)]
        assert sum(drawn.origin != "fresh" for drawn in batch) / 800 == pytest.approx(ratio, abs=0.01)
        afresh = Counter(drawn.level for drawn in batch if drawn.origin == "fresh")
        for level in LEVELS if ratio < 1 else ():
            share = afresh[level] / afresh.total()
            assert share == pytest.approx({"easy": 0.2, "medium": 0.4, "hard": 0.4}[level], abs=0.02)


def test_a_schedule_with_fresh_samples_needs_a_generator() -> None:
    with pytest.raises(ValueError, match="fresh"):
        sampler(Pool(9, 9, 9), SamplingSection(seed_ratio=0.5))


@pytest.mark.parametrize(("cap", "count"), [(0.30, 10), (0.30, 32), (0.30, 3), (0.0, 10), (1.0, 10)])
def test_low_performers_repeat_up_to_their_cap(cap: float, count: int) -> None:
    one = sampler(Pool(60, 60, 60), SamplingSection(low_perf_cap=cap))
    failed: set[str] = set()
    again = []
    for step in range(30):
        batch = one.draw(step, count)
        low = [drawn for drawn in batch if drawn.origin == "low"]
        assert {drawn.sample.id for drawn in low} <= failed
        assert len(set(ids(batch))) == count, "no sample twice in a batch"
        again.append(len(low))
        failed |= set(ids(batch))
        fail(one, batch)
    most = min(int(cap * count + 1e-9), count // 2)
    assert max(again) <= most
    assert again[5:] == [most] * 25


def test_successful_samples_do_not_repeat_early() -> None:
    one = sampler(Pool(40, 40, 40))
    for step in range(6):
        batch = one.draw(step, 16)
        assert all(drawn.origin == "pool" for drawn in batch)
        one.observe([episode(drawn.sample.id, success=True) for drawn in batch])


@pytest.mark.parametrize(
    ("needs", "asks", "success", "low"),
    [
        (False, 0, True, False),
        (False, 1, True, True),
        (True, 1, True, False),
        (True, 0, True, True),
        (False, 0, False, True),
    ],
)
def test_needless_asks_and_lucky_guesses_are_low_performance(needs: bool, asks: int, success: bool, low: bool) -> None:
    one = sampler(Pool(5, 5, 5))
    one.observe([episode("s7", needs=needs, asks=asks, success=success)])
    assert len(one.state_dict()["low"]["medium"]) == int(low)


def test_episodes_are_averaged_and_the_old_rate_counts_half() -> None:
    one = sampler(Pool(5, 5, 5))
    rates = []
    for results in ((False, True), (False, False), (True, False), (True, True)):
        one.observe([episode("s1", success=success) for success in results])
        rates += one.state_dict()["low"]["easy"]
    assert rates == [[1, 0.5], [1, 0.25], [1, 0.375], [1, 0.6875]]


def test_undecided_samples_are_drawn_in_proportion_to_p_1_p() -> None:
    known = Undecided([(0, 0.5), (1, 0.125), (2, 0.875)])
    drawn = Counter(known.pick(Random(number), ()) for number in range(4000))
    weights = [0.25, 0.109375, 0.109375]
    for index, weight in enumerate(weights):
        assert drawn[index] / 4000 == pytest.approx(weight / sum(weights), abs=0.03)
    assert known.pick(Random(0), (0, 1, 2)) is None


def test_a_hopeless_sample_is_dropped_after_some_tries() -> None:
    one = sampler(Pool(1, 1, 200), SamplingSection(by_difficulty={"easy": 0.0, "medium": 0.0, "hard": 1.0}))
    one.observe([episode("s2", success=False)])
    drawn_again = 0
    for step in range(20):
        batch = [drawn for drawn in one.draw(step, 4) if drawn.origin == "low"]
        drawn_again += len(batch)
        fail(one, batch)
    assert drawn_again == 2


@pytest.mark.parametrize("enable", [True, False])
def test_the_need_ask_share_holds_at_every_level(enable: bool) -> None:
    pool = Pool(50, 50, 50)
    asks = {name for number, name in enumerate(pool.levels) if number % 5 == 0}
    one = sampler(pool, SamplingSection(enable=enable, need_ask_share=0.7), need_ask=asks)
    batch = []
    for step in range(100):
        drawn = one.draw(step, 24)
        batch += drawn
        fail(one, drawn)
    assert sum(drawn.sample.id in asks for drawn in batch) / 2400 == pytest.approx(0.7, abs=0.01)
    for level, share in {"easy": 0.2, "medium": 0.4, "hard": 0.4}.items() if enable else ():
        of_level = [drawn.sample.id in asks for drawn in batch if drawn.level == level]
        assert len(of_level) / 2400 == pytest.approx(share, abs=0.02)
        assert sum(of_level) / len(of_level) == pytest.approx(0.7, abs=0.03)


def test_a_need_ask_share_needs_such_samples() -> None:
    with pytest.raises(BadInput, match="no easy_ask samples"):
        sampler(Pool(5, 5, 5), SamplingSection(need_ask_share=0.5), need_ask={"s7", "s12"})
    assert sampler(Pool(5, 5, 5), SamplingSection(need_ask_share=0.0)).draw(0, 4)


def test_every_sample_of_a_level_is_drawn_before_any_repeats() -> None:
    one = sampler(Pool(11, 17, 23))
    seen: Counter[str] = Counter()
    for step in range(40):
        seen.update(ids(one.draw(step, 10)))
        for level in LEVELS:
            counts = [seen[identity] for identity, own in Pool(11, 17, 23).levels.items() if own == level]
            assert max(counts) - min(counts) <= 2, "one turn, and one that was skipped because it was in the batch"


def test_a_pool_smaller_than_the_batch_repeats() -> None:
    assert len(sampler(Pool(1, 1, 1)).draw(0, 32)) == 32


def test_the_seed_decides_the_draw() -> None:
    pool = Pool(200, 200, 200)
    assert ids(sampler(pool, seed=1).draw(0, 16)) == ids(sampler(pool, seed=1).draw(0, 16))
    assert ids(sampler(pool, seed=1).draw(0, 16)) != ids(sampler(pool, seed=2).draw(0, 16))


def test_disabled_priorities_draw_the_pool_evenly() -> None:
    one = sampler(Pool(10, 70, 20), SamplingSection(enable=False, seed_ratio=0.5))
    batch = []
    for step in range(10):
        batch += one.draw(step, 10)
        fail(one, batch)
    assert Counter(drawn.level for drawn in batch) == {"easy": 10, "medium": 70, "hard": 20}
    assert {drawn.origin for drawn in batch} == {"pool"}


def test_samples_with_an_unstable_score_count_less() -> None:
    batch = sampler(Pool(3, 3, 3), weights={"s4": 0.25}).draw(0, 9)
    weights = {drawn.sample.id: drawn.weight for drawn in batch}
    assert weights.pop("s4") == 0.25
    assert set(weights.values()) == {1.0}


@pytest.mark.parametrize("stopped_at", [0, 1, 13, 29])
def test_a_resumed_run_draws_the_same_samples(facts: PoolMeta, stopped_at: int) -> None:
    def make() -> Sampler:
        sampling = SamplingSection(seed_ratio_schedule=(RatioAt(step=0, ratio=0.8), RatioAt(step=15, ratio=0.4)))
        return sampler(Pool(30, 40, 50), sampling, fresh=FreshSamples(facts, (), [], seed=1))

    def run(one: Sampler, steps: range) -> list[list[str]]:
        drawn = []
        for step in steps:
            batch = one.draw(step, 12)
            drawn.append(ids(batch))
            luck = Random(step)
            one.observe([episode(item.sample.id, success=luck.random() < 0.5) for item in batch for _ in range(2)])
        return drawn

    unbroken = run(make(), range(30))
    first = make()
    before = run(first, range(stopped_at))
    state = json.loads(json.dumps(first.state_dict()))
    second = make()
    second.load_state_dict(state)
    assert before + run(second, range(stopped_at, 30)) == unbroken


def test_resuming_with_another_pool_is_refused() -> None:
    state = sampler(Pool(5, 5, 5)).state_dict()
    with pytest.raises(BadInput, match="not what the run began with"):
        sampler(Pool(5, 6, 5)).load_state_dict(state)
    with pytest.raises(BadInput, match="not what the run began with"):
        sampler(Pool(5, 5, 5), SamplingSection(enable=False)).load_state_dict(state)


def test_neither_state_nor_draw_grows_with_the_pool() -> None:
    sizes, looks = [], []
    for size in (2_000, 20_000):
        pool = Pool(size, size, size)
        one = sampler(pool)
        one.observe([episode(f"s{number}", success=False) for number in range(3 * size)])
        pool.reads = 0
        one.draw(5, 16)
        looks.append(pool.reads)
        sizes.append(len(json.dumps(one.state_dict())))
        assert {level: len(known) for level, known in one.state_dict()["low"].items()} == dict.fromkeys(
            LEVELS, MAX_UNDECIDED
        )
    assert looks == [16, 16]
    assert sizes[1] < 1.2 * sizes[0] < 30_000


HALF_FRESH = SamplingSection(seed_ratio=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("training")
    build_pool(small_plan(200), made / "pool.jsonl")
    build_pool(small_plan(30, split="shadow"), made / "shadow.jsonl")
    difficulty_metrics(made / "pool.jsonl", made / "metrics.jsonl")
    difficulty_bucketize(made / "metrics.jsonl", TARGET, ("hotpotqa", "strategyqa", "gsm8k"), made / "balanced.jsonl")
    return made


def test_a_pool_file_decodes_its_samples(folder: Path) -> None:
    samples = list(read_records(folder / "pool.jsonl", Sample))
    pool = PoolFile(folder / "pool.jsonl")
    assert [pool[place] for place in range(200)] == samples
    assert [pool[place] for place in (150, 3, 3)] == [samples[150], samples[3], samples[3]]


@pytest.mark.parametrize("name", ["pool.jsonl", "balanced.jsonl"])
def test_levels_are_those_of_the_difficulty_metrics(folder: Path, name: str) -> None:
    levels = {record.id: record.level for record in read_records(folder / "metrics.jsonl", DifficultyRecord)}
    batch = open_sampler(folder / name, folder / "shadow.jsonl", HALF_FRESH, 1).draw(0, 24)
    assert batch
    for drawn in batch:
        assert measure(drawn.sample).level == drawn.level == levels.get(drawn.sample.id, drawn.level)


def test_an_invalid_or_edited_pool_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a pool to train on"):
        open_sampler(folder / "shadow.jsonl", folder / "shadow.jsonl", HALF_FRESH, 1)
    for name in ("pool.jsonl", "pool.meta.json"):
        shutil.copy(folder / name, tmp_path / name)
    edited = tmp_path / "pool.jsonl"
    edited.write_bytes(edited.read_bytes().replace(b'"role":"nurse"', b'"role":"actor"'))
    with pytest.raises(BadInput, match="has changed since its sidecar"):
        open_sampler(edited, folder / "shadow.jsonl", HALF_FRESH, 1)


def test_a_pool_sharing_sources_with_the_shadow_set_is_refused(folder: Path, tmp_path: Path) -> None:
    """A part of the pool is declared as the shadow set."""
    for source, target in ((folder / "pool.jsonl", "held.jsonl"), (sidecar(folder / "pool.jsonl"), "held.meta.json")):
        shutil.copy(source, tmp_path / target)
    held = tmp_path / "held.jsonl"
    write_meta(held, replace(read_meta(held), kind="shadow"))
    with pytest.raises(BadInput, match="source ids are in the seed pool"):
        open_sampler(folder / "pool.jsonl", held, HALF_FRESH, 1)
