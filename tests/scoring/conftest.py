"""What the scoring tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scoring.desk import Desk
from tests.scoring.nursery import Nursery


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, capfd, monkeypatch)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    server = Nursery()
    yield server
    server.close()
