"""A finished honest run, and a copy of it for tests to change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gates.run_folder import copy_of, finished_run, small_thresholds_are_shipped
from tests.shared_results import _share_results

__all__ = ["_share_results"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which both rounds passed. Tests must not write there."""
    return finished_run(tmp_path_factory)


@pytest.fixture
def run(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the finished run as the working folder."""
    copy_of(finished, tmp_path)
    monkeypatch.chdir(tmp_path)
    small_thresholds_are_shipped(monkeypatch)
    return tmp_path
