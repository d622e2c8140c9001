"""`docs/seeds.md` names files and tests that exist: a promise that nothing holds would be found here."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/seeds.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| document"))
]
FOLDERS = ("src/", "tests/", "scripts/", "ops/", "configs/", "templates/", "train/", "docs/")


def named(cell: str) -> list[str]:
    return [name for name in re.findall(r"`([^`]+)`", cell) if name.startswith(FOLDERS) and "*" not in name]


def test_every_row_says_where_it_lives_and_what_holds_it() -> None:
    assert len(ROWS) > 60
    for document, what, here, held in ROWS:
        assert re.match(r"00[0-4]", document), what
        assert here, what
        assert named(held), what


def test_every_place_and_every_test_is_there() -> None:
    for _, _, here, held in ROWS:
        for name in (*named(here), *named(held)):
            path, _, test = name.partition("::")
            assert (ROOT / path).exists(), name
            assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), name
