"""`reports/rc1/<name>.sha256`: fingerprints of key files, in the form that `sha256sum --check` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.files import atomic_write, sha256_file

FOLDER = Path("reports/rc1")
KEPT = ("data", "configs")
"""Folders whose files are evidence: what a run trains on, and what it is set to."""


def write_sums(files: Iterable[Path], folder: Path = FOLDER) -> list[Path]:
    """One file of sums for each file that is there: `rc1_seed.balanced.jsonl` -> `rc1_seed.balanced.sha256`."""
    written = []
    for file in files:
        if file.is_file() and file.parts[0] in KEPT:
            target = folder / f"{file.stem}.sha256"
            with atomic_write(target) as handle:
                handle.write(f"{sha256_file(file)}  {file.as_posix()}\n".encode())
            written.append(target)
    return written
