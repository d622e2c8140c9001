"""Fixtures of the scoring tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fork_server import ForkServer
from tests.scoring.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    return Workspace(tmp_path, capfd, monkeypatch)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    server = ForkServer("tests.scoring.crash_run")
    yield server
    server.close()
