"""The verb that makes the smallest data: make_min_data."""

from __future__ import annotations

from pathlib import Path

from . import options, show


def make_min_data(as_json: options.Json = False) -> None:
    """Make the smallest training and evaluation data. data/train_min.jsonl and data/eval_min.jsonl."""
    from ..data.pool.build import make_minimal

    show.made(make_minimal(Path("data")), as_json)
