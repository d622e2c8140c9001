"""One folder of checkpoints: `step_00042` and so on, and `latest`, a link to the newest.

A checkpoint is made under a name that begins with a dot and renamed when it is whole; one that goes is renamed to such
a name before its first file is removed. So a kill at any moment leaves whole checkpoints and names with a dot, and the
latter are swept away by the next run.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..core.errors import BadInput
from ..core.paths import step_name
from ..runtime.disk import disk, explain_disk_errors, make_path, remove_tree
from .seal import Damaged, Seal, seal, verify

LATEST = "latest"
_SAVING = ".saving_"
_DROPPED = ".dropped_"
_REPLACED = ".replaced_"
"""Still whole: it goes back where the one that was to take its place did not arrive."""
_STEP = re.compile(r"step_(\d{5,})")
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)

log = logging.getLogger(__name__)


class Shelf:
    def __init__(self, path: Path) -> None:
        self.path = path

    def folder(self, step: int) -> Path:
        return self.path / step_name(step)

    def steps(self) -> list[int]:
        """Of all checkpoints that are here, whole or not, rising."""
        if not self.path.is_dir():
            return []
        return sorted(int(found[1]) for entry in self.path.iterdir() if (found := _STEP.fullmatch(entry.name)))

    def place(self, name: str, fill: Callable[[Path], None], step: int, marks: Mapping[str, Any]) -> Path:
        """A folder of that name with what `fill` writes into it. After an error it is as it was before."""
        target, new = self.path / name, self.path / f"{_SAVING}{name}"
        try:
            with explain_disk_errors(target):
                make_path(self.path)
                self.sweep()
                disk.make_folder(new)
                fill(new)
                made = seal(new, step, marks)
                if not _is_same(target, made):
                    if target.is_dir():
                        disk.rename(target, self.path / f"{_REPLACED}{name}")
                    disk.rename(new, target)
                    disk.sync(self.path)
        finally:
            with suppress(OSError):
                self.sweep()
        return target

    def point(self, step: int) -> None:
        """`latest` leads to that step, from one moment to the next."""
        link, new = self.path / LATEST, self.path / f"{_SAVING}{LATEST}"
        if link.is_symlink() and os.readlink(link) == step_name(step):
            return
        try:
            with explain_disk_errors(link):
                disk.link(step_name(step), new)
                disk.rename(new, link)
                disk.sync(self.path)
        except BadInput as error:
            # Mounted drives often have no links. Nothing here goes by them, so the run goes on without.
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in _NO_LINKS:
                raise
            log.warning("%s: this drive has no links; the newest checkpoint is %s", link, step_name(step))
        finally:
            with suppress(OSError):
                self.sweep()

    def drop(self, step: int) -> None:
        gone = self.path / f"{_DROPPED}{step_name(step)}"
        with explain_disk_errors(self.folder(step)):
            disk.rename(self.folder(step), gone)
            disk.sync(self.path)
            remove_tree(gone)

    def set_aside(self, step: int) -> Path:
        """Out of the way but not lost: `damaged_step_00042`. Nothing reads it again; it is the user's to remove."""
        target = self.path / f"damaged_{step_name(step)}"
        number = 1
        while target.exists():
            number += 1
            target = self.path / f"damaged_{step_name(step)}_{number}"
        with explain_disk_errors(self.folder(step)):
            disk.rename(self.folder(step), target)
            disk.sync(self.path)
        return target

    def sweep(self) -> None:
        """Removes what a save that did not end left behind, and puts back what it had moved out of the way."""
        for entry in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            if entry.name.startswith(_REPLACED):
                place = self.path / entry.name.removeprefix(_REPLACED)
                if place.exists():
                    remove_tree(entry)
                else:
                    disk.rename(entry, place)
                    disk.sync(self.path)
            if entry.name.startswith((_SAVING, _DROPPED)):
                remove_tree(entry)


def _is_same(target: Path, made: Seal) -> bool:
    if not target.is_dir():
        return False
    try:
        return verify(target) == made
    except Damaged:
        return False
