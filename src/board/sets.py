"""Sets of episodes to choose from: their labels, the seeds of a run pooled, and the latest held-out evaluation.

A path with `seed_*` names the sets of all seeds together, which is what the reports give their figures for.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from ..pages.render import plain
from .run_files import SetKind, run_name

SET_KINDS: dict[SetKind, str] = {"training": "训练", "held-out": "留出评测", "recorded": "对话记录", "ablation": "消融"}
ALL_SEEDS = "seed_*"
_SEED_FOLDER = re.compile(r"seed_\d+")
_SETS = (
    "SELECT set_path, min(kind) AS kind, min(seed) AS seed, min(step) AS low, max(step) AS high, "
    "sum(episodes) AS n FROM files GROUP BY set_path ORDER BY min(id)"
)


@dataclass(frozen=True)
class EpisodeSet:
    """Episodes of one policy on one set of samples: of one seed, or of all seeds of a run."""

    path: str
    kind: SetKind
    seeds: tuple[int, ...]
    first_step: int | None
    last_step: int | None
    n: int

    @property
    def run(self) -> str:
        return run_name(self.path)

    @property
    def label(self) -> str:
        parts = [plain(self.kind, SET_KINDS[self.kind])]
        if len(self.seeds) > 1:
            parts.append(plain(f"all {len(self.seeds)} seeds", f"全部 {len(self.seeds)} 个种子"))
        elif self.seeds:
            parts.append(plain(f"seed {self.seeds[0]}", f"种子 {self.seeds[0]}"))
        if self.kind == "training":
            parts.append(
                plain(f"steps {self.first_step}–{self.last_step}", f"第 {self.first_step}–{self.last_step} 步")
            )
        elif self.last_step is not None:
            step = plain(f"step {self.last_step}", f"第 {self.last_step} 步")
            parts.append(step if self.last_step else plain("step 0, base", "第 0 步（底模）"))
        else:
            path = Path(self.path)
            parts.append(path.stem if self.kind != "ablation" else "/".join(path.parts[2:]).removesuffix(".jsonl"))
        return ", ".join([*parts, *([self.run] if self.run else [])]) + f" ({self.n:,})"


def pooled(path: str) -> str:
    """The path of the set that pools all seeds.

    >>> pooled("logs/eval/seed_17/step_00030.jsonl")
    'logs/eval/seed_*/step_00030.jsonl'
    """
    return _SEED_FOLDER.sub(ALL_SEEDS, path)


def list_sets(store: sqlite3.Connection) -> list[EpisodeSet]:
    """All sets in the order of indexing; held-out evaluations of several seeds also pooled, before the single ones."""
    made: list[EpisodeSet] = []
    together: dict[str, list[EpisodeSet]] = {}
    for row in store.execute(_SETS):
        seeds: tuple[int, ...] = () if row["seed"] is None else (row["seed"],)
        one = EpisodeSet(row["set_path"], row["kind"], seeds, row["low"], row["high"], row["n"])
        made.append(one)
        if one.kind == "held-out" and one.seeds:
            together.setdefault(pooled(one.path), []).append(one)
    for path, parts in together.items():
        if len(parts) > 1:
            seeds = tuple(sorted(seed for one in parts for seed in one.seeds))
            whole = replace(parts[0], path=path, seeds=seeds, n=sum(one.n for one in parts))
            made.insert(made.index(parts[0]), whole)
    return made


def set_paths(store: sqlite3.Connection, path: str) -> list[str]:
    """Paths of the single sets that a path names."""
    if ALL_SEEDS not in path:
        return [path]
    return [row[0] for row in store.execute("SELECT DISTINCT set_path FROM files") if pooled(row[0]) == path]


def in_sets(paths: Sequence[str]) -> str:
    """The SQL condition whose values are these paths."""
    return f"set_path IN ({','.join('?' * len(paths))})"


def latest_evaluation(sets: Sequence[EpisodeSet]) -> tuple[str, str] | None:
    """Base and last step of the newest run with held-out episodes, of all its seeds where it has several."""
    steps = [one for one in sets if one.kind == "held-out" and one.last_step is not None]
    if not steps:
        return None
    # Runs are indexed newest first, and a pooled set comes before those of its seeds.
    newest = [one for one in steps if one.run == steps[0].run]
    of_seeds = [one for one in newest if one.seeds == newest[0].seeds]
    step = attrgetter("last_step")
    return min(of_seeds, key=step).path, max(of_seeds, key=step).path
