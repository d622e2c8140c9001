"""The page of benchmark results: one table for each set of results that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .render import render_page


def benchmarks_page(groups: Sequence[Sequence[Any]]) -> bytes:
    """`groups`: comparable `benchmarks.runner.BenchmarkResult`s, each list one table with a column a model."""
    return render_page("benchmarks.html", groups=groups)
