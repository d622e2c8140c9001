"""Fault injection: cuts the power, fills the disk or breaks it at any operation of `core.disk`, counted from 1."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn

from src.core.disk import Disk, disk

Kind = Literal["kill before", "kill amid", "kill after", "power cut", "names only", "disk full", "disk broken"]
KILLS: tuple[Kind, ...] = ("kill before", "kill amid", "power cut", "names only")
"""`power cut` loses everything that was not synced; `names only` keeps names and loses unsynced bytes. A kill after an
operation is the kill before the next one."""
ERRORS: tuple[Kind, ...] = ("disk full", "disk broken")


def install(kind: Kind, at: int, top: Path | None = None, passing: bool = False) -> Faulty:
    """Replaces the disk of this process with a faulty one. A full or broken disk stays so, unless `passing`.

    A power cut removes names and files below `top` that were not synced, and elsewhere unsynced bytes of open files.
    """
    faulty = Faulty(kind, at, top, passing)
    for name in [name for name in vars(Disk) if not name.startswith("_")]:
        setattr(disk, name, getattr(faulty, name))
    return faulty


def uninstall() -> None:
    disk.__dict__.clear()


class Faulty:
    def __init__(self, kind: Kind, at: int, top: Path | None, passing: bool) -> None:
        self.kind, self.at, self.passing, self.steps = kind, at, passing, 0
        self.real = Disk()
        self.durable = _Durable(top) if top and kind in ("power cut", "names only") else None
        self.unsynced: list[tuple[int, int, bytes, int]] = []
        """For each step since the last sync of its file: file, place, bytes that were there, size that it had."""

    def create(self, path: Path) -> int:
        made: list[int] = []
        self._step(lambda: made.append(self.real.create(path)), refusal=lambda kind: _system_error(kind, path))
        return made[0]

    def write(self, file: int, data: bytes | memoryview) -> None:
        self._step(lambda: self.real.write(file, data), lambda: self.real.write(file, data[: len(data) // 2]))

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        self._remember(file, offset, len(data))
        half = data[: len(data) // 2]
        self._step(lambda: self.real.write_at(file, data, offset), lambda: self.real.write_at(file, half, offset))

    def truncate(self, file: int, size: int) -> None:
        self._remember(file, size, os.fstat(file).st_size - size)
        self._step(lambda: self.real.truncate(file, size), frees=True)

    def sync_file(self, file: int) -> None:
        def really() -> None:
            self.real.sync_file(file)
            if self.durable:
                self.durable.sync(Path(os.readlink(f"/proc/self/fd/{file}")))

        self._step(really)
        self.unsynced = [step for step in self.unsynced if step[0] != file]

    def sync(self, path: Path) -> None:
        def really() -> None:
            self.real.sync(path)
            if self.durable:
                self.durable.sync(path)

        self._step(really)

    def commit(self, connection: sqlite3.Connection) -> None:
        self._step(lambda: self.real.commit(connection), refusal=_sqlite_error)

    def make_folder(self, path: Path) -> None:
        self._step(lambda: self.real.make_folder(path))

    def rename(self, old: Path, new: Path) -> None:
        self._step(lambda: self.real.rename(old, new))

    def link(self, target: str, path: Path) -> None:
        self._step(lambda: self.real.link(target, path))

    def remove(self, path: Path) -> None:
        self._step(lambda: self.real.remove(path), frees=True)

    def remove_folder(self, path: Path) -> None:
        self._step(lambda: self.real.remove_folder(path), frees=True)

    def _step(
        self,
        whole: Callable[[], None],
        half: Callable[[], None] = lambda: None,
        frees: bool = False,
        refusal: Callable[[Kind], Exception] | None = None,
    ) -> None:
        self.steps += 1
        if self.steps < self.at or (self.steps > self.at and self.passing):
            whole()
        elif self.kind == "disk full" and frees:
            whole()  # giving space back always works
        elif self.kind in ERRORS:
            half()
            raise (refusal or _system_error)(self.kind)
        else:
            if self.kind == "kill after":
                whole()
            elif self.kind != "kill before":
                half()
            if self.kind in ("power cut", "names only"):
                self._cut_power()
            _die()

    def _remember(self, file: int, offset: int, length: int) -> None:
        self.unsynced.append((file, offset, os.pread(file, max(0, length), offset), os.fstat(file).st_size))

    def _cut_power(self) -> None:
        for file, offset, before, size in reversed(self.unsynced):
            os.pwrite(file, before, offset)
            os.ftruncate(file, size)
        if self.durable:
            self.durable.cut(names=self.kind == "names only")


def _system_error(kind: Kind, path: Path | None = None) -> OSError:
    """The system names the file that it cannot open, and none that is open already."""
    code = errno.ENOSPC if kind == "disk full" else errno.EIO
    return OSError(code, os.strerror(code), path and str(path))


def _sqlite_error(kind: Kind) -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full" if kind == "disk full" else "disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if kind == "disk full" else sqlite3.SQLITE_IOERR_WRITE
    return error


class _Durable:
    """The durable state of the disk: what existed at first, and everything synced since."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.folders: dict[int, dict[str, int]] = {}
        self.files: dict[int, bytes] = {}
        self.links: dict[int, str] = {}
        self.held: dict[int, int] = {}
        """An open file for each number in use here, so that no number of a removed file is given to another."""
        for folder, _, names in os.walk(top):
            self.sync(Path(folder))
            for name in names:
                if not (path := Path(folder) / name).is_symlink():
                    self.sync(path)

    def sync(self, path: Path) -> None:
        number = self._hold(path)
        if not path.is_dir():
            self.files[number] = path.read_bytes()
            return
        self.folders[number] = {entry.name: self._hold(entry) for entry in path.iterdir()}
        for entry in path.iterdir():
            if entry.is_symlink():
                self.links[entry.lstat().st_ino] = os.readlink(entry)
            elif entry.is_dir():
                self.folders.setdefault(entry.stat().st_ino, {})

    def _hold(self, path: Path) -> int:
        number = path.lstat().st_ino
        if number not in self.held:
            self.held[number] = os.open(path, os.O_PATH | os.O_NOFOLLOW)
        return number

    def cut(self, names: bool) -> None:
        if names:
            for path in self.top.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    path.write_bytes(self.files.get(path.stat().st_ino, b""))
            return
        top = self.top.stat().st_ino
        rebuilt = self.top.with_name(f"{self.top.name} after the cut")
        self._rebuild(top, rebuilt)
        shutil.rmtree(self.top)
        rebuilt.rename(self.top)

    def _rebuild(self, number: int, path: Path) -> None:
        if number in self.folders:
            path.mkdir()
            for name, child in self.folders[number].items():
                self._rebuild(child, path / name)
        elif number in self.links:
            path.symlink_to(self.links[number])
        else:
            path.write_bytes(self.files.get(number, b""))


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives that")
