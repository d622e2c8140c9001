"""Samples generated during training are like those of the pool, and are neither in it nor in the shadow set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from askgate_env.types import LEVELS, Sample
from src.config.loader import read_yaml
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.fresh import CHUNK, KEPT_CHUNKS, FreshSamples
from src.data.pool.meta import PoolMeta, read_meta
from src.data.quality.consistency import contradictions
from src.data.readers.official import OfficialSource
from tests.data.build_samples import built, small_plan
from tests.data.samples import measure


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    build_pool(small_plan(200), path)
    return path


@pytest.fixture(scope="module")
def meta(pool: Path) -> PoolMeta:
    return read_meta(pool)


@pytest.fixture(scope="module")
def samples(pool: Path) -> list[Sample]:
    return list(read_records(pool, Sample))


def source_ids(samples: list[Sample]) -> set[str]:
    return {sample.provenance.source_id for sample in samples}


def some(fresh: FreshSamples, count: int) -> list[Sample]:
    return [fresh.take(LEVELS[number % 3]) for number in range(count)]


def test_fresh_samples_have_the_wanted_level_and_are_consistent(meta: PoolMeta, samples: list[Sample]) -> None:
    fresh = FreshSamples(meta, source_ids(samples), [], seed=1)
    for level in LEVELS:
        for _ in range(30):
            made = fresh.take(level)
            assert measure(made).level == level
            assert not contradictions(made, replace(meta, seed=made.provenance.seed))


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.0, 0.0), (0.7, 0.55, 0.85)])
def test_fresh_samples_have_the_wanted_share_that_needs_an_ask(
    meta: PoolMeta, samples: list[Sample], share: float, low: float, high: float
) -> None:
    made = some(FreshSamples(meta, source_ids(samples), [], seed=1, need_ask_share=share), 150)
    assert low <= sum(one.needs_clarification for one in made) / len(made) <= high


def test_an_edited_profile_changes_no_fresh_sample(
    meta: PoolMeta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a resumed run would draw other samples than the run it resumes."""
    shadow = built(small_plan(60, split="shadow"))
    before = some(FreshSamples(meta, (), shadow, seed=1), 30)
    monkeypatch.chdir(tmp_path)
    Path("configs/gates").mkdir(parents=True)
    profile = read_yaml(Path("configs/gates/rc1.yaml"))
    profile["thresholds"]["pool"] |= {"leak_ngram": 1, "leak_sim": 0.0}
    Path("configs/gates/rc1.yaml").write_text(json.dumps(profile))
    assert some(FreshSamples(meta, (), shadow, seed=1), 30) == before


def test_fresh_samples_never_repeat_pool_or_shadow_set(meta: PoolMeta, samples: list[Sample]) -> None:
    shadow = built(small_plan(60, split="shadow"))
    made = some(FreshSamples(meta, source_ids(samples), shadow, seed=1), 2 * CHUNK)
    assert len(source_ids(made)) == len({one.id for one in made}) == 2 * CHUNK
    assert not source_ids(made) & (source_ids(samples) | source_ids(shadow))


def test_a_taken_source_id_is_never_used(meta: PoolMeta) -> None:
    """With the source ids of the first chunk taken, the first chunk is made from other ids."""
    first = source_ids(some(FreshSamples(meta, (), [], seed=1), 60))
    assert not first & source_ids(some(FreshSamples(meta, first, [], seed=1), 60))


def test_samples_similar_to_the_shadow_set_are_dropped(meta: PoolMeta) -> None:
    """The shadow set has the questions of a chunk, with other source ids and one word changed."""
    honest = some(FreshSamples(meta, (), [], seed=1), 30)
    planted = [
        replace(
            sample,
            id=f"shadow-{number}",
            prompt=f"{sample.prompt} Thanks!",
            provenance=replace(sample.provenance, source_id=f"elsewhere-{number}", split="shadow"),
        )
        for number, sample in enumerate(honest[:10])
    ]
    made = some(FreshSamples(meta, (), planted, seed=1), 30)
    assert not {one.id for one in made} & {one.id for one in honest[:10]}
    assert len({one.id for one in made} & {one.id for one in honest[10:]}) >= 15, "the others stay"


def test_runs_with_other_seeds_and_pools_get_other_samples(meta: PoolMeta) -> None:
    one = {sample.id for sample in some(FreshSamples(meta, (), [], seed=1), 30)}
    assert one == {sample.id for sample in some(FreshSamples(meta, (), [], seed=1), 30)}
    assert not one & {sample.id for sample in some(FreshSamples(meta, (), [], seed=2), 30)}
    assert not one & {sample.id for sample in some(FreshSamples(replace(meta, sha256="0" * 64), (), [], seed=1), 30)}


def test_no_chunk_is_made_twice_however_uneven_the_levels(meta: PoolMeta, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = FreshSamples._make_chunk
    monkeypatch.setattr(FreshSamples, "_make_chunk", lambda fresh, number: made.append(number) or make(fresh, number))
    fresh = FreshSamples(meta, (), [], seed=1)
    taken = [fresh.take("hard" if number % 8 else "easy") for number in range(480)]
    assert len({one.id for one in taken}) == 480
    assert made == list(range(len(made)))
    assert len(made) > KEPT_CHUNKS, "long enough for easy ones to be left behind"


def test_fresh_samples_resume_where_they_stopped(meta: PoolMeta) -> None:
    first = FreshSamples(meta, (), [], seed=1)
    some(first, CHUNK + 5)
    second = FreshSamples(meta, (), [], seed=1)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert some(first, 40) == some(second, 40)


def test_templates_that_changed_since_the_pool_was_built_are_refused(meta: PoolMeta) -> None:
    with pytest.raises(BadInput, match=r"templates have changed .*gsm8k"):
        FreshSamples(replace(meta, templates_sha256=meta.templates_sha256 | {"gsm8k.json": "0" * 64}), (), [], seed=1)


def test_official_records_of_the_pool_are_not_reused(official_extract: Path, tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    plan = small_plan(40, langs=("en",), mix={"gsm8k": 1.0}, source="dir", data_dir=official_extract)
    meta = build_pool(plan, path)
    assert meta.left_aside["gsm8k"] > 0, "the pool's facts tell of records without a way to their answer"
    used = source_ids(list(read_records(path, Sample)))
    made = some(FreshSamples(meta, used, [], seed=1), 30)
    assert {one.provenance.source for one in made} == {"dir"}
    assert not source_ids(made) & used


def test_a_source_with_nothing_left_is_refused_at_the_start(official_extract: Path, tmp_path: Path) -> None:
    plan = small_plan(10, langs=("en",), mix={"gsm8k": 1.0}, source="dir", data_dir=official_extract)
    meta = build_pool(plan, tmp_path / "pool.jsonl")
    with pytest.raises(BadInput, match="no fresh samples can be made"):
        FreshSamples(meta, OfficialSource(official_extract).load("gsm8k").records, [], seed=1)
