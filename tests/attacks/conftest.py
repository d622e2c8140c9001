"""A finished run for attackers, as the tests of gates and packages have it."""

from __future__ import annotations

from tests.release.packing import finished, package_folder, packed, run
from tests.shared_results import _share_results

__all__ = ["_share_results", "finished", "package_folder", "packed", "run"]
