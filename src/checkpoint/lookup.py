"""Which checkpoint is the newest whole one. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.defaults import RESUME
from ..core.errors import BadInput
from .folder import Shelf
from .seal import MANIFEST, Damaged, Seal, verify

ALERT = "alert"
"""Mark of a checkpoint that was saved while alerts were pending, or right after a roll-back."""
TIMED = "timed"
"""Mark of a checkpoint that was saved by the clock or because a callback ended the run, not by the count of steps."""
BREACHED = "breached"
"""Mark with all steps whose weights had been seen to breach when the checkpoint was saved."""
STOPPED, HACKING = "stopped", "reward_hacking"
"""Marks of a checkpoint at which a callback of the user's, or the watch, ended the run: why. Empty in all others."""
_AGAIN = "put back one of them from a copy, or move the folder away and start again"


@dataclass(frozen=True)
class Found:
    """A checkpoint of which every byte was checked."""

    step: int
    path: Path
    marks: dict[str, Any]


@dataclass(frozen=True)
class Broken:
    shelf: Shelf
    step: int
    what: str
    """Path, file and what is wrong with it."""


def is_good(marks: Mapping[str, Any]) -> bool:
    """One that no count of steps asked for is no place to roll back to: an equal run may have none there."""
    return not marks.get(ALERT) and not marks.get(TIMED)


def candidates(shelves: Sequence[Shelf]) -> list[tuple[Shelf, int]]:
    """Newest first; of the same step the run's own before the mirror's."""
    found = [(shelf, step) for shelf in shelves for step in shelf.steps()]
    return sorted(found, key=lambda one: -one[1])


def search(shelves: Sequence[Shelf]) -> tuple[Found | None, list[Broken]]:
    """The newest that is whole, and those before it in the order of the search that are not."""
    damaged: list[Broken] = []
    for shelf, step in candidates(shelves):
        folder = shelf.folder(step)
        try:
            whole = verified(shelf, step)
        except Damaged as error:
            damaged.append(Broken(shelf, step, f"{folder}: {error}"))
        else:
            return Found(step, folder, whole.marks), damaged
    return None, damaged


def or_refuse(found: Found | None, damaged: Sequence[Broken], root: Path) -> Found:
    if found:
        return found
    if damaged:
        named = "; ".join(one.what for one in damaged)
        raise BadInput(f"no checkpoint is whole: {named}", where=str(root), remedy=_AGAIN)
    raise BadInput("no checkpoint here", where=str(root), remedy=f"start the run without {RESUME}")


def verified(shelf: Shelf, step: int) -> Seal:
    found = verify(shelf.folder(step))
    if found.step != step:
        raise Damaged(f"{MANIFEST} is of step {found.step}")
    return found
