"""Checkpoints of one run: saved so that a kill, a power cut or a full disk at any moment leaves a whole one behind.

    checkpoints/local/step_00042/     what the engine wrote, manifest.json, COMPLETE
    checkpoints/local/latest          -> step_00042
    checkpoints/local/best/           copies of the best ones; added to, never changed
    checkpoints/local/final_model/    the policy at the end

Steps only increase. A run that rolls its weights back goes on counting, so its checkpoints go on too, and a resumed run
always goes on from the newest whole one.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.paths import FINAL_MODEL, step_name
from ..runtime.disk import explain_disk_errors
from ..runtime.lock import lock_folder
from .folder import Shelf
from .lookup import Found, candidates, is_good, or_refuse, search, verified
from .seal import Damaged, copy_sealed, read_seal

BEST = "best"
VALUE = "value"
"""Mark of a checkpoint that was evaluated: what `best/` goes by, higher is better."""
VALUED_BY = "valued_by"
"""Mark that tells how it was evaluated. Values that were measured in different ways are not compared."""
_GO_ON = f"go on with {RESUME}, or move the folder away"

Write = Callable[[Path], None]
"""Fills an empty folder."""

log = logging.getLogger(__name__)


class Store:
    """The checkpoints of a run that is under way. One run at a time; the second is refused."""

    def __init__(self, root: Path, mirror: Path | None, keep: int) -> None:
        if keep < 1:
            raise ValueError("a store keeps at least one checkpoint")
        self.root, self.keep = root, keep
        self.breached: set[int] = set()
        """Steps whose weights are known to breach. Known only one step after they were saved, so no mark of theirs."""
        self._here = Shelf(root)
        self._shelves = [self._here, *([Shelf(mirror)] if mirror else [])]
        self._locks: list[int] = []
        try:
            for shelf in self._shelves:
                self._locks.append(lock_folder(shelf.path))
                with explain_disk_errors(shelf.path):
                    shelf.sweep()
                    Shelf(shelf.path / BEST).sweep()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        while self._locks:
            os.close(self._locks.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def last_step(self) -> int | None:
        """Of the newest checkpoint by name; None where no run has saved yet."""
        return max((step for shelf in self._shelves for step in shelf.steps()), default=None)

    def require_new(self) -> None:
        """For a run that begins: at its first save it would be too late to find out."""
        if self.last_step is not None:
            raise BadInput(f"holds a run that came to step {self.last_step}", where=str(self.root), remedy=_GO_ON)

    def save(self, step: int, write: Write, marks: Mapping[str, Any]) -> Path:
        """On disk for good when this returns. Then the oldest beyond `keep` go, and the mirror gets its copy."""
        last = self.last_step
        if last is not None and step <= last:
            what = f"holds step {last} already, and steps only increase; this is step {step}"
            raise BadInput(what, where=str(self.root), remedy=_GO_ON)
        path = self._here.place(step_name(step), write, step, marks)
        self._here.point(step)
        self._prune(self._here)

        def copy(there: Shelf) -> None:
            there.place(path.name, lambda folder: copy_sealed(path, folder), step, marks)
            there.point(step)
            self._prune(there)

        self._mirror(copy)
        return path

    def newest(self) -> Found:
        """Where to go on. Newer ones that are damaged are named in the log and set aside as `damaged_step_...`."""
        found, damaged = search(self._shelves)
        whole = or_refuse(found, damaged, self.root)
        for one in damaged:
            moved = one.shelf.set_aside(one.step)
            log.warning("%s; it is now %s, and the run goes on from step %d", one.what, moved.name, whole.step)
        return self._resumed(whole)

    def marks(self, step: int) -> dict[str, Any]:
        """What was said of that step when it was saved."""
        try:
            return read_seal(self._folder(step)).marks
        except Damaged as error:
            raise BadInput(str(error), where=str(self._folder(step)), remedy=_GO_ON) from None

    def latest_good(self, before: int) -> Found | None:
        """Where to roll the weights back to: the newest whole one below that step that is not known to breach."""
        for shelf, step in candidates(self._shelves):
            if step >= before or step in self.breached:
                continue
            try:
                whole = verified(shelf, step)
            except Damaged as error:
                log.warning("%s: %s", shelf.folder(step), error)
                continue
            if is_good(whole.marks):
                return Found(step, shelf.folder(step), whole.marks)
        return None

    def best(self, step: int, value: float, by: str = "") -> Path | None:
        """Adds the checkpoint of that step to `best/` when it is better (higher) than all that are there and were
        evaluated in the same way, which `by` names."""
        shelves = [Shelf(shelf.path / BEST) for shelf in self._shelves]
        held = {number: _value(shelf, number, by) for shelf in shelves for number in shelf.steps()}
        if step in held or not value > max(held.values(), default=-math.inf):
            return None
        source = self._folder(step)
        marks = {**self.marks(step), VALUE: value, VALUED_BY: by}

        def copy(shelf: Shelf) -> Path:
            return shelf.place(step_name(step), lambda folder: copy_sealed(source, folder), step, marks)

        path = copy(shelves[0])
        self._mirror(lambda there: copy(Shelf(there.path / BEST)))
        return path

    def final(self, step: int, write: Write, marks: Mapping[str, Any]) -> Path:
        """`final_model/`. The same again changes nothing."""
        path = self._here.place(FINAL_MODEL, write, step, marks)
        self._mirror(lambda there: there.place(FINAL_MODEL, lambda folder: copy_sealed(path, folder), step, marks))
        return path

    def _resumed(self, found: Found) -> Found:
        for shelf in self._shelves:
            if found.step in shelf.steps():
                shelf.point(found.step)
        return found

    def _folder(self, step: int) -> Path:
        for shelf in self._shelves:
            if step in shelf.steps():
                return shelf.folder(step)
        raise BadInput(f"holds no step {step}", where=str(self.root), remedy=_GO_ON)

    def _prune(self, shelf: Shelf) -> None:
        """With each one that is kept stays the one that a run resumed from it would roll back to. From the newest that
        is an earlier one: whether its own weights breach is not known yet."""
        steps = shelf.steps()
        good = [step for step in steps if step not in self.breached and _is_good(shelf, step)]
        spared = set(steps[-self.keep :])
        for step in steps[-self.keep :]:
            spared.update([earlier for earlier in good if earlier <= step and earlier != steps[-1]][-1:])
        for step in steps:
            if step not in spared:
                shelf.drop(step)

    def _mirror(self, act: Callable[[Shelf], object]) -> None:
        """The run outlives a mirror that fails: it says so, and the next save tries again."""
        for shelf in self._shelves[1:]:
            try:
                act(shelf)
            except (BadInput, OSError) as error:
                log.warning("not mirrored: %s", error)


def _is_good(shelf: Shelf, step: int) -> bool:
    try:
        return is_good(read_seal(shelf.folder(step)).marks)
    except Damaged:
        return False


def _value(shelf: Shelf, step: int, by: str) -> float:
    try:
        marks = read_seal(shelf.folder(step)).marks
        value = marks.get(VALUE) if marks.get(VALUED_BY, "") == by else None
    except Damaged as error:
        log.warning("%s: %s; its value does not count", shelf.folder(step), error)
        value = None
    return value if isinstance(value, float | int) else -math.inf
