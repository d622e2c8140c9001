"""What the languages' name makers share: no name twice in a world."""

from __future__ import annotations

from collections.abc import Callable
from random import Random


class FreshNames:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._used: set[str] = set()

    def fresh(self, make: Callable[[], str]) -> str:
        """The first name from `make` that this world does not have yet."""
        while (name := make()) in self._used:
            pass
        self._used.add(name)
        return name
