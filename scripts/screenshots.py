"""Pictures of the board for `docs/images/`, taken in Chromium from a run folder.

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

ROOT = Path(__file__).resolve().parents[1]
WIDE, NARROW = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
SHOTS = (
    ("board-lights", "/", WIDE, "light"),
    ("board-lights-dark", "/", WIDE, "dark"),
    ("board-narrow", "/", NARROW, "dark"),
    ("board-evidence", "/light?round=1&of=data", WIDE, "light"),
    ("board-episodes", "/episodes?needs=no&asked=yes", WIDE, "light"),
    ("board-episodes-narrow", "/episodes?success=no", NARROW, "light"),
    ("board-compare", "/compare", WIDE, "dark"),
)
SETTLED_MS = 4000
"""What takes time to measure comes by itself after the page; a busy machine takes longer."""


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--run", type=Path, action="append", required=True)
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    given = options.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    given.out.mkdir(parents=True, exist_ok=True)
    with _board(given.run) as url:
        for path in _taken(url, chromium, given.out):
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


def _taken(url: str, chromium: str | None, out: Path) -> Iterator[Path]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=unboxed)
        for name, address, screen, colours in SHOTS:
            page = browser.new_page(viewport=screen, color_scheme=colours, device_scale_factor=1)  # type: ignore[arg-type]
            page.goto(url + address)
            page.wait_for_timeout(SETTLED_MS)
            if name == "board-compare":
                page.screenshot(path=out / f"{name}.png")
                if page.locator(".pairs tbody a").count():
                    page.locator(".pairs tbody a").first.click()
                    page.wait_for_selector(".pair")
                    page.screenshot(path=out / "board-pair.png")
                    yield out / "board-pair.png"
            elif name == "board-episodes":
                page.screenshot(path=out / f"{name}.png")
                page.locator(".episodes a").first.click()
                page.wait_for_selector(".talk")
                page.screenshot(path=out / "board-episode.png")
                yield out / "board-episode.png"
            else:
                page.screenshot(path=out / f"{name}.png")
            yield out / f"{name}.png"
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
