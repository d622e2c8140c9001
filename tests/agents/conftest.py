"""Pools for the tests of agents: 600 samples of the built-in worlds, and some from the official files."""

from __future__ import annotations

from pathlib import Path

import pytest

from askgate_env.types import Sample
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan

PLAN = {"mix": {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}, "seed": 4, "langs": ()}


def built(folder: Path, plan: BuildPlan) -> list[Sample]:
    build_pool(plan, folder / "pool.jsonl")
    return list(read_records(folder / "pool.jsonl", Sample))


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    plan = BuildPlan(n=600, templates_dir=Path("templates/pack_v2"), **PLAN)
    return built(tmp_path_factory.mktemp("builtin"), plan)


@pytest.fixture(scope="session")
def official_pool(tmp_path_factory: pytest.TempPathFactory, official_extract: Path) -> list[Sample]:
    plan = BuildPlan(n=60, templates_dir=Path("templates/pack_v2"), source="dir", data_dir=official_extract, **PLAN)
    return built(tmp_path_factory.mktemp("official"), plan)
