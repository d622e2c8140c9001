"""Where the time and the memory of a step went.

Names that begin with `time/` or `memory/` tell of the machine, not of the run: two runs with the same bits differ in
them. `same_run` leaves them out.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch

MACHINE = ("time/", "memory/")
MB = 2**20


def same_run(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that must be equal, bit by bit, in a run and in its repetition."""
    return {name: value for name, value in metrics.items() if not name.startswith(MACHINE)}


class Clock:
    """Seconds by part of a step. A GPU works behind the program's back: it is waited for at the end of each part."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: dict[str, float] = {}
        self._began = self._now()
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = self._now()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + self._now() - began

    def figures(self) -> dict[str, float]:
        """`time/PART` and `time/step` in seconds; `memory/peak_mb`: of this step on a GPU, of the process on a CPU."""
        parts = {f"time/{name}": seconds for name, seconds in self.seconds.items()}
        return {**parts, "time/step": self._now() - self._began, "memory/peak_mb": self._peak() / MB}

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
        return time.perf_counter()

    def _peak(self) -> float:
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
