"""`docs/internal/seeds.md` is complete and correct: every named file and test exists, and no requirement is missing."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted((ROOT.parent / "shared/seeds").glob("*.txt"))
TEXT = (ROOT / "docs/internal/seeds.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in TEXT.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| document"))
]
TREE = ("src", "packages", "tests", "scripts", "ops", "configs", "templates", "train", "docs", "notebooks")
MADE = {"configs/weights.json"}
"""In a folder of the tree, but made by a run."""
WRITTEN = "|".join((*TREE, "data", "reports", "logs", "checkpoints"))


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def of_the_tree(cell: str) -> Iterator[str]:
    """Quoted paths that are in a folder of the checkout, with braces and stars expanded."""
    for name in quoted(cell):
        if re.fullmatch(rf"(?:{'|'.join(TREE)})(?:/[\w.{{}},*:-]+)*/?", name):
            before, braces, after = re.fullmatch(r"([^{]*)(?:\{([^}]*)\})?(.*)", name).groups()  # type: ignore[union-attr]
            yield from (f"{before}{part}{after}" for part in (braces or "").split(","))


def test_every_row_names_its_code_and_its_test() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        document, what, here, held = row
        assert re.match(r"00[0-4]", document), row
        assert what, row
        assert quoted(here), row
        assert quoted(held), row
        assert all(re.fullmatch(r"tests/[\w/]+\.py::test_\w+", name) for name in quoted(held)), row


def test_every_named_place_and_test_exists() -> None:
    for _, _, here, held in ROWS:
        for name in (*of_the_tree(here), *quoted(held)):
            path, _, test = name.partition("::")
            assert (ROOT / path).exists(), name
            assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), name


def test_every_path_of_the_documents_exists() -> None:
    named = {name for _, what, _, _ in ROWS for name in of_the_tree(what)}
    assert {"src/utils", "src/data/collate", "src/callbacks/eval_shadow.py", "scripts/validate_difficulty.py"} <= named
    for name in named - MADE:
        assert list(ROOT.glob(name)), name


def test_every_departure_is_marked_in_a_row_and_explained() -> None:
    rows, departures = TEXT.split("## Departures")
    assert rows.count("**≠") > 10
    assert all(line.startswith(("- **≠ ", "  ")) for line in departures.strip().splitlines())


@pytest.mark.parametrize("document", DOCUMENTS or [None], ids=lambda one: one.name[:3] if one else "none")
def test_every_name_in_the_documents_is_listed(document: Path | None) -> None:
    """Checks all paths, flags and variables in the owner's documents."""
    if document is None:
        pytest.skip("the founding documents are not beside this checkout (../shared/seeds)")
    text = document.read_text(encoding="utf-8").replace("\\", "")
    ours = TEXT.replace("\\", "")
    flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))
    variables = set(re.findall(r"\b(?:RUN|BASE|REWARD|SCORER)_[A-Z_]+\b", text))
    paths = {
        path.rstrip("./,") for path in re.findall(rf"(?<![\w/.])(?:{WRITTEN})/[\w./*{{}},-]+", text, flags=re.ASCII)
    }
    assert len(flags) + len(variables) + len(paths) > 10
    known = {path for cell in (row[1] for row in ROWS) for path in _spelled(cell)}
    assert {flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", ours)} == set()
    assert {name for name in variables if name not in ours} == set()
    assert {path for one in paths for path in _alternatives(one) if not _is_known(path, known)} == set()


def _is_known(path: str, known: set[str]) -> bool:
    """A star matches anything, and so does a shell variable or `<ts>` after an underscore."""
    return path in known or bool(fnmatch.filter(known, f"{path}*" if path.endswith("_") else path))


def _spelled(cell: str) -> Iterator[str]:
    """Every path in a cell, alone or inside a command."""
    for name in quoted(cell):
        for path in re.findall(rf"(?:{WRITTEN})(?:/[\w./*{{}},<>-]+)?", name):
            yield from _alternatives(path)


def _alternatives(path: str) -> Iterator[str]:
    """Expands braces: `a/{b,c}.py` gives two paths. `...` is dropped; a folder may end in a slash."""
    before, braces, after = re.fullmatch(r"([^{]*)(?:\{([^}]*)\})?(.*)", path).groups()  # type: ignore[union-attr]
    for part in (braces or "").split(","):
        if part != "...":
            yield f"{before}{part}{after}".replace("step_xxx", "step_XXXXX").rstrip("./,")
