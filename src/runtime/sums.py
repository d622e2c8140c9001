"""`reports/rc1/<name>.sha256`: fingerprints of key files, in the form that `sha256sum --check` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.files import atomic_write, sha256_file

FOLDER = Path("reports/rc1")
KEPT = ("data", "configs", "reports")
"""Folders whose files are evidence: what a run trains on, what it is set to, and what was measured."""
PAGE = ".html"
"""A page shows the report of the same name, whose sum is kept."""
NAMED_TOO = ("episodes", "gates")
"""Folders whose files have the names of others: a pool and the profile of its loop, a shadow set and its episodes."""


def sums_of(file: Path, folder: Path = FOLDER) -> Path:
    """Where the sum of a file is kept: `rc1_seed.balanced.jsonl` -> `rc1_seed.balanced.sha256`."""
    place = f"{file.parent.name}." if file.parent.name in NAMED_TOO else ""
    return folder / f"{place}{file.stem}.sha256"


def write_sums(files: Iterable[Path], folder: Path = FOLDER) -> list[Path]:
    """One file of sums for each file that is there. That of one which is gone, as a ticket withdrawn, goes too."""
    written = []
    for file in files:
        if file.parts[0] not in KEPT or file.suffix == PAGE:
            continue
        target = sums_of(file, folder)
        if not file.exists():
            target.unlink(missing_ok=True)
        elif file.is_file():
            with atomic_write(target) as handle:
                handle.write(f"{sha256_file(file)}  {file.as_posix()}\n".encode())
            written.append(target)
    return written
