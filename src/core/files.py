"""Files at the edge: written to a temporary name and renamed, so that nothing half-written is ever seen."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from .errors import BadInput

_CHANCE = 8
"""Characters that `tempfile` puts at the end of a temporary name."""
_NOT_THE_PATHS_FAULT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Another path on the same disk would not help; who writes there knows how the work goes on (`runtime.disk`)."""
Start = Callable[[Path], IO[bytes]]
"""Opens one more file of a group that appears together."""


def sha256_file(path: Path) -> str:
    try:
        with open(path, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy="check the path") from None


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name only when the block ends well; else nothing is left behind."""
    with atomic_files() as start:
        yield start(path)


@contextmanager
def atomic_files() -> Iterator[Start]:
    """Files that belong together, such as a pool and its sidecar: all of them are whole before the first appears.

    When the block fails, none appears and the older ones stay as they were.
    """
    begun: list[tuple[IO[bytes], Path]] = []

    def start(path: Path) -> IO[bytes]:
        # Through a link its target is written; a rename onto the link itself would cut it.
        target = path.resolve()
        handle = _temporary(path, target)
        begun.append((handle, target))
        return handle

    try:
        yield start
        for handle, _ in begun:
            _complete(handle)
        for handle, target in begun:
            os.replace(handle.name, target)
    except BaseException:
        for handle, _ in begun:
            with suppress(OSError):
                handle.close()
            Path(handle.name).unlink(missing_ok=True)
        raise


def _temporary(path: Path, target: Path) -> IO[bytes]:
    if target.is_dir():
        raise BadInput("is a folder", where=str(path), remedy="name a file")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}.", delete=False)
    except OSError as error:
        if error.errno in _NOT_THE_PATHS_FAULT:
            raise
        raise BadInput(f"cannot write here ({error.strerror})", where=str(path), remedy="choose another path") from None


def _complete(handle: IO[bytes]) -> None:
    with handle:
        handle.flush()
        os.fsync(handle.fileno())
    # mkstemp makes files for the owner's eyes only; an output is an ordinary file.
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(handle.name, 0o666 & ~umask)


def sweep(path: Path) -> None:
    """Removes what a kill left of that file, or of all files in that folder, while they were being written.

    For a run that has the place to itself: what another process is writing would go too.
    """
    end = "?" * _CHANCE
    for left in [*(path.rglob(f".*.{end}") if path.is_dir() else path.parent.glob(f".{path.name}.{end}"))]:
        left.unlink(missing_ok=True)


def written(handle: IO[bytes]) -> Path:
    """Where the bytes of a file lie that has not appeared yet, for those who must read it before it does."""
    handle.flush()
    return Path(handle.name)


def write_json(path: Path, value: Any) -> None:
    with atomic_write(path) as handle:
        handle.write(json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Indented JSON with a newline at the end; field order is the order of the value."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def read_json(path: Path, remedy: str) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise BadInput("no such file", where=str(path), remedy=remedy) from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy=remedy) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not valid JSON ({error})", where=str(path), remedy=remedy) from None


def sidecar(pool: Path) -> Path:
    """`rc1_seed.jsonl` -> `rc1_seed.meta.json`: the facts that travel with a pool."""
    if not pool.name:
        raise BadInput("is a folder", where=str(pool), remedy="name a file")
    return pool.with_suffix(".meta.json")


def require_jsonl(path: Path, flag: str) -> None:
    """`c.json` and `c.jsonl` would share one sidecar, so files with a sidecar all end alike."""
    if path.suffix != ".jsonl":
        raise BadInput(f"{path} does not end in .jsonl", where=flag, remedy="name a .jsonl file")


def refuse_overlap(outputs: Mapping[str, Path], inputs: Mapping[str, Path]) -> None:
    """No output may overwrite what the stage reads, nor another output. Each path comes with the flag that named it.

    The sidecar of an input counts like the input, and so does that of a .jsonl output; reports have none.
    """
    taken = {one.resolve(): flag for flag, path in inputs.items() for one in (path, sidecar(path))}
    for flag, path in outputs.items():
        for one in (path, sidecar(path)) if path.suffix == ".jsonl" else (path,):
            other = taken.setdefault(one.resolve(), flag)
            if other != flag:
                raise BadInput(f"{one} would overwrite a file of {other}", where=flag, remedy="name another file")
