"""Tests of packages measure the same pool many times."""

from __future__ import annotations

from tests.shared_results import _share_results

__all__ = ["_share_results"]
