"""A finished run for attackers, as the tests of gates and packages have it."""

from __future__ import annotations

from tests.release.packing import finished, package_folder, packed, run

__all__ = ["finished", "package_folder", "packed", "run"]
