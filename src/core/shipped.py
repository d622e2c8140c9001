"""Files that come with the package (templates, configs), found in a checkout and in an installed wheel alike."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
HOME = PACKAGE.parent if PACKAGE.name == "src" else PACKAGE
"""In the checkout `templates/` lies beside `src/`; in a wheel it lies inside the package."""


def shipped(path: Path) -> Path:
    """The user's own file or folder where there is one, else the one of that name that came with the package."""
    if path.exists() or path.is_absolute():
        return path
    ours = HOME / path
    return ours if ours.exists() else path
