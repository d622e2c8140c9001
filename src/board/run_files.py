"""Files of a project folder: which ones the board may read, and which ones hold episodes.

A *set* of episodes is what one policy did on one set of samples, or what one seed's training saw:

    runs/ID/logs/episodes/[seed_S/]step_00042.jsonl   training; one set per seed
    runs/ID/logs/eval/[seed_S/]step_00042.jsonl       held-out; one set each (step 0: the base), control.jsonl too
    logs/...                                     the same of a package, whose run has no folder of its own
    data/episodes/NAME.jsonl                     recorded for calibration and shadow run
    data/episodes/NAME/seed_S/with.jsonl         the runs of an ablation
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from ..core.paths import LOGS, RUNS, all_runs

SetKind = Literal["training", "held-out", "recorded", "ablation"]
NOT_EPISODES = (".scores.jsonl", ".scored.jsonl", "unstable_samples.jsonl")
_STEP = re.compile(r"step_(\d+)\.jsonl")
_SEED = re.compile(r"seed_(\d+)")


class OutsideRunFolder(Exception):
    """There is no such file in the project folder. The error does not reveal whether the file exists elsewhere."""


def inside(root: Path, name: str) -> Path:
    """The real path of a file of the run, for `logs/metrics.jsonl` and the like.

    Links are followed first and judged by where they end. Hidden files (`.env`, `.askgate`) are not part of a run.
    """
    pure = PurePosixPath(name)
    # Checked before anything is looked up: an absolute path would replace the root.
    malformed = not name or "\0" in name or "\\" in name or pure.is_absolute()
    if malformed or any(part.startswith(".") for part in pure.parts):
        raise OutsideRunFolder(name)
    base = root.resolve()
    try:
        real = (base / pure).resolve(strict=True)
        hidden = any(part.startswith(".") for part in real.relative_to(base).parts)
    except (OSError, RuntimeError, ValueError):
        raise OutsideRunFolder(name) from None
    if hidden or not real.is_file():
        raise OutsideRunFolder(name)
    return real


def open_inside(root: Path, name: str) -> IO[bytes]:
    """The file, open. A link that is put in its place meanwhile is not followed; a pipe is not waited for."""
    try:
        file = os.open(inside(root, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise OutsideRunFolder(name) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OutsideRunFolder(name)
    return open(file, "rb")


def read_inside(root: Path, name: str, start: int = 0, size: int = -1) -> bytes:
    """Bytes of the file from `start` on; none where there is no such file."""
    with suppress(OutsideRunFolder), open_inside(root, name) as handle:
        handle.seek(start)
        return handle.read(size)
    return b""


def read_lines(root: Path, name: str, start: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Number from 0, offset and bytes of each line from offset `start` on; none where there is no such file."""
    with suppress(OutsideRunFolder), open_inside(root, name) as handle:
        handle.seek(start)
        for number, raw in enumerate(handle):
            yield number, start, raw
            start += len(raw)


def is_inside(root: Path, name: str) -> bool:
    """Whether the board may read this file of the run."""
    with suppress(OutsideRunFolder):
        inside(root, name)
        return True
    return False


def only_inside(root: Path, names: Iterable[str]) -> set[str]:
    """The names that are inside the project folder.

    A run has tens of thousands of files in a few folders, so each folder is resolved once: a file that is not a link is
    inside if its folder is.
    """
    real = os.path.realpath(root)

    @cache
    def as_named(folder: str) -> bool:
        return os.path.realpath(os.path.join(real, folder)) == os.path.join(real, folder)

    return {
        name
        for name in names
        if (as_named(os.path.dirname(name)) and not os.path.islink(os.path.join(real, name))) or is_inside(root, name)
    }


def file_stamp(path: Path) -> object:
    """Size, time and inode of a file, or of every file in a folder: differs where one has changed."""
    try:
        if path.is_dir() and not path.is_symlink():
            return tuple((str(one), file_stamp(one)) for one in sorted(path.iterdir()) if one.name != "__pycache__")
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


@dataclass(frozen=True)
class EpisodeFile:
    """A file of episodes, and the set that it belongs to."""

    path: str  # relative to the project folder, with slashes, so that links can be shared
    set: str  # the path of its set: the file itself, or for training its folder
    kind: SetKind
    seed: int | None
    step: int | None
    scores: str = ""  # the file with the judge's scores


def episode_files(root: Path) -> list[EpisodeFile]:
    """Files of episodes in the order of indexing: held-out first, then training by seed and step, then recorded."""
    logs = [run / LOGS for run in (root, *all_runs(root))]
    found = [
        *(one for folder in logs for one in _files_in(root, folder / "eval", "held-out")),
        *(one for folder in logs for one in _files_in(root, folder / "episodes", "training")),
        *_files_in(root, root / "data" / "episodes", "recorded"),
    ]
    allowed = only_inside(root, (one.path for one in found))
    return [one for one in found if one.path in allowed]


def _files_in(root: Path, folder: Path, kind: SetKind) -> Iterator[EpisodeFile]:
    if folder.is_symlink():  # its files are listed in the run folder that it leads to
        return
    for file in sorted(folder.rglob("*.jsonl")):
        path = file.relative_to(root).as_posix()
        found = _STEP.fullmatch(file.name)
        step = int(found[1]) if found else None
        if kind == "held-out":
            yield EpisodeFile(path, path, kind, _seed(path), step)
        elif kind == "training" and found:
            yield EpisodeFile(path, path.rpartition("/")[0], kind, _seed(path), step)
        elif kind == "recorded" and not file.name.endswith(NOT_EPISODES):
            scores = path.removesuffix(".jsonl") + ".scores.jsonl"
            yield EpisodeFile(path, path, kind if file.parent == folder else "ablation", _seed(path), None, scores)


def run_name(path: str) -> str:
    """Name of the run that a file belongs to; empty for files of no run.

    >>> run_name("runs/20260102T030405678Z-0a1b/logs/eval/step_00000.jsonl"), run_name("data/episodes/shadow.jsonl")
    ('20260102T030405678Z-0a1b', '')
    """
    parts = PurePosixPath(path).parts
    return parts[1] if parts[0] == RUNS.name else ""


def _seed(path: str) -> int | None:
    """Seed in the path of a file; None if there is none.

    >>> _seed("logs/eval/seed_7/step_00000.jsonl"), _seed("logs/eval/step_00000.jsonl")
    (7, None)
    """
    found = _SEED.search(path)
    return int(found[1]) if found else None
