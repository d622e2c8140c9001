"""Chromium for the tests of the board's pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.board.small_run import WAIT_MS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing (make setup installs it)")
    with playwright.sync_playwright() as driver:
        path = CHROMIUM or driver.chromium.executable_path
        if not os.path.exists(path):
            pytest.skip("no Chromium on this machine")
        # In a container root has no sandbox to give; the pages come from this test alone.
        unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
        made = driver.chromium.launch(executable_path=path, args=["--disable-gpu", *unboxed])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose requests must stay on this machine; any other request fails the test."""
    made = browser.new_page()
    made.set_default_timeout(WAIT_MS)
    strangers: list[str] = []
    made.on("request", lambda request: strangers.append(request.url) if "127.0.0.1" not in request.url else None)
    yield made
    made.close()
    assert strangers == []
