"""Which files the board may read: those that lie in the run folder, wherever a path or a link says that they lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO


class Outside(Exception):
    """There is no such file in the run folder. Whether there is one elsewhere is nobody's business."""


def inside(root: Path, name: str) -> Path:
    """The real path of a file of the run, for `logs/metrics.jsonl` and the like.

    Links are followed first and judged by where they end. Hidden files (`.env`, `.askgate`) are not part of a run.
    """
    pure = PurePosixPath(name)
    # Said plainly before anything is looked up: an absolute path would take the place of the root.
    odd = not name or "\0" in name or "\\" in name or pure.is_absolute()
    if odd or any(part.startswith(".") for part in pure.parts):
        raise Outside(name)
    base = root.resolve()
    try:
        real = (base / pure).resolve(strict=True)
        hidden = any(part.startswith(".") for part in real.relative_to(base).parts)
    except (OSError, RuntimeError, ValueError):
        raise Outside(name) from None
    if hidden or not real.is_file():
        raise Outside(name)
    return real


def open_inside(root: Path, name: str) -> IO[bytes]:
    """The file, open. A link that somebody puts in its place meanwhile is not followed; a pipe is not waited for."""
    try:
        file = os.open(inside(root, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise Outside(name) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Outside(name)
    return open(file, "rb")


def is_inside(root: Path, name: str) -> bool:
    try:
        inside(root, name)
    except Outside:
        return False
    return True


def only_inside(root: Path, names: Iterable[str]) -> set[str]:
    """Those that lie in it. A file that is no link lies where its folder lies, so every folder is looked up once: a run
    has tens of thousands of files in a few folders."""
    real = os.path.realpath(root)

    @cache
    def as_named(folder: str) -> bool:
        return os.path.realpath(os.path.join(real, folder)) == os.path.join(real, folder)

    return {
        name
        for name in names
        if (as_named(os.path.dirname(name)) and not os.path.islink(os.path.join(real, name))) or is_inside(root, name)
    }
