"""A Ray cluster gives the bytes, verdicts and bills of one process, also when a worker is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from src.config.loader import load_config
from src.config.profile import load_profile
from src.core.check import Report
from src.core.defaults import MIX, TEMPLATES
from src.core.errors import BadInput
from src.data.difficulty.metrics import difficulty_metrics
from src.data.pool.build import build_pool, reference_samples
from src.data.pool.plan import BuildPlan
from src.data.pool.shadow_set import materialize_shadow
from src.data.quality import scan
from src.data.quality.leaks import leak_views, similar_in_shards, similar_samples
from src.data.quality.near_duplicates import near_duplicates, near_duplicates_in_shards
from src.data.quality.token_stream import token_stream
from src.data.quality.validate_pool import validate_pool
from src.runtime.workers import ProcessPool, RayWorkers, Workers, joined, open_workers
from src.scoring.cluster import JudgeActor
from src.scoring.providers import ScorerSettings, settings_for
from tests.data.worded_samples import V2, wordy
from tests.scoring.cluster_run import audit, score_part
from tests.scoring.crash_run import notes
from tests.scoring.server import JudgeServer
from tests.scoring.workspace import samples
from tests.waiting import wait_until

ray_tests = pytest.mark.slow
"""Ray starts nine processes, and CI does not install it (240 MB): `make test-slow` runs these where it is installed."""


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'askgate[cluster]'")
    with joined("local") as found:
        yield found


def assert_shards_equal_the_whole(workers: Workers) -> None:
    """Near duplicates and leaks of shards are those of the whole, across the borders of shards too."""
    pool, shadow = wordy(600, V2, seed=1), wordy(40, V2, seed=2)
    pool[590] = pool[3]
    pool[350] = shadow[7]
    prompts = [[token_stream([one.prompt for one in pool[at : at + 200]])] for at in (0, 200, 400)]
    originals = [[token_stream([one.original for one in pool[at : at + 200]])] for at in (0, 200, 400)]
    whole = near_duplicates(leak_views(pool)[0])
    tokens = sum(len(one.hashes) for (one,) in prompts)
    found = near_duplicates_in_shards(prompts, tokens, workers)
    assert found.duplicate[590]
    assert found.duplicate.tolist() == whole.duplicate.tolist()
    leaks = similar_in_shards(
        list(zip(prompts, originals, strict=True)), [200] * 3, leak_views(shadow), 5, 0.85, workers
    )
    assert leaks == similar_samples(leak_views(pool), leak_views(shadow), 5, 0.85)
    assert 350 in leaks.matches


def test_shards_in_one_process() -> None:
    assert_shards_equal_the_whole(Workers())


def plan(n: int) -> BuildPlan:
    return BuildPlan(n=n, mix=MIX, seed=3, langs=(), templates_dir=TEMPLATES)


def validated(folder: Path, name: str, workers: Workers) -> Report:
    return validate_pool(
        folder / "pool.jsonl",
        load_profile("rc1").thresholds.pool,
        leak_check=folder / "shadow.jsonl",
        by_task=tuple(MIX),
        reference=partial(reference_samples, workers=workers),
        out=folder / f"{name}.json",
        workers=workers,
    )


@pytest.fixture(scope="module")
def small_shards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "CHUNK", 50)
        patch.setattr(scan, "MIN_PER_SHARD", 100)
        yield


@pytest.fixture(scope="module")
def by_one_process(tmp_path_factory: pytest.TempPathFactory, small_shards: None) -> tuple[Path, Report]:
    """A pool of 300 samples in three shards, its metrics and its report."""
    folder = tmp_path_factory.mktemp("pool")
    materialize_shadow(plan(30), True, folder / "shadow.jsonl", None, "")
    build_pool(plan(300), folder / "pool.jsonl", workers=Workers())
    difficulty_metrics(folder / "pool.jsonl", folder / "metrics.jsonl", Workers())
    return folder, validated(folder, "report", Workers())


@pytest.mark.parametrize("backend", ["processes", pytest.param("ray", marks=ray_tests)])
def test_stages_write_the_same_bytes(
    backend: str, by_one_process: tuple[Path, Report], request: pytest.FixtureRequest
) -> None:
    folder, report = by_one_process
    workers = ProcessPool(2) if backend == "processes" else RayWorkers(request.getfixturevalue("ray"))
    build_pool(plan(300), folder / f"{backend}.jsonl", workers=workers)
    assert (folder / f"{backend}.jsonl").read_bytes() == (folder / "pool.jsonl").read_bytes()
    difficulty_metrics(folder / "pool.jsonl", folder / f"{backend}_metrics.jsonl", workers)
    assert (folder / f"{backend}_metrics.jsonl").read_bytes() == (folder / "metrics.jsonl").read_bytes()
    found = validated(folder, backend, workers)
    assert (found.checks, found.figures) == (report.checks, report.figures)


def dies_once(folder: Path, number: int) -> int:
    """Its process is killed the first time that number 5 is asked for."""
    mark = folder / "died"
    if number == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def refuses(number: int) -> int:
    raise BadInput(f"{number} is refused", where="here", remedy="give another")


@ray_tests
def test_shards_on_ray(ray: Any) -> None:
    assert_shards_equal_the_whole(RayWorkers(ray))


@ray_tests
def test_a_killed_worker_loses_nothing(ray: Any, tmp_path: Path) -> None:
    found = RayWorkers(ray).map(dies_once, ((tmp_path, number) for number in range(12)))
    assert list(found) == [number * number for number in range(12)]
    assert (tmp_path / "died").exists()


@ray_tests
def test_a_refusal_by_a_worker_is_that_of_one_process(ray: Any) -> None:
    with pytest.raises(BadInput, match=r"here: 7 is refused. What to do: give another."):
        list(RayWorkers(ray).map(refuses, [(7,)]))


@ray_tests
def test_three_runs_share_one_judge_and_pay_nothing_twice(ray: Any, tmp_path: Path) -> None:
    """Each run has 24 of 36 samples, so that every sample is scored by two runs."""
    wanted = samples(36)
    parts = {name: [*wanted[at:], *wanted[:at]][:24] for name, at in {"a": 0, "b": 12, "c": 24}.items()}
    run = ray.remote(num_cpus=0.5, max_retries=2)(score_part)
    with JudgeServer(latency_s=0.1) as server:
        runs = [run.remote(tmp_path, name, server.url, part) for name, part in parts.items()]
        wait_until(lambda: len(notes(tmp_path / "b/scores.jsonl")) >= 4, "run b has scored four samples")
        os.kill(int(notes(tmp_path / "b/started")[0][0]), signal.SIGKILL)
        summaries = ray.get(runs)
        asked = server.asked
    assert len(notes(tmp_path / "b/started")) == 2
    assert [(one.scored, one.failed) for one in summaries] == [(24, 0)] * 3
    paid, scorings = audit(tmp_path)
    assert len(paid) == asked
    assert {one.sample for one in scorings} == {one.id for one in wanted}


def test_a_judge_that_cannot_start_hinders_no_later_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: ScorerSettings, tell: Any) -> Any:
        raise BadInput("the ledger is broken")

    monkeypatch.setattr("src.scoring.cluster.open_session", refuse)
    settings = settings_for({}, load_config().scoring)
    actor = JudgeActor()
    for run in ("a", "b"):
        with pytest.raises(BadInput, match="the ledger is broken"):
            asyncio.run(actor.open(run, settings))


def test_without_ray_the_flag_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match="askgate\\[cluster\\]"), open_workers("local"):
        pass


def test_ray_is_imported_only_for_a_cluster() -> None:
    code = "import sys, src.data.quality.validate_pool, src.scoring.score_pool; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
