"""Sealed folders: their files can be checked to be complete and unchanged.

`manifest.json` holds the SHA-256 of every file, `COMPLETE` the SHA-256 of the manifest. `COMPLETE` is written last,
after everything else is on disk, so a folder that has it is complete; changed files do not match their checksums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from askgate_env.types import Record

from ..core.disk import disk
from ..core.errors import BadInput
from ..core.files import is_plain_json, json_bytes, sha256_file
from ..core.paths import FINAL_MODEL
from ..runtime.disk import read_blocks, sync_tree, write_file

SEAL_FILE = "manifest.json"
COMPLETE = "COMPLETE"


class FileEntry(Record, frozen=True):
    """Size and checksum of a file."""

    bytes: int
    sha256: str


class Seal(Record, frozen=True):
    """Content of `manifest.json`."""

    step: int
    marks: dict[str, Any]
    """Facts for later use: whether the run was gated, its profile, its value."""
    files: dict[str, FileEntry]


class Damaged(Exception):
    """The folder is not as it was sealed. The message begins with the file name."""


@contextmanager
def explain_damage(folder: Path, remedy: str) -> Iterator[None]:
    """Turns `Damaged` inside the block into a BadInput that names the folder."""
    try:
        yield
    except Damaged as error:
        raise BadInput(str(error), where=str(folder), remedy=remedy) from None


def seal(folder: Path, step: int, marks: Mapping[str, Any]) -> Seal:
    """Syncs all files of a folder to disk and writes `manifest.json` and `COMPLETE`."""
    sync_tree(folder)
    files = {
        path.relative_to(folder).as_posix(): FileEntry(path.stat().st_size, sha256_file(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    made = Seal(step, dict(marks), files)
    _write_synced(folder / SEAL_FILE, json_bytes(made))
    _write_synced(folder / COMPLETE, f"{sha256_file(folder / SEAL_FILE)}\n".encode())
    disk.sync(folder)
    return made


def final_seals(checkpoints: Path) -> list[Path]:
    """Seals of the final models in a folder of checkpoints, of all seeds."""
    return sorted(checkpoints.glob(f"**/{FINAL_MODEL}/{SEAL_FILE}"))


def read_seal(folder: Path) -> Seal:
    """The manifest of a complete folder. The files themselves are not checked."""
    try:
        expected, manifest = _read(folder, COMPLETE).decode().strip(), _read(folder, SEAL_FILE)
        if expected != sha256(manifest).hexdigest():
            raise Damaged(f"{SEAL_FILE} is not the one that {COMPLETE} was written for")
        if not is_plain_json(manifest):
            raise Damaged(f"{SEAL_FILE} is not written as AskGate writes it, such as with a key twice")
        return msgspec.json.decode(manifest, type=Seal)
    except UnicodeDecodeError:
        raise Damaged(f"{COMPLETE} was changed") from None
    except msgspec.DecodeError as error:
        raise Damaged(f"{SEAL_FILE} cannot be read ({error})") from None


def verify(folder: Path) -> Seal:
    """Checks every file. `Damaged` names the first one that differs from the manifest, or that it does not list."""
    manifest = read_seal(folder)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()}
    for name in sorted(names - {SEAL_FILE, COMPLETE, *manifest.files}):
        raise Damaged(f"{name} was not there when it was saved")
    for name, entry in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise Damaged(f"{name} is missing")
        if path.is_symlink():
            raise Damaged(f"{name} is a link, and a file was saved")
        if path.stat().st_size != entry.bytes:
            raise Damaged(f"{name} has {path.stat().st_size} bytes, {entry.bytes} were saved")
        try:
            if sha256_file(path) != entry.sha256:
                raise Damaged(f"{name} was changed: its SHA-256 is not the one that was saved")
        except BadInput as error:
            raise Damaged(f"{name} {error.what}") from None
    return manifest


def copy_sealed(source: Path, target: Path) -> None:
    """Copies the files of a sealed folder into an empty one, which the caller seals."""
    with explain_damage(source, "check the disk; this checkpoint was not copied"):
        files = verify(source).files
    for name in files:
        missing = (parent for parent in reversed((target / name).parents) if not parent.is_dir())
        for folder in missing:
            disk.make_folder(folder)
        write_file(target / name, read_blocks(source / name))
        # The caller seals the copy as it is now, so it must equal the file that was saved.
        if sha256_file(target / name) != files[name].sha256:
            what = f"{name} changed while it was copied"
            raise BadInput(what, where=str(source), remedy="check both disks; this checkpoint was not copied")


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{name} is missing") from None
    except OSError as error:
        raise Damaged(f"{name} cannot be read ({error.strerror})") from None


def _write_synced(path: Path, data: bytes) -> None:
    write_file(path, [data])
    disk.sync(path)
