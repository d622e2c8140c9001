"""The project folders that the board shows: their indexes and logs, and measurements of the first of them.

What takes time is measured in threads beside the requests, and only when something has changed.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from ..config.profile import load_profile
from ..core.errors import BadInput
from ..core.jsonl import decode_or_none
from ..core.paths import EVAL_METRICS, HERE, LATEST_RUN, METRICS, all_runs, certified_run, evaluations, run_of
from ..eval.compare import Change
from ..eval.trial import TrialReport
from ..gates.ambers import sign_offs
from ..gates.gate import PREFLIGHT
from ..gates.manifest import newest_evaluation
from ..loop.kpi import measure
from ..loop.lights import Light
from ..loop.profile_loop import ProfileLoop, last_run, open_loop
from ..pages.rc1_report import read_trial
from ..pages.render import LABELS
from ..pages.results import Points
from .index import Indexer
from .owner_lights import CachedFingerprints, RoundLights, round_lights
from .run_files import OutsideRunFolder, file_stamp, open_inside

EVERY = 1.0  # seconds between two checks for changes, while somebody watches
KPIS_EVERY = 10.0
REST = 10  # pause after a measurement, in multiples of its duration, so that an open board does not slow a run down
HELD_OUT = {"turns": "avg_turns"}  # figures of training that have another name in held-out evaluations
MAX_POINTS = 300  # points of a curve; more cannot be distinguished in a picture
EVIDENCE = ("reports", "data", "configs", "templates")  # folders with all files that a round measures
T = TypeVar("T")


class Curves:
    """Figures of a training run: of every step, and of every evaluation on held-out samples. `folder`: of the run."""

    def __init__(self, root: Path, folder: Path) -> None:
        figures = list(LABELS["curves"])
        self.metrics = LogTail(root, (folder / METRICS).as_posix(), figures)
        self.held_out = LogTail(root, (folder / EVAL_METRICS).as_posix(), [HELD_OUT.get(one, one) for one in figures])


class Run:
    """One project folder."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root
        self.indexer = Indexer(root)
        self.index = Measured(self.indexer.update, EVERY)
        self._curves: dict[Path, Curves] = {}

    def curves(self) -> dict[str, Curves]:
        """Curves by id of the training run: the run that reports are about, and the newest where that is another."""
        runs = [HERE]
        with suppress(BadInput):
            runs = list(dict.fromkeys((certified_run(), run_of(LATEST_RUN))))
        for run in runs:
            self._curves.setdefault(run, Curves(self.root, run))
        return {run.name: self._curves[run] for run in runs}


class Board:
    """All project folders. Rounds, loop and KPIs are those of the first, which must be the current folder."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.runs = {name: Run(name, root) for name, root in _named(roots).items()}
        self.names = list(self.runs)
        fingerprints = CachedFingerprints()
        self.rounds: Measured[list[RoundLights]] = Measured(
            lambda: round_lights(fingerprints), EVERY, lambda: [file_stamp(Path(name)) for name in EVIDENCE]
        )
        self.loop = Measured(_measure_loop, EVERY, self._loop_stamp)
        self.kpis = Measured(lambda: measure(load_profile(last_run()), newest_evaluation()), KPIS_EVERY)
        self.result = Measured(_measure_result, EVERY, _evaluation_stamp)
        """The report of the evaluation that counts, None before the first one, and who signed off its ambers."""
        self.thresholds = Measured(lambda: load_profile(last_run()).thresholds, KPIS_EVERY)
        self.changes: dict[tuple[str, str], Measured[dict[str, Change]]] = {}
        """Comparisons of two sets that somebody has opened."""

    def run(self, name: str) -> Run:
        """The run of that name, else the first."""
        return self.runs.get(name) or self.runs[self.names[0]]

    def start(self) -> None:
        """Begin to index and to measure before the first request."""
        for run in self.runs.values():
            run.index.get()
        self.refresh(0.0)

    def refresh(self, wait: float) -> None:
        """Measures again what has changed. `wait`: seconds for all measurements together.

        It waits for the KPIs only the first time: they are measured at fixed intervals, and their table shows the time.
        """
        measured: tuple[Measured[Any], ...] = (self.result, self.rounds, self.loop, self.kpis)
        for one in measured:
            one.get()
        end = time.monotonic() + wait
        for one in measured if self.kpis.value is None else measured[:-1]:
            one.get(max(0.0, end - time.monotonic()))

    def close(self) -> None:
        for run in self.runs.values():
            run.indexer.close()

    def _loop_stamp(self) -> object:
        """Stamps of everything that the stages read and write, once they are known, and of the sign-offs."""
        if self.loop.value is None:
            return object()
        loop, _ = self.loop.value
        paths = {path for stage in loop.stages for path in (*stage.inputs, *stage.outputs, *stage.appends)}
        return tuple((str(path), file_stamp(path)) for path in sorted({*paths, loop.state.path, PREFLIGHT}))


def _measure_result() -> tuple[TrialReport | None, dict[str, str]]:
    trial = read_trial(newest_evaluation())
    return trial, sign_offs(load_profile(last_run())) if trial and trial.ambers else {}


def _evaluation_stamp() -> object:
    """Stamps of the reports and of the sign-offs."""
    reports = [path for run in (HERE, *all_runs()) for path in evaluations(run)]
    return [(str(path), file_stamp(path)) for path in (*reports, PREFLIGHT)]


def _measure_loop() -> tuple[ProfileLoop, list[Light]]:
    """The loop that was run last in the first project folder, and its lights."""
    loop = open_loop()
    return loop, loop.lights()


def _named(roots: Sequence[Path]) -> dict[str, Path]:
    """Runs by the names of their folders; of two with the same name the second gets a number."""
    runs: dict[str, Path] = {}
    for root in roots:
        if not root.is_dir():
            raise BadInput("no such folder", where=f"--run {root}", remedy="name the folder of a run")
        real = root.resolve()
        name, number = real.name or "run", 2
        while name in runs:
            name, number = f"{real.name}-{number}", number + 1
        if real in runs.values():
            raise BadInput("is given twice", where=f"--run {root}", remedy="name every project folder once")
        runs[name] = real
    return runs


class Measured(Generic[T]):
    """A value that a thread measures again when it is due.

    `get()` returns the last value at once; `get(wait)` returns the new one if it is measured in time. It is due every
    `every` seconds. `stamp` is a cheap test: while its result is the same, the value is not measured again.
    """

    def __init__(self, take: Callable[[], T], every: float, stamp: Callable[[], object] | None = None) -> None:
        self._take, self._every, self._stamp = take, every, stamp
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._measured = self._busy = False
        self._ended = self._next = -math.inf
        self._known: object = None
        self.value: T | None = None
        self.error = ""
        self.at = 0.0  # time of the last measurement, as of `time.time`

    def get(self, wait: float = 0.0) -> T | None:
        """The value. `wait`: seconds to wait for a measurement that is due or running; the pause after the last
        measurement (`REST`) is then skipped."""
        with self._lock:
            due = not self._busy and time.monotonic() >= (self._ended + self._every if wait else self._next)
            if due:
                self._busy = True
                self._idle.clear()
        if due:
            threading.Thread(target=self._measure, daemon=True).start()
        if wait:
            self._idle.wait(wait)
        return self.value

    def _measure(self) -> None:
        started = time.monotonic()
        try:
            stamp = self._stamp() if self._stamp else object()
            if stamp != self._known or not self._measured:
                self._keep(self._take(), "")
                self._known = stamp
        except (BadInput, OSError) as error:
            self._keep(None, str(error))
        finally:
            with self._lock:
                self._ended = time.monotonic()
                self._next = self._ended + max(self._every, REST * (self._ended - started))
                self._measured, self._busy = True, False
                self._idle.set()

    def _keep(self, value: T | None, error: str) -> None:
        if error:
            self._known = None
        self.value, self.error = value, error
        self.at = time.time()


class LogTail:
    """Curves by seed from a growing JSONL file. Only what was appended is read."""

    def __init__(self, root: Path, name: str, names: Sequence[str]) -> None:
        self.root, self.name, self.names = root, name, names
        fields: list[tuple[str, Any, Any]] = [(one, float | None, None) for one in names]
        self._line = msgspec.json.Decoder(msgspec.defstruct("Line", [("seed", Any), ("step", int), *fields]))
        self._lock = threading.Lock()
        self._reset(None)

    def _reset(self, file: int | None) -> None:
        self._file, self._read = file, 0
        self.seeds: dict[Any, dict[str, list[tuple[float, float]]]] = {}
        self.last: dict[Any, int] = {}

    def read_new(self) -> None:
        """Read new lines. A file that was replaced, or cut by a resumed run, is reread."""
        with self._lock:
            try:
                handle = open_inside(self.root, self.name)
            except OutsideRunFolder:
                self._reset(None)
                return
            with handle:
                found = os.fstat(handle.fileno())
                if found.st_ino != self._file or found.st_size < self._read:
                    self._reset(found.st_ino)
                handle.seek(self._read)
                for raw in handle:
                    if not raw.endswith(b"\n"):
                        break  # still being written
                    self._read += len(raw)
                    self._take(raw)

    def _take(self, raw: bytes) -> None:
        decoded = decode_or_none(self._line, raw)
        if decoded is None:
            return
        line = msgspec.structs.asdict(decoded)
        seed, step = line["seed"], line["step"]
        self.last[seed] = max(step, self.last.get(seed, 0))
        curves = self.seeds.setdefault(seed, {})
        for name in self.names:
            if line[name] is not None:
                curves.setdefault(name, []).append((float(step), line[name]))

    def series(self, name: str) -> list[Points]:
        return [thinned(curves.get(name, [])) for curves in list(self.seeds.values())]


def thinned(points: Sequence[tuple[float, float]], most: int = MAX_POINTS) -> Points:
    """Means of neighbours, so that at most about `most` points are left; the last one stays as it is.

    >>> thinned([(1, 1.0), (2, 3.0), (3, 5.0), (4, 7.0), (5, 0.0)], most=3)
    [(1.5, 2.0), (3.5, 6.0), (5, 0.0)]
    """
    if len(points) <= most:
        return list(points)
    means = (part.mean(axis=0) for part in np.array_split(np.array(points[:-1]), most - 1))
    return [*((float(x), float(y)) for x, y in means), points[-1]]
