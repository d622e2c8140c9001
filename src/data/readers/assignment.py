"""Giving every want its record: the scarce combinations first, every record at most once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Protocol

from msgspec import Struct

from ...core.types import Level
from ..pool.source import Want
from .reading import Mode

GOOD_ENOUGH = 0.95
"""A misfit up to here still has the level; past it a record is taken only where somebody must be asked."""
TWIN_SHARE = {"hotpotqa": 0.9, "strategyqa": 0.85, "gsm8k": 0.85}
"""Of the complete samples, how many sound as vague as the ambiguous ones, where there are records enough. The others
are as the dataset has them."""


class Choice(Struct, frozen=True):
    source_id: str
    mode: Mode


class Fits(Protocol):
    """How far a record is from a want when it is told in that mode; `None` where it cannot be."""

    def __call__(self, source_id: str, mode: Mode, want: Want) -> float | None: ...


# Easy questions that lack something are the scarcest, then hard ones that lack nothing.
_LEVELS: tuple[Level, ...] = ("easy", "hard", "medium")


def choose_records(
    wants: Sequence[Want], ids: Sequence[str], vague: Collection[str], fits: Fits, twin_share: float, rng: Random
) -> list[Choice | None]:
    """One choice a want, `None` where no record is left that can be told that way. `ids` come in random order.

    The wording is drawn before the coin is tossed: for each level, records that do on either side of the coin are
    chosen first, and only then is it drawn which of them are ambiguous. Else the wording itself would tell. What is
    left of the vague records makes twins too, and the rest are told as they are.
    """
    chosen: list[Choice | None] = [None] * len(wants)
    free = dict.fromkeys(ids)
    twins: dict[Level, list[int]] = {}
    complete: dict[Level, list[int]] = {}

    def take(places: Sequence[int], found: Sequence[str], mode: Mode) -> None:
        for place, source_id in zip(places, found, strict=False):
            chosen[place] = Choice(source_id, "hidden" if wants[place].clarify else mode)
            del free[source_id]

    def open_places(places: Sequence[int]) -> list[int]:
        return [place for place in places if chosen[place] is None]

    for level in _LEVELS:
        able = [one for one in free if one in vague]
        left = [want for want in wants if want.level not in twins]
        hidden = [place for place, want in enumerate(wants) if want.level == level and want.clarify]
        complete[level] = [place for place, want in enumerate(wants) if want.level == level and not want.clarify]
        rng.shuffle(complete[level])
        twins[level] = complete[level][: round(_twin_share(left, len(able), twin_share) * len(complete[level]))]
        places = [*hidden, *twins[level]]
        found = _best(able, [wants[place] for place in places], lambda one, want: _either(fits, one, want))
        good = [one for off, one in found if off <= GOOD_ENOUGH]
        kept = good if len(good) >= len(hidden) else [one for _, one in found[: len(hidden)]]
        rng.shuffle(kept)
        take(places, kept, "twin")
    for level in _LEVELS:
        most = round(twin_share * len(complete[level]))
        open_now = open_places(complete[level])
        places = open_now[: max(0, most - (len(complete[level]) - len(open_now)))]
        able = [one for one in free if one in vague]
        found = _best(able, [wants[place] for place in places], lambda one, want: fits(one, "twin", want))
        take(places, [one for off, one in found if off <= GOOD_ENOUGH], "twin")
    for level in ("hard", "easy", "medium"):
        places = open_places(complete[level])
        found = _best(list(free), [wants[place] for place in places], lambda one, want: fits(one, "intact", want))
        take(places, [one for _, one in found], "intact")
    return chosen


def _twin_share(wants: Sequence[Want], vague: int, twin_share: float) -> float:
    """Of the complete wants that are left, how many become twins: as many as the records allow."""
    asked = sum(want.clarify for want in wants)
    complete = len(wants) - asked
    return min(twin_share, max(0, vague - asked) / complete) if complete else 0.0


def _either(fits: Fits, source_id: str, want: Want) -> float | None:
    hidden = fits(source_id, "hidden", want)
    if hidden is None or hidden > GOOD_ENOUGH:
        return hidden
    twin = fits(source_id, "twin", want)
    return None if twin is None else max(hidden, twin)


def _best(
    candidates: Sequence[str], wants: Sequence[Want], off_by: Callable[[str, Want], float | None]
) -> list[tuple[float, str]]:
    """As many records as wants: the first that fit, in the order of the candidates, then those that come nearest."""
    good: list[tuple[float, str]] = []
    near: list[tuple[float, int, str]] = []
    for place, one in enumerate(candidates):
        if len(good) == len(wants):
            break
        off = off_by(one, wants[len(good)])
        if off == 0:
            good.append((0.0, one))
        elif off is not None:
            near.append((off, place, one))
    near.sort()
    return [*good, *((off, one) for off, _, one in near[: len(wants) - len(good)])]
