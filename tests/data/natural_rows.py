"""Rows for sources of natural ambiguity, written for a test, and pools built from a source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from askgate_env.types import Sample
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.meta import PoolMeta
from src.data.pool.plan import BuildPlan


def write_rows(folder: Path, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def pool_of(source: str, data: Path, out: Path, n: int, rate: float = 0.3) -> tuple[list[Sample], PoolMeta]:
    plan = BuildPlan(
        n=n, mix={"hotpotqa": 1.0}, seed=5, langs=(), templates_dir=Path("templates/pack_v2"), source=source,
        data_dir=data, clarify_rate=rate,
    )  # fmt: skip
    meta = build_pool(plan, out / "pool.jsonl")
    return list(read_records(out / "pool.jsonl", Sample)), meta
