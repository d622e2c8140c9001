"""The pools of the tests of agents."""

from __future__ import annotations

from tests.agents.conftest import official_pool, pool

__all__ = ["official_pool", "pool"]
