"""Samples on which the policy does badly, kept to be drawn again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from random import Random

from ..core.episode import Episode

LOW = 0.5
"""A sample whose episodes do well less often than this is a low performer."""
KEPT = 256
"""Of each bucket, the ones seen last. It bounds the state and the cost of a draw, however large the pool."""
TRIES = 4
"""Times that one is drawn again before others get its place: it may be beyond the policy for now."""


class LowPerformers:
    """One bucket: place in the pool -> how well it goes, from 0 to 1, and how often it was drawn again."""

    def __init__(self, known: Iterable[tuple[int, float, int]] = ()) -> None:
        self._known = {place: (score, tries) for place, score, tries in known}

    def __len__(self) -> int:
        return len(self._known)

    def pick(self, rng: Random, besides: Collection[int]) -> int | None:
        """One at random, the worst most often; none of `besides`."""
        able = [(place, 1.0 - score) for place, (score, _) in self._known.items() if place not in besides]
        if not able:
            return None
        places, weights = zip(*able, strict=True)
        place: int = rng.choices(places, weights)[0]
        score, tries = self._known[place]
        self._known[place] = (score, tries + 1)
        return place

    def note(self, place: int, share: float) -> None:
        """`share` of the episodes just made of a sample did well. Old news counts half."""
        score, tries = self._known.pop(place, (share, 0))
        score = (score + share) / 2
        if score < LOW and tries < TRIES:
            self._known[place] = (score, tries)
        if len(self._known) > KEPT:
            del self._known[next(iter(self._known))]

    def state(self) -> list[tuple[int, float, int]]:
        return [(place, score, tries) for place, (score, tries) in self._known.items()]


def did_well(episode: Episode) -> bool:
    """Right, and asked exactly where it had to."""
    return episode.need_ask_success if episode.needs_clarification else episode.success and episode.asks == 0
