"""A run draws from the pool that its sidecar describes, with the levels that were measured, and never from the shadow
set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from src.config.train_config import SamplingSection
from src.core.errors import BadInput
from src.core.files import sidecar
from src.core.jsonl import read_records
from src.core.types import Sample
from src.data.difficulty.bucketize import difficulty_bucketize
from src.data.difficulty.metrics import difficulty_metrics, measure
from src.data.pool.build import build_pool
from src.data.pool.meta import read_meta, write_meta
from src.data.pool.source import TARGET
from src.training.sampler import PoolFile, open_sampler
from tests.data.build_samples import small_plan

SAMPLING = SamplingSection(seed_ratio=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("training")
    build_pool(small_plan(200), made / "pool.jsonl")
    build_pool(small_plan(30, split="shadow"), made / "shadow.jsonl")
    difficulty_metrics(made / "pool.jsonl", made / "metrics.jsonl")
    difficulty_bucketize(made / "metrics.jsonl", TARGET, ("hotpotqa", "strategyqa", "gsm8k"), made / "balanced.jsonl")
    return made


def test_a_pool_file_is_its_samples(folder: Path) -> None:
    samples = list(read_records(folder / "pool.jsonl", Sample))
    pool = PoolFile(folder / "pool.jsonl")
    assert [pool[place] for place in range(200)] == samples
    assert [pool[place] for place in (150, 3, 3)] == [samples[150], samples[3], samples[3]]


@pytest.mark.parametrize("name", ["pool.jsonl", "balanced.jsonl"])
def test_measured_here_or_before_the_levels_are_the_same(folder: Path, name: str) -> None:
    draws = [
        open_sampler(folder / name, folder / "shadow.jsonl", SAMPLING, 1, metrics).draw(0, 24)
        for metrics in (None, folder / "metrics.jsonl")
    ]
    assert draws[0] == draws[1]
    for drawn in draws[0]:
        assert measure(drawn.sample).level == drawn.level


def test_what_is_no_pool_or_not_the_one_of_its_sidecar_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a pool to train on"):
        open_sampler(folder / "shadow.jsonl", folder / "shadow.jsonl", SAMPLING, 1)
    for name in ("pool.jsonl", "pool.meta.json"):
        shutil.copy(folder / name, tmp_path / name)
    edited = tmp_path / "pool.jsonl"
    edited.write_bytes(edited.read_bytes().replace(b'"role":"nurse"', b'"role":"actor"'))
    with pytest.raises(BadInput, match="has changed since its sidecar"):
        open_sampler(edited, folder / "shadow.jsonl", SAMPLING, 1)


def test_metrics_of_another_pool_are_refused(folder: Path, tmp_path: Path) -> None:
    build_pool(small_plan(20, seed=12), tmp_path / "other.jsonl")
    with pytest.raises(BadInput, match=r"does not measure other\.jsonl"):
        open_sampler(tmp_path / "other.jsonl", folder / "shadow.jsonl", SAMPLING, 1, folder / "metrics.jsonl")


def test_a_pool_that_holds_samples_of_the_shadow_set_is_refused(folder: Path, tmp_path: Path) -> None:
    """A part of the pool sold as the shadow set."""
    for source, target in ((folder / "pool.jsonl", "held.jsonl"), (sidecar(folder / "pool.jsonl"), "held.meta.json")):
        shutil.copy(source, tmp_path / target)
    held = tmp_path / "held.jsonl"
    write_meta(held, replace(read_meta(held), kind="shadow"))
    with pytest.raises(BadInput, match="source ids are in the seed pool"):
        open_sampler(folder / "pool.jsonl", held, SAMPLING, 1)
