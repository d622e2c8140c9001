"""A training run small enough for a test: a random one-layer policy, a pool of sixty samples, a few steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from askgate_env.types import Sample
from scripts.base_model import Shape, make_network, make_tokenizer
from src.core.defaults import MIX
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.data.pool.shadow_set import materialize_shadow

CONFIG: dict[str, Any] = {
    "profile": "local",
    "base_model": "model",
    "seed_pool": "data/pool.jsonl",
    "shadow_set": "data/shadow.jsonl",
    "steps": 3,
    "seeds": [1],
    "batch_size": 4,
    "rollout_len": 12,
    "rollout": {"max_turns": 2, "max_tokens": 400, "slots": 4},
    "lr": 1.0e-3,
    "strategy_options": {"entropy_coef": 0.1},
    "checkpoint": {"every_steps": 1, "keep": 3},
    "eval": {"every_steps": 2},
    # A random policy says hardly a word that is an act, and that is not what its runs are about.
    "watch": {"malformed": 1.0, "bare_answer": 1.0, "ask_spam": 1.0},
}


def make_model_and_data(folder: Path, held_out: int = 8) -> None:
    """Creates the model and data that `CONFIG` names, with this many held-out samples."""
    plan = BuildPlan(n=60, mix=MIX, seed=3, langs=("en",), templates_dir=Path("templates/pack_v2"))
    build_pool(plan, folder / "data" / "pool.jsonl")
    few = BuildPlan(n=held_out, mix=MIX, seed=3, langs=("en",), templates_dir=Path("templates/pack_v2"))
    materialize_shadow(few, stratify=True, out=folder / "data" / "shadow.jsonl", manifest=None, tag="")
    tokenizer = make_tokenizer(read_records(folder / "data" / "pool.jsonl", Sample), 600)
    shape = Shape(vocab=len(tokenizer), width=16, layers=1, heads=1, kv_heads=1, head_width=16, inner=32)
    make_network(shape, tokenizer, seed=0).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")


def write_config(folder: Path, **changes: Any) -> Path:
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(CONFIG | changes), encoding="utf-8")
    return path
