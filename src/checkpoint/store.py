"""Checkpoints of a run, saved so that a kill, a power cut or a full disk at any moment leaves a whole one behind.

    checkpoints/local/step_00042/     files of the engine, manifest.json, COMPLETE
    checkpoints/local/latest          link to step_00042
    checkpoints/local/best/           copies of the best checkpoints; added to, never changed
    checkpoints/local/final_model/    the policy at the end

A checkpoint is written under a name that begins with a dot and renamed when it is whole. A checkpoint that is dropped
is renamed to such a name before its first file is removed. So at any moment there are whole checkpoints and names with
a dot, and the next run removes the latter.

Steps only increase. A run that rolls its weights back keeps counting, so a resumed run always resumes from the newest
whole checkpoint.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..core.defaults import NO_RESUME, RESUME
from ..core.disk import disk, make_path
from ..core.errors import BadInput
from ..core.paths import FINAL_MODEL, step_name
from ..runtime.disk import explain_disk_errors, remove_tree
from ..runtime.lock import lock_folder
from .seal import SEAL_FILE, Damaged, FileEntry, Seal, copy_sealed, explain_damage, read_seal, seal, verify

LATEST = "latest"
BEST = "best"
ALERT = "alert"
"""Mark of a checkpoint that was saved while KL alerts were pending, or right after a rollback."""
TIMED = "timed"
"""Mark of a checkpoint that was saved because of the time, or because a callback ended the run, at any other step than
those of the schedule."""
BREACHED = "breached"
"""Mark with all steps whose weights were known to breach `kl_alert` when the checkpoint was saved."""
STOPPED, HACKING = "stopped", "reward_hacking"
"""Marks that say why the run ended at this checkpoint: STOPPED by a user's callback, HACKING by the reward-hacking
watch. Empty if it did not end here."""
VALUE = "value"
"""Mark of an evaluated checkpoint: the metric that `best/` compares, higher is better."""
VALUED_BY = "valued_by"
"""Mark that identifies the settings of the evaluation: values under different settings are not compared."""
_SAVING, _DROPPED = ".saving_", ".dropped_"
_REPLACED = ".replaced_"
"""Prefix of a whole folder that is being replaced. It is put back if its replacement did not get its name."""
_STEP = re.compile(r"step_(\d{5,})")
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_RESUME_OR_MOVE = f"resume with {RESUME}, or move the folder away"
_RESTORE = "put back one of them from a copy, or move the folder away and start again"

Write = Callable[[Path], None]
"""Writes files into an empty folder."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files were all verified."""

    step: int
    path: Path
    marks: dict[str, Any]
    files: dict[str, FileEntry]


class CheckpointFolder:
    """One folder with checkpoints `step_00042` and so on, and `latest`, a link to the newest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def folder(self, step: int) -> Path:
        return self.path / step_name(step)

    def steps(self) -> list[int]:
        """Steps of all checkpoints in the folder, whole or not, in rising order."""
        if not self.path.is_dir():
            return []
        return sorted(int(match[1]) for entry in self.path.iterdir() if (match := _STEP.fullmatch(entry.name)))

    def verify(self, step: int) -> Checkpoint:
        """Verifies every file of a checkpoint. Raises `Damaged` if one is not as it was saved."""
        found = verify(self.folder(step))
        if found.step != step:
            raise Damaged(f"{SEAL_FILE} is of step {found.step}")
        return Checkpoint(step, self.folder(step), found.marks, found.files)

    def place(
        self, name: str, fill: Write, step: int, marks: Mapping[str, Any], sealed: Write = lambda folder: None
    ) -> Path:
        """Makes or replaces a sealed folder of that name, filled by `fill`. After an error it is as it was before.

        `sealed` is called with the sealed folder before it gets its name.
        """
        target, new = self.path / name, self.path / f"{_SAVING}{name}"
        try:
            with explain_disk_errors(target):
                make_path(self.path)
                self.sweep()
                disk.make_folder(new)
                fill(new)
                made = seal(new, step, marks)
                sealed(new)
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
        """Points `latest` to that step, atomically."""
        link, new = self.path / LATEST, self.path / f"{_SAVING}{LATEST}"
        if link.is_symlink() and os.readlink(link) == step_name(step):
            return
        try:
            with explain_disk_errors(link):
                disk.link(step_name(step), new)
                disk.rename(new, link)
                disk.sync(self.path)
        except BadInput as error:
            # Mounted drives often have no links. Nothing here depends on them, so the run continues without.
            if not isinstance(error.__cause__, OSError) or error.__cause__.errno not in _NO_LINKS:
                raise
            log.warning("%s: this drive has no links; the newest checkpoint is %s", link, step_name(step))
        finally:
            with suppress(OSError):
                self.sweep()

    def drop(self, step: int) -> None:
        dropped = self.path / f"{_DROPPED}{step_name(step)}"
        with explain_disk_errors(self.folder(step)):
            disk.rename(self.folder(step), dropped)
            disk.sync(self.path)
            remove_tree(dropped)

    def set_aside(self, step: int) -> Path:
        """Renames a damaged checkpoint to `damaged_step_00042`. Nothing reads it again; the user may remove it."""
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
        """Removes the temporary folders of an interrupted save, and puts back a folder that it was replacing."""
        for entry in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            if entry.name.startswith(_REPLACED):
                target = self.path / entry.name.removeprefix(_REPLACED)
                if target.exists():
                    remove_tree(entry)
                else:
                    disk.rename(entry, target)
                    disk.sync(self.path)
            if entry.name.startswith((_SAVING, _DROPPED)):
                remove_tree(entry)


@dataclass(frozen=True)
class DamagedCheckpoint:
    folder: CheckpointFolder
    step: int
    what: str
    """Path, file and what is wrong with it."""


def find_latest(folders: Sequence[CheckpointFolder]) -> tuple[Checkpoint | None, list[DamagedCheckpoint]]:
    """The newest whole checkpoint, and the damaged ones that were tried before it. Reads only."""
    damaged: list[DamagedCheckpoint] = []
    for folder, step in newest_first(folders):
        try:
            return folder.verify(step), damaged
        except Damaged as error:
            damaged.append(DamagedCheckpoint(folder, step, f"{folder.folder(step)}: {error}"))
    return None, damaged


def require_checkpoint(found: Checkpoint | None, damaged: Sequence[DamagedCheckpoint], root: Path) -> Checkpoint:
    if found:
        return found
    if damaged:
        named = "; ".join(one.what for one in damaged)
        raise BadInput(f"no checkpoint is whole: {named}", where=str(root), remedy=_RESTORE)
    raise BadInput("no checkpoint here", where=str(root), remedy=f"start the run without {NO_RESUME}")


def newest_first(folders: Sequence[CheckpointFolder]) -> list[tuple[CheckpointFolder, int]]:
    """All checkpoints, newest first; of the same step in the order of the folders (own, mirror)."""
    found = [(folder, step) for folder in folders for step in folder.steps()]
    return sorted(found, key=lambda one: -one[1])


class CheckpointStore:
    """The checkpoints of a run in progress, and their mirror. A second run on the same folder is refused.

    `record` is called with step and folder of each checkpoint when it is sealed, before a later run can find it.
    """

    def __init__(
        self,
        root: Path,
        mirror: Path | None,
        keep: int,
        record: Callable[[int, Path], None] = lambda step, folder: None,
    ) -> None:
        if keep < 1:
            raise ValueError("a store keeps at least one checkpoint")
        self.root, self.keep, self._record = root, keep, record
        self.breached: set[int] = set()
        """Steps whose weights breached `kl_alert`. Known one step after they were saved, so not among their marks."""
        self._own = CheckpointFolder(root)
        self._folders = [self._own, *([CheckpointFolder(mirror)] if mirror else [])]
        with ExitStack() as locks:
            for folder in self._folders:
                locks.callback(os.close, lock_folder(folder.path))
                with explain_disk_errors(folder.path):
                    folder.sweep()
                    CheckpointFolder(folder.path / BEST).sweep()
            self.close = locks.pop_all().close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def last_step(self) -> int | None:
        """Step of the newest checkpoint by name; None where no run has saved yet."""
        return max((step for folder in self._folders for step in folder.steps()), default=None)

    def require_new(self) -> None:
        """Refuses to start a new run in a folder that holds one, before the first save would fail."""
        if self.last_step is not None:
            what = f"holds a run that came to step {self.last_step}"
            raise BadInput(what, where=str(self.root), remedy=_RESUME_OR_MOVE)

    def save(self, step: int, write: Write, marks: Mapping[str, Any]) -> Path:
        """Saves a checkpoint durably, drops the oldest beyond `keep`, and copies it to the mirror."""
        last = self.last_step
        if last is not None and step <= last:
            what = f"holds step {last} already, and steps only increase; this is step {step}"
            raise BadInput(what, where=str(self.root), remedy=_RESUME_OR_MOVE)
        path = self._own.place(step_name(step), write, step, marks, partial(self._record, step))
        self._own.point(step)
        self._prune(self._own)

        def copy(mirror: CheckpointFolder) -> None:
            mirror.place(path.name, lambda folder: copy_sealed(path, folder), step, marks)
            mirror.point(step)
            self._prune(mirror)

        self._mirror(copy)
        return path

    def newest(self) -> Checkpoint:
        """The checkpoint to resume from. Newer ones that are damaged are logged and renamed to `damaged_step_...`."""
        found, damaged = find_latest(self._folders)
        whole = require_checkpoint(found, damaged, self.root)
        for one in damaged:
            moved = one.folder.set_aside(one.step)
            log.warning("%s; it is now %s, and the run resumes from step %d", one.what, moved.name, whole.step)
        for folder in self._folders:
            if whole.step in folder.steps():
                folder.point(whole.step)
        return whole

    def marks(self, step: int) -> dict[str, Any]:
        """The marks that a checkpoint was saved with."""
        with explain_damage(self._path(step), _RESUME_OR_MOVE):
            return read_seal(self._path(step)).marks

    def latest_good(self, before: int) -> Checkpoint | None:
        """The checkpoint to roll back to: the newest whole one below that step that is not known to breach."""
        for folder, step in newest_first(self._folders):
            if step >= before or step in self.breached:
                continue
            try:
                found = folder.verify(step)
            except Damaged as error:
                log.warning("%s: %s", folder.folder(step), error)
                continue
            if _is_good(found.marks):
                return found
        return None

    def best(self, step: int, value: float, by: str = "") -> Path | None:
        """Copies a checkpoint to `best/` if its value is above all others there with the same `by` (`VALUED_BY`)."""
        folders = [CheckpointFolder(folder.path / BEST) for folder in self._folders]
        held = {number: _value(folder, number, by) for folder in folders for number in folder.steps()}
        if step in held or not value > max(held.values(), default=-math.inf):
            return None
        source = self._path(step)
        marks = {**self.marks(step), VALUE: value, VALUED_BY: by}

        def copy(folder: CheckpointFolder) -> Path:
            return folder.place(step_name(step), lambda new: copy_sealed(source, new), step, marks)

        path = copy(folders[0])
        self._mirror(lambda mirror: copy(CheckpointFolder(mirror.path / BEST)))
        return path

    def final(self, step: int, write: Write, marks: Mapping[str, Any], name: str = FINAL_MODEL) -> Path:
        """Writes `final_model/`, or another model by its name. The same content again changes nothing."""
        path = self._own.place(name, write, step, marks)
        self._mirror(lambda mirror: mirror.place(name, lambda new: copy_sealed(path, new), step, marks))
        return path

    def recover_model(self, name: str) -> None:
        """Copies a model back from the mirror, if it is missing in this folder."""
        for mirror in self._folders[1:]:
            source = mirror.path / name
            if not (self.root / name).exists() and source.exists():
                seal = read_seal(source)
                self._own.place(name, partial(copy_sealed, source), seal.step, seal.marks)

    def _path(self, step: int) -> Path:
        for folder in self._folders:
            if step in folder.steps():
                return folder.folder(step)
        raise BadInput(f"has no step {step}", where=str(self.root), remedy=_RESUME_OR_MOVE)

    def _prune(self, folder: CheckpointFolder) -> None:
        """Deletes old checkpoints. For each one kept, also keeps the one to which a run resumed there would roll back.

        For the newest checkpoint this is an earlier one: it is not known yet whether its weights breach `kl_alert`.
        """
        steps = folder.steps()
        good = [step for step in steps if step not in self.breached and _is_good(_marks(folder, step))]
        kept = set(steps[-self.keep :])
        for step in steps[-self.keep :]:
            kept.update([earlier for earlier in good if earlier <= step and earlier != steps[-1]][-1:])
        for step in steps:
            if step not in kept:
                folder.drop(step)

    def _mirror(self, write: Callable[[CheckpointFolder], object]) -> None:
        """Calls `write` with the mirror. If it fails, the run continues with a warning; the next save tries again."""
        for folder in self._folders[1:]:
            try:
                write(folder)
            except (BadInput, OSError) as error:
                log.warning("not mirrored: %s", error)


def _is_same(target: Path, made: Seal) -> bool:
    with suppress(Damaged):
        return target.is_dir() and verify(target) == made
    return False


def _is_good(marks: Mapping[str, Any] | None) -> bool:
    """Whether a run may roll back to a checkpoint with these marks. Not to a timed one: the same run without an
    interruption would not have it."""
    return marks is not None and not marks.get(ALERT) and not marks.get(TIMED)


def _marks(folder: CheckpointFolder, step: int) -> dict[str, Any] | None:
    """The marks of a checkpoint; None if its seal is damaged."""
    try:
        return read_seal(folder.folder(step)).marks
    except Damaged:
        return None


def _value(folder: CheckpointFolder, step: int, by: str) -> float:
    """The value of an evaluated checkpoint; minus infinity if it is damaged or was evaluated with other settings."""
    marks = _marks(folder, step)
    if marks is None:
        log.warning("%s: its seal is damaged, so its value does not count", folder.folder(step))
        return -math.inf
    value = marks.get(VALUE) if marks.get(VALUED_BY, "") == by else None
    return value if isinstance(value, float | int) else -math.inf
