"""The metrics of a step that are equal, bit by bit, in a run and its repetition."""

from __future__ import annotations

from collections.abc import Mapping

MACHINE = ("time/", "memory/")
"""Prefixes of metrics about the machine."""


def reproducible_metrics(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if not name.startswith(MACHINE)}
