"""The honest pool, and ways in which a careful forger would change it: samples edited, sidecar made to fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from askgate_env.types import TASKS, Sample
from src.core.check import Report
from src.core.files import sha256_file
from src.core.jsonl import read_records, write_records
from src.data.difficulty.bucketize import difficulty_bucketize
from src.data.difficulty.metrics import difficulty_metrics
from src.data.difficulty.validate_difficulty import validate_difficulty
from src.data.pool.build import build_pool, reference_samples
from src.data.pool.meta import read_meta
from src.data.pool.plan import BuildPlan
from src.data.pool.shadow_set import materialize_shadow
from src.data.quality.validate_pool import validate_pool
from tests.data.samples import write_meta
from tests.gates.conftest import finished, run
from tests.rc1 import DIFFICULTY_LIMITS, POOL_LIMITS
from tests.shared_results import _share_results, share_results

from .table import add_properties, print_table

__all__ = ["_share_results", "finished", "run"]

N, SHADOW = 1_500, 120
PLAN = BuildPlan(
    n=N,
    mix={"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25},
    seed=7,
    langs=(),
    templates_dir=Path("templates/pack_v2"),
)
SEEDS_TARGET = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
Change = Callable[[list[Sample]], list[Sample]]


@dataclass(frozen=True)
class Honest:
    pool: Path
    shadow: Path

    def samples(self) -> list[Sample]:
        return list(read_records(self.pool, Sample))

    def held_out(self) -> list[Sample]:
        return list(read_records(self.shadow, Sample))


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Honest:
    folder = tmp_path_factory.mktemp("honest")
    made = Honest(folder / "pool.jsonl", folder / "shadow.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        share_results(patch, tmp_path_factory)
        build_pool(PLAN, made.pool)
        materialize_shadow(replace(PLAN, n=SHADOW), stratify=True, out=made.shadow, manifest=None, tag="")
    return made


def forge(honest: Honest, folder: Path, change: Change, **facts: Any) -> Path:
    """A changed copy of the honest pool whose sidecar fits it."""
    pool = folder / "forged.jsonl"
    samples = change(honest.samples())
    with open(pool, "wb") as handle:
        write_records(handle, samples)
    write_meta(pool, replace(read_meta(honest.pool), sha256=sha256_file(pool), n=len(samples), **facts))
    return pool


def judge(pool: Path, shadow: Path, shortcuts: bool = False) -> Report:
    """Runs `validate_pool` with the thresholds of the founding documents.

    Most of its time goes into the shortcuts, so they are measured for the poisons of those two gates alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not shortcuts:
            patch.setattr("src.data.quality.validate_pool._shortcuts", lambda scanned, seed: ({}, {}))
        return validate_pool(
            pool,
            POOL_LIMITS,
            leak_check=shadow,
            by_task=TASKS,
            reference=reference_samples,
            out=pool.with_name("pool_report.json"),
        )


def judge_difficulty(
    pool: Path, folder: Path, change_metrics: Callable[[list[Any]], list[Any]] | None = None
) -> Report:
    """Runs the three difficulty stages with the thresholds of the founding documents."""
    metrics, balanced = folder / "forged.metrics.jsonl", folder / "forged.balanced.jsonl"
    difficulty_metrics(pool, metrics)
    if change_metrics is not None:
        rows = change_metrics([msgspec.json.decode(line) for line in metrics.read_bytes().splitlines()])
        with open(metrics, "wb") as handle:
            write_records(handle, rows)
        write_meta(metrics, replace(read_meta(metrics), sha256=sha256_file(metrics)))
    difficulty_bucketize(metrics, SEEDS_TARGET, TASKS, balanced)
    return validate_difficulty(metrics, balanced, DIFFICULTY_LIMITS)


def validate_as_balanced(pool: Path, samples: list[Sample], folder: Path, **facts: Any) -> Report:
    """Validates samples as the balanced pool of a measured pool, with a fitting sidecar."""
    balanced = folder / "sold.balanced.jsonl"
    with open(balanced, "wb") as handle:
        write_records(handle, samples)
    honest = replace(read_meta(pool), kind="balanced", parent=pool.name, parent_sha256=sha256_file(pool))
    write_meta(balanced, replace(honest, sha256=sha256_file(balanced), n=len(samples), **facts))
    return validate_difficulty(folder / "forged.metrics.jsonl", balanced, DIFFICULTY_LIMITS)


def failed(report: Report) -> set[str]:
    """Names of the failed checks, without their scope.

    `rebuilt` is left out: it detects every forgery here, and a poison must show that its own gate detects it too.
    """
    return {one.name.split("[")[0] for one in report.checks if not one.passed} - {"rebuilt"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    add_properties(items)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    print_table(terminalreporter)
