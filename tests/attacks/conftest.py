"""Finished runs for attackers: with rounds as the tests of gates and packages have it, and one that was trained."""

from __future__ import annotations

from tests.attacks.gated_run import gated_run, place
from tests.release.packing import finished, package_folder, packed, run
from tests.shared_results import _share_results

__all__ = ["_share_results", "finished", "gated_run", "package_folder", "packed", "place", "run"]
