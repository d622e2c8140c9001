"""A JSONL file with a line for each step, which reads as if the run had never been broken off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ..core.files import atomic_write
from .disk import told


class _At(msgspec.Struct):
    seed: int
    step: int


class StepLog:
    """Every line has `seed` and `step`; the runs of several seeds share the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, seed: int, step: int, figures: Mapping[str, Any]) -> None:
        """On disk when it returns: a checkpoint of this step must not know more than its log."""
        line = msgspec.json.encode({"seed": seed, "step": step, **figures}) + b"\n"
        with told(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

    def cut(self, seed: int, step: int) -> None:
        """Leaves out what this seed did after that step, and a line that a kill tore in two."""
        if not self.path.exists():
            return
        lines = self.path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if _holds(line, seed, step)]
        if kept != lines:
            with told(self.path), atomic_write(self.path) as file:
                file.writelines(kept)

    def lines(self, seed: int) -> list[dict[str, Any]]:
        """What stands there of this seed."""
        if not self.path.exists():
            return []
        found = [msgspec.json.decode(line) for line in self.path.read_bytes().splitlines()]
        return [line for line in found if line["seed"] == seed]


def _holds(line: bytes, seed: int, step: int) -> bool:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        at = msgspec.json.decode(line, type=_At)
        return line.endswith(b"\n") and (at.seed != seed or at.step <= step)
    return False


def also_reachable(link: Path, target: Path) -> None:
    """A second name for a file, as a relative link, so that the folder can be moved. What else has that name stays."""
    there = os.path.relpath(target, link.parent)
    if link.is_symlink() and os.readlink(link) == there:
        return
    if link.is_symlink() or not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(there)
