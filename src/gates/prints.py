"""Fingerprints: the SHA-256 of a file, or of a folder as the list of its files."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from ..core.errors import BadInput
from ..core.files import sha256_file, shipped


def fingerprint(path: Path) -> str:
    """Of the file or folder that a run from here uses: the user's own, else the one that came with the package."""
    here = shipped(path)
    if not here.is_dir():
        return sha256_file(here)
    files = sorted(file for file in here.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    if not files:
        raise BadInput("is an empty folder", where=str(path), remedy="check the path")
    lines = (f"{sha256_file(file)}  {file.relative_to(here).as_posix()}\n" for file in files)
    return sha256("".join(lines).encode()).hexdigest()
