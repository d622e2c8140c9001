"""A sample of the crash trials of `bench/crash_trials.py`: nothing is lost, and the same work gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.crash_trials import KILLED, all_trials, table
from src.core.disk import Disk

EVERY = 97


def test_a_sample_of_the_crash_trials_of_the_benchmark(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sync", "sync_file"):  # the trials replace them in this process too
        monkeypatch.setattr(Disk, name, getattr(Disk, name))
    done = list(all_trials(tmp_path, finished, EVERY))
    lost = [trial for trial in done if trial[2] != "held"]
    assert not lost, lost
    assert {component for component, _, _ in done} >= {"checkpoint", "cache", "manifest", "ticket", "package"}
    assert sum(fault == KILLED for _, fault, _ in done) == 5
    assert table(done).splitlines()[-1].startswith("| all |")
