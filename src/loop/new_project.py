"""A new project folder with configs and templates to edit (`askgate init`)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from ..core.errors import BadInput
from ..core.files import HOME
from ..runtime.language import terminal_language

COPIED = (
    "configs/*.yaml",
    "configs/gates/*.yaml",
    "configs/weights_baseline.json",
    "templates/pack_*/*.json",
    "docs/*.md",
)
"""Files that a project edits, and the pages that messages point to. Models are not copied: they are found in the
package, or named in a config."""
IGNORED = ".askgate/\n.venv/\ncheckpoints/\ndata/\nlogs/\nreports/\nruns/\nconfigs/weights.json\n"
READMES = {"en": Path(__file__).with_suffix(".md"), "zh": Path(__file__).with_suffix(".zh.md")}


def make_project(folder: Path) -> list[Path]:
    """Fills a new or empty folder, with all files or none. Returns what was made in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("is not empty, and nothing is overwritten", where=str(folder), remedy="name a new folder")
    exists = folder.is_dir()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder if exists else folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise BadInput(f"cannot write here ({error.strerror})", where=str(folder), remedy="choose another") from None
    try:
        for file in sorted(file for pattern in COPIED for file in HOME.glob(pattern)):
            target = work / file.relative_to(HOME)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        shutil.copyfile(READMES[terminal_language()], work / "README.md")
        (work / ".gitignore").write_text(IGNORED, encoding="utf-8")
        if exists:
            # Keep the folder itself: it may be the working folder of somebody's shell.
            for made in list(work.iterdir()):
                os.replace(made, folder / made.name)
            work.rmdir()
        else:
            work.chmod(0o755)
            os.replace(work, folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return [folder / name for name in ("configs", "templates", "docs", "README.md")]
