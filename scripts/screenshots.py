"""Pictures of the board and of the pages of a run for `docs/images/`, taken in Chromium from a project folder.

    python scripts/screenshots.py --run .                  # of a finished quickstart
    python scripts/screenshots.py --run . --run ../other   # the second one to compare with

Light and dark, wide and narrow. Needs playwright (`make setup` installs it) and a Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

    Shot = tuple[str, str, ViewportSize, Literal["light", "dark"]]

ROOT = Path(__file__).resolve().parents[1]
WIDE: ViewportSize = {"width": 1280, "height": 860}
NARROW: ViewportSize = {"width": 390, "height": 844}
SHOTS: tuple[Shot, ...] = (
    ("board-lights", "/", WIDE, "light"),
    ("board-lights-dark", "/", WIDE, "dark"),
    ("board-narrow", "/", NARROW, "dark"),
    ("board-evidence", "/light?round=1&of=data", WIDE, "light"),
    ("board-episodes", "/episodes", WIDE, "light"),
    ("board-episodes-narrow", "/episodes?right=no", NARROW, "light"),
    ("board-compare", "/compare", WIDE, "dark"),
    ("board-runs", "/runs", WIDE, "light"),
    ("board-chat", "/chat", WIDE, "light"),
    ("board-zh", "/?askgate_lang=zh", WIDE, "light"),
)
PAGES: tuple[Shot, ...] = (
    ("report", "reports/rc1/RC1.html", WIDE, "light"),
    ("report-dark", "reports/rc1/RC1.html", WIDE, "dark"),
    ("report-narrow", "reports/rc1/RC1.html", NARROW, "light"),
    ("demo", "reports/demo.html", WIDE, "light"),
    ("demo-narrow", "reports/demo.html", NARROW, "dark"),
)
"""Pages opened from disk. Those that the run has not written are left out."""
SETTLED_MS = 4000
"""Time for figures that the board measures and adds after the page; a busy machine takes longer."""


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--run", type=Path, action="append", required=True)
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with _browser() as browser:
        with _board(given.run) as url:
            for path in _of_board(browser, url, given.out):
                print(f"wrote {path}")
        for path in _of_pages(browser, given.run[0].resolve(), given.out):
            print(f"wrote {path}")


@contextmanager
def _board(runs: list[Path]) -> Iterator[str]:
    flags = [word for run in runs for word in ("--run", str(run.resolve()))]
    command = [sys.executable, "-m", "src.cli", "board", "--port", "0", *flags]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said = re.search(r"http://\S+", server.stdout.readline())
        if said is None:
            sys.exit("the board did not start")
        yield said[0].rstrip("/")
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver:
        unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=found, args=unboxed)
        yield browser
        browser.close()


def _of_board(browser: Browser, url: str, out: Path) -> Iterator[Path]:
    for name, address, screen, colours in SHOTS:
        page = _page(browser, screen, colours)
        page.goto(url + address)
        if address.partition("?")[0] == "/":
            page.wait_for_selector(".next")  # the lights of the stages take the longest
        page.wait_for_timeout(SETTLED_MS)
        yield _picture(page, out / f"{name}.png")
        if name == "board-compare" and page.locator(".pairs tbody a").count():
            page.get_by_text("Wrong before, right now").first.click()
            page.wait_for_timeout(SETTLED_MS)
            page.locator(".pairs tbody a").first.click()
            page.wait_for_selector(".pair")
            yield _picture(page, out / "board-pair.png")
        if name == "board-episodes":
            page.locator(".episodes a").first.click()
            page.wait_for_selector(".dialogue")
            yield _picture(page, out / "board-episode.png")
        page.close()


def _of_pages(browser: Browser, run: Path, out: Path) -> Iterator[Path]:
    for name, file, screen, colours in PAGES:
        if not (run / file).exists():
            continue
        page = _page(browser, screen, colours)
        page.goto((run / file).as_uri())
        yield _picture(page, out / f"{name}.png")
        page.close()


def _page(browser: Browser, screen: ViewportSize, colours: Literal["light", "dark"]) -> Page:
    return browser.new_page(viewport=screen, color_scheme=colours, device_scale_factor=1)


def _picture(page: Page, path: Path) -> Path:
    page.screenshot(path=path)
    return path


if __name__ == "__main__":
    main()
