"""`reports/rc1/<name>.sha256`: checksums of key files, in the format that `sha256sum --check` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.files import atomic_write, sha256_file

FOLDER = Path("reports/rc1")
KEPT = ("data", "configs", "reports")
"""Folders whose files are evidence: training data, settings and measurements."""
PAGE = ".html"
"""Pages have no checksum of their own: each shows the report of the same name, which has one."""
NAMED_TOO = ("episodes", "gates")
"""Folders whose file names also occur elsewhere: a pool and its loop's profile, a shadow set and its episodes."""


def checksum_path(file: Path, folder: Path = FOLDER) -> Path:
    """The file that holds a file's checksum: `rc1_seed.balanced.jsonl` -> `rc1_seed.balanced.sha256`."""
    prefix = f"{file.parent.name}." if file.parent.name in NAMED_TOO else ""
    return folder / f"{prefix}{file.stem}.sha256"


def write_checksums(files: Iterable[Path], folder: Path = FOLDER) -> list[Path]:
    """Writes one checksum file per existing file, and removes the checksum of a file that is gone."""
    written = []
    for file in files:
        if file.parts[0] not in KEPT or file.suffix == PAGE:
            continue
        target = checksum_path(file, folder)
        if not file.exists():
            target.unlink(missing_ok=True)
        elif file.is_file():
            with atomic_write(target) as handle:
                handle.write(f"{sha256_file(file)}  {file.as_posix()}\n".encode())
            written.append(target)
    return written
