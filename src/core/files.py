"""Files at the edge: written to a temporary name and renamed, so that nothing half-written is ever seen."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from .errors import BadInput


def sha256_file(path: Path) -> str:
    try:
        with open(path, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(path), remedy="check the path") from None


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name only when the block ends well; else nothing is left behind."""
    if path.is_dir():
        raise BadInput("is a folder", where=str(path), remedy="name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False)
    except OSError as error:
        raise BadInput(f"cannot write here ({error.strerror})", where=str(path), remedy="choose another path") from None
    temporary = Path(handle.name)
    try:
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        # mkstemp makes files for the owner's eyes only; an output is an ordinary file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Indented JSON with a newline at the end; field order is the order of the value."""
    with atomic_write(path) as handle:
        handle.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


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
    return pool.with_suffix(".meta.json")
