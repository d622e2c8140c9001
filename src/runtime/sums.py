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


def write_sums(files: Iterable[Path], folder: Path = FOLDER) -> list[Path]:
    """One file of sums for each file that is there: `rc1_seed.balanced.jsonl` -> `rc1_seed.balanced.sha256`.

    That of a file which is gone, as a ticket that was withdrawn, goes too.
    """
    written = []
    for file in files:
        if file.parts[0] not in KEPT or file.suffix == PAGE:
            continue
        target = folder / f"{file.stem}.sha256"
        if not file.exists():
            target.unlink(missing_ok=True)
        elif file.is_file():
            with atomic_write(target) as handle:
                handle.write(f"{sha256_file(file)}  {file.as_posix()}\n".encode())
            written.append(target)
    return written
