"""Files that come with the package (templates, configs), found in a checkout and in an installed wheel alike."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
HOME = PACKAGE.parent if PACKAGE.name == "src" else PACKAGE
"""In the checkout `templates/` lies beside `src/`; in a wheel it lies inside the package."""
FOLDERS = ("configs", "models", "templates")
MADE_HERE = (Path("configs/weights.json"),)
"""What a run measures in its own folder. A checkout may hold that of another run, and data and reports besides."""


def shipped(path: Path) -> Path:
    """The user's own file or folder where there is one, else the one of that name that came with the package."""
    if path.exists() or path.is_absolute() or path in MADE_HERE or path.parts[0] not in FOLDERS:
        return path
    ours = HOME / path
    return ours if ours.exists() else path
