"""Curves of a run that may still go on: what was added to its logs since the last look is read, and no more."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..pages.curves import Points
from ..pages.results import CURVES
from .where import Outside, open_inside

SHOWN: dict[str, tuple[str, str, bool]] = {
    **CURVES,
    "need_ask_success": ("Need-ask success", "需问类成功率", True),
    "turns": ("Mean turns", "平均轮次", False),
}
HELD_OUT = {"turns": "avg_turns"}
"""Held-out evaluations call it so."""
MOST_POINTS = 300
"""Of one line: more cannot be told apart in a picture."""


class LogTail:
    """The lines of a growing JSONL file, by seed: of every line the step and the figures that are shown."""

    def __init__(self, root: Path, name: str, names: Sequence[str]) -> None:
        self.root, self.name, self.names = root, name, names
        fields: list[tuple[str, Any, Any]] = [(one, float | None, None) for one in names]
        self._line = msgspec.json.Decoder(msgspec.defstruct("Line", [("seed", Any), ("step", int), *fields]))
        self._alone = threading.Lock()
        self._reset(None)

    def _reset(self, file: int | None) -> None:
        self._file, self._read = file, 0
        self.seeds: dict[Any, dict[str, list[tuple[float, float]]]] = {}
        self.last: dict[Any, int] = {}

    def look(self) -> bool:
        """True where something is new. A file that was replaced, or cut for a resumed run, is read anew."""
        with self._alone:
            try:
                handle = open_inside(self.root, self.name)
            except Outside:
                changed = self._file is not None
                self._reset(None)
                return changed
            with handle:
                found = os.fstat(handle.fileno())
                if found.st_ino != self._file or found.st_size < self._read:
                    self._reset(found.st_ino)
                handle.seek(self._read)
                before = self._read
                for raw in handle:
                    if not raw.endswith(b"\n"):
                        break  # being written
                    self._read += len(raw)
                    self._take(raw)
                return self._read != before

    def _take(self, raw: bytes) -> None:
        try:
            line = msgspec.structs.asdict(self._line.decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        seed, step = line["seed"], line["step"]
        self.last[seed] = max(step, self.last.get(seed, 0))
        curves = self.seeds.setdefault(seed, {})
        for name in self.names:
            if line[name] is not None:
                curves.setdefault(name, []).append((float(step), line[name]))

    def series(self, name: str) -> list[Points]:
        return [thinned(curves.get(name, [])) for curves in list(self.seeds.values())]


def thinned(points: Points, most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """Means of neighbours, so that no more than `most` points are left; the last one stays as it is.

    >>> thinned([(1, 1.0), (2, 3.0), (3, 5.0), (4, 7.0), (5, 0.0)], most=3)
    [(1.5, 2.0), (3.5, 6.0), (5, 0.0)]
    """
    if len(points) <= most:
        return list(points)
    size = -(-(len(points) - 1) // (most - 1))
    parts = [points[start : start + size] for start in range(0, len(points) - 1, size)]
    parts[-1] = parts[-1][:-1] if parts[-1][-1] == points[-1] and len(parts[-1]) > 1 else parts[-1]
    means = [(sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)) for part in parts]
    return [*means, points[-1]]
