"""`askgate score --batch` in a process of its own, for the tests that kill it."""

from __future__ import annotations

import os

from src.cli import main
from tests import disk_faults


def run(folder: str, environment: dict[str, str], fault: list[str | int] | None = None) -> int:
    os.chdir(folder)
    os.environ.update(environment)
    if fault:
        disk_faults.install(*fault)  # type: ignore[arg-type]
    try:
        main(["score", "pool.jsonl", "--batch", "--json"])
    except SystemExit as left:
        return int(left.code or 0)
    return 0


def warm() -> None:
    """Imports everything before the runs start."""
    import tensorboardX.record_writer
    import tensorboardX.summary  # noqa: F401

    import src.scoring.score_pool  # noqa: F401


JOBS = {"run": run}
