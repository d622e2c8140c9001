"""Where checkpoints meet the disk: every operation goes through `disk`, and every refusal of the disk comes out as a
message that says what to do.

The order that makes a save safe is kept elsewhere; here is only what one operation is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from ..core.defaults import RESUME
from ..core.refused import refused

BLOCK = 4 * 2**20
"""Bytes in one write. A large file takes many, so a save needs little memory beside what it saves."""


class Disk:
    """The one place where tests cut the power: they put their own functions in place of these."""

    def create(self, path: Path) -> int:
        """A new file, open to write. It must not be there yet."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def write(self, file: int, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]

    def sync(self, path: Path) -> None:
        """A file or a folder, as it is now, outlives a power cut."""
        file = os.open(path, os.O_RDONLY)
        try:
            if sys.platform == "darwin":
                fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # there, fsync stops at the drive's own memory
            else:
                os.fsync(file)
        except OSError as error:
            # Some mounted drives know no sync of folders; there is nothing more to be done on them.
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(file)

    def make_folder(self, path: Path) -> None:
        path.mkdir()

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def link(self, target: str, path: Path) -> None:
        os.symlink(target, path)

    def remove(self, path: Path) -> None:
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        path.rmdir()


disk = Disk()


def write_file(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """A new file with these bytes, written in blocks. Whoever owns its folder syncs it."""
    file = disk.create(path)
    try:
        block = bytearray()
        for piece in pieces:
            rest = memoryview(piece)
            while len(rest):
                taken = BLOCK - len(block)
                block += rest[:taken]
                rest = rest[taken:]
                if len(block) == BLOCK:
                    disk.write(file, memoryview(block))
                    block = bytearray()
        if block:
            disk.write(file, memoryview(block))
    finally:
        os.close(file)


def read_blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        while block := handle.read(BLOCK):
            yield block


def make_path(folder: Path) -> None:
    """The folder and those above it, as far as they are missing, each known to the one it lies in."""
    if not folder.is_dir():
        make_path(folder.parent)
        disk.make_folder(folder)
        disk.sync(folder.parent)


def sync_tree(folder: Path) -> None:
    """Every file, then every folder from the inside out."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            sync_tree(entry)
        else:
            disk.sync(entry)
    disk.sync(folder)


def remove_tree(path: Path) -> None:
    """A file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        for entry in sorted(path.iterdir()):
            remove_tree(entry)
        disk.remove_folder(path)
    else:
        disk.remove(path)


def told(path: Path, only_room: bool = False) -> AbstractContextManager[None]:
    """What the disk refuses inside the block, in the words of a training run."""
    return refused(path, f"go on with {RESUME}; the checkpoints saved before are whole", only_room)
