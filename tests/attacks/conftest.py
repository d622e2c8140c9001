"""A finished run for attackers, as the tests of gates and packages have it."""

from __future__ import annotations

from tests.release.packing import finished, packed, run

__all__ = ["finished", "packed", "run"]
