"""Packs logs and reports of a failed run, without secrets, to send for diagnosis: `reports/rc1/FAIL_<ts>.tgz`.

    python -m src.runtime.failpack        # needs only the standard library, so it works where the set-up failed

Contents and names of all files pass the secret masker.
"""

from __future__ import annotations

import io
import os
import sys
import tarfile
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ..core.paths import all_runs
from .secrets import masker

WANTED = (
    # The list in the original requirements (docs/internal/seeds.md).
    "logs/**/*",
    "reports/preflight/**/*",
    "data/shadow_eval_*.jsonl",
    "data/rollouts/rc1_seed*.jsonl",
    "reports/rc1/*.sha256",
    "reports/rc1/difficulty_report.json",
    "reports/rc1/pool_report.json",
    "reports/rc1/git_*.txt",
    "reports/shadow_run_*.json",
    "reports/calibration_report_*.json",
    "reports/overclar_ablation_*.json",
    "reports/ERROR_*.json",
    "reports/rc1_state.json",
    "configs/weights.json",
    "configs/ppo_scale.yaml",
)
FOLDER = Path("reports/rc1")
LINES = 200
"""Lines of a log that are shown, here and in an error report."""


def failpack(root: Path, environment: Mapping[str, str]) -> Path:
    """Packs the wanted files under `root`. The archive gets its name only when it is complete."""
    mask = masker(environment)
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"FAIL_{datetime.now(UTC):%Y%m%d_%H%M%S}.tgz"
    part = path.with_suffix(".part")
    try:
        with tarfile.open(part, "w:gz") as pack:
            for name, file in sorted(wanted(root).items()):
                _add(pack, file, name, mask)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def wanted(root: Path) -> dict[str, Path]:
    """Plain files to pack, by name. Files of the last run, to which the project folder has links, get the names of
    these links. No other link is followed: it could lead out of the run."""
    folders = [root, *all_runs(root)[:1]]
    return {
        file.relative_to(folder).as_posix(): file
        for folder in folders
        for pattern in WANTED
        for file in folder.glob(pattern)
        if file.is_file() and not file.is_symlink()
    }


def last_lines(log: Path, environment: Mapping[str, str]) -> list[str]:
    """The last lines of a log, masked."""
    mask = masker(environment)
    with open(log, encoding="utf-8", errors="replace") as lines:
        return [mask(line.rstrip("\n")) for line in deque(lines, LINES)]


def _add(pack: tarfile.TarFile, file: Path, name: str, mask: Callable[[str], str]) -> None:
    """Adds a file with its secrets masked. Bytes that are not text stay as they are."""
    masked = io.BytesIO()
    with open(file, "rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "surrogateescape")
            masked.write(mask(text).encode("utf-8", "surrogateescape"))
    entry = tarfile.TarInfo(mask(name))
    entry.size, entry.mtime, entry.mode = masked.tell(), int(file.stat().st_mtime), 0o644
    masked.seek(0)
    pack.addfile(entry, masked)


def _main() -> None:
    here = Path(".")
    logs = sorted((here / "logs").glob("*.log"), key=lambda file: file.stat().st_mtime)
    for log in logs[-1:]:
        sys.stdout.writelines(f"{line}\n" for line in last_lines(log, os.environ))
    sys.stdout.write(f"packed {failpack(here, os.environ)}: send it to those who diagnose the failure 请回传该归档\n")


if __name__ == "__main__":
    _main()
