"""What lies in a folder of checkpoints, looked at without opening it as a run would: nothing is moved or swept."""

from __future__ import annotations

from pathlib import Path

from src.checkpoint.folder import Shelf
from src.checkpoint.lookup import Found, or_refuse, search


def newest_in(root: Path, mirror: Path | None = None) -> Found:
    """The newest whole one; a copy in the mirror stands in for one that is damaged."""
    return or_refuse(*search([Shelf(folder) for folder in (root, mirror) if folder]), root)


def damaged_in(root: Path) -> list[str]:
    """Those before it in the order of the search: path, file and what is wrong with it."""
    _, damaged = search([Shelf(root)])
    return [one.what for one in damaged]
