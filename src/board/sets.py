"""Where a run folder keeps episodes, and which of them belong together: a *set* is what one policy did on one set of
samples, or what one seed's training saw.

    logs/episodes/[seed_S/]step_00042.jsonl      training; one set a seed
    logs/eval/[seed_S/]step_00042.jsonl          held-out samples; a set each (step 0: the base), control.jsonl too
    logs/before_TIME/...                         the same of a run before this one
    data/episodes/NAME.jsonl                     recorded for calibration and shadow run
    data/episodes/NAME/seed_S/with.jsonl         the arms of an ablation
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .where import only_inside

Kind = Literal["training", "held-out", "recorded", "ablation"]
KINDS: dict[Kind, str] = {"training": "训练", "held-out": "留出评测", "recorded": "录制", "ablation": "消融"}
NOT_EPISODES = (".scores.jsonl", ".scored.jsonl", "unstable_samples.jsonl")
_STEP = re.compile(r"step_(\d+)\.jsonl")
_SEED = re.compile(r"seed_(\d+)")


@dataclass(frozen=True)
class EpisodeFile:
    path: str
    """From the run folder, with slashes; links can be shared."""
    set: str
    """The path of its set: the file itself, or for training its folder."""
    kind: Kind
    seed: int | None
    step: int | None
    beside: str = ""
    """A file with the judge's scores."""


def episode_files(root: Path) -> list[EpisodeFile]:
    """In the order of reading: newest kind of evidence first, training by seed and step."""
    logs = [root / "logs", *sorted(root.glob("logs/before_*"), reverse=True)]
    found = [
        *(one for folder in logs for one in _held_out(root, folder / "eval")),
        *(one for folder in logs for one in _training(root, folder / "episodes")),
        *_recorded(root),
    ]
    ours = only_inside(root, (one.path for one in found))
    return [one for one in found if one.path in ours]


def _training(root: Path, folder: Path) -> Iterator[EpisodeFile]:
    for file in sorted(folder.rglob("step_*.jsonl")):
        if step := _STEP.fullmatch(file.name):
            path = _name(root, file)
            yield EpisodeFile(path, path.rpartition("/")[0], "training", _seed(path), int(step[1]))


def _held_out(root: Path, folder: Path) -> Iterator[EpisodeFile]:
    for file in sorted(folder.rglob("*.jsonl")):
        step = _STEP.fullmatch(file.name)
        path = _name(root, file)
        yield EpisodeFile(path, path, "held-out", _seed(path), int(step[1]) if step else None)


def _recorded(root: Path) -> Iterator[EpisodeFile]:
    folder = root / "data" / "episodes"
    for file in sorted(folder.rglob("*.jsonl")):
        if file.name.endswith(NOT_EPISODES):
            continue
        path = _name(root, file)
        kind: Kind = "recorded" if file.parent == folder else "ablation"
        yield EpisodeFile(path, path, kind, _seed(path), None, path.removesuffix(".jsonl") + ".scores.jsonl")


def _name(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix()


def _seed(path: str) -> int | None:
    """
    >>> _seed("logs/eval/seed_7/step_00000.jsonl"), _seed("logs/eval/step_00000.jsonl")
    (7, None)
    """
    found = _SEED.search(path)
    return int(found[1]) if found else None
