"""What the pages are made from: the run folders, their indexes and logs, and what was measured of the first of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import BadInput
from ..loop.kpi import Kpi
from ..loop.lights import Light
from ..loop.stage import Stage, State
from .curves import HELD_OUT, SHOWN, LogTail
from .indexer import Indexer
from .measured import Measured
from .owner import RoundLights, StatSums, round_lights, stamp_of

LOOK = 1.0
"""Seconds between two looks at what may have changed, while somebody watches."""
KPI_EVERY = 10.0
Kpis = Mapping[str, Mapping[str, Kpi]]


@dataclass(frozen=True)
class Loop:
    """The loop of the run folder: its stages, its record, the lights and what to do next."""

    profile: str
    stages: Sequence[Stage]
    state: State
    lights: Sequence[Light]
    next_step: tuple[str, str]
    commands: Mapping[str, str]
    """By stage, as a user would type it."""


class Run:
    """One run folder."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root
        self.indexer = Indexer(root)
        self.metrics = LogTail(root, "logs/metrics.jsonl", list(SHOWN))
        self.held_out = LogTail(root, "logs/eval.jsonl", [HELD_OUT.get(name, name) for name in SHOWN])
        self.index = Measured(self.indexer.catch_up, LOOK)


class Board:
    """`loop` and `kpis` measure the run folder that the process works in, which is the first of `roots`."""

    def __init__(self, roots: Sequence[Path], loop: Callable[[], Loop], kpis: Callable[[], Kpis]) -> None:
        self.runs = {name: Run(name, root) for name, root in named(roots).items()}
        self.names = list(self.runs)
        self._sums = StatSums()
        self.rounds: Measured[list[RoundLights]] = Measured(lambda: round_lights(self._sums), LOOK, _evidence_stamp)
        self.loop = Measured(loop, LOOK, self._loop_stamp)
        self.kpis = Measured(kpis, KPI_EVERY)

    def run(self, name: str) -> Run:
        """The one of that name; without a name the first."""
        return self.runs.get(name) or self.runs[self.names[0]]

    def start(self) -> None:
        """Indexes begin to be made before anybody asks."""
        for run in self.runs.values():
            run.index.get()
        for one in (self.rounds, self.loop, self.kpis):
            one.get()

    def look(self, wait: float) -> None:
        """Sees to it that all is measured, and gives the first time so many seconds in all."""
        end = time.monotonic() + wait
        for one in (self.rounds, self.loop, self.kpis):
            one.get()
        for one in (self.rounds, self.loop, self.kpis):
            one.get(max(0.0, end - time.monotonic()))

    def close(self) -> None:
        for run in self.runs.values():
            run.indexer.close()

    def _loop_stamp(self) -> object:
        """Everything that the stages read and write, once they are known."""
        before = self.loop.value
        if before is None:
            return threading.get_ident()
        paths = {path for stage in before.stages for path in (*stage.inputs, *stage.outputs, *stage.grows)}
        return tuple((str(path), stamp_of(path)) for path in sorted({*paths, before.state.path}))


def named(roots: Sequence[Path]) -> dict[str, Path]:
    """Runs by the names of their folders; of two with one name the second gets a number."""
    found: dict[str, Path] = {}
    for root in roots:
        if not root.is_dir():
            raise BadInput("no such folder", where=f"--run {root}", remedy="name the folder that a run was made in")
        real = root.resolve()
        name, number = real.name or "run", 2
        while name in found:
            name, number = f"{real.name}-{number}", number + 1
        if real in found.values():
            raise BadInput("stands twice", where=f"--run {root}", remedy="name every run folder once")
        found[name] = real
    return found


def _evidence_stamp() -> object:
    """Whatever a round's report was measured on lies in these folders."""
    return tuple(stamp_of(Path(name)) for name in ("reports", "data", "configs", "templates"))
