"""Samples as the pool builder makes them, without a file."""

from __future__ import annotations

from pathlib import Path

from askgate_env.types import Sample
from src.core.defaults import MIX, TEMPLATES
from src.core.files import shipped
from src.data.pool.build import make_jobs, make_sample, open_source
from src.data.pool.plan import BuildPlan
from src.data.pool.templates import load_pack


def small_plan(n: int, seed: int = 11, **fields: object) -> BuildPlan:
    facts: dict[str, object] = {"mix": MIX, "langs": ("en", "zh"), "templates_dir": Path(TEMPLATES)} | fields
    return BuildPlan(n=n, seed=seed, **facts)  # type: ignore[arg-type]


def built(plan: BuildPlan) -> list[Sample]:
    source, pack = open_source(plan), load_pack(shipped(plan.templates_dir))
    return [make_sample(plan, source, pack, job) for job in make_jobs(plan, source)]
