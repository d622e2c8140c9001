"""The fault-injectable disk: every operation that must survive a crash goes through `disk`.

Checkpoints, score cache, ledger, manifest, tickets and packages write through it, and tests replace its methods to cut
the power, fill the disk or break it (`tests/disk_faults.py`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import sys
from pathlib import Path


class Disk:
    """File operations that tests can replace one by one."""

    def create(self, path: Path) -> int:
        """Opens a new file for writing. Fails if it exists."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def write(self, file: int, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        """Writes all of `data` at that offset. A file opened in append mode would ignore the offset."""
        while data:
            written = os.pwrite(file, data, offset)
            data, offset = data[written:], offset + written

    def truncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)

    def sync_file(self, file: int) -> None:
        """Makes an open file or folder, as it is now, survive a power cut."""
        if sys.platform == "darwin":
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # on macOS, fsync stops at the drive's own memory
        else:
            os.fsync(file)

    def sync(self, path: Path) -> None:
        """Makes a file or folder survive a power cut."""
        file = os.open(path, os.O_RDONLY)
        try:
            self.sync_file(file)
        except OSError as error:
            # Some mounted drives cannot sync folders; nothing more can be done on them.
            if error.errno != errno.EINVAL or not path.is_dir():
                raise
        finally:
            os.close(file)

    def commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

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


def make_path(folder: Path) -> None:
    """Creates the folder and its missing parents, and syncs each parent."""
    if not folder.is_dir():
        make_path(folder.parent)
        try:
            disk.make_folder(folder)
        except FileExistsError:
            if not folder.is_dir():  # else another process was faster
                raise
        disk.sync(folder.parent)
