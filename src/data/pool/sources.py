"""Opens the source that a plan names."""

from __future__ import annotations

from pathlib import Path

from ...core.errors import BadInput
from ..readers.builtin import BuiltinSource
from .plan import BuildPlan
from .source import Source


def open_source(plan: BuildPlan) -> Source:
    if plan.source == "builtin":
        return BuiltinSource()
    if plan.source == "dir":
        from ..readers.official import OfficialSource

        if plan.data_dir is not None:
            _refuse_missing(plan.data_dir)
        return OfficialSource(plan.data_dir)
    from ..readers.hub import HubSource

    return HubSource(plan.data_dir)


def _refuse_missing(data_dir: Path) -> None:
    """A sidecar keeps the folder as it was given, since no machine's own path belongs in a reproducible file."""
    if not data_dir.is_dir():
        raise BadInput(
            "no such folder",
            where=f"--data_dir {data_dir}",
            remedy="name the folder of the official files; a pool keeps it relative to the folder where the pool was "
            "built, so run the later stages from there",
        )
