"""What the scoring tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scoring.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    server = Nursery()
    yield server
    server.close()
