"""Opens the source that a plan names."""

from __future__ import annotations

from .plan import BuildPlan
from .readers.builtin import BuiltinSource
from .source import Source


def open_source(plan: BuildPlan) -> Source:
    if plan.source == "builtin":
        return BuiltinSource()
    if plan.source == "dir":
        from .readers.official import OfficialSource

        return OfficialSource(plan.data_dir)
    from .readers.hub import HubSource

    return HubSource(plan.data_dir)
