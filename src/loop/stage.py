"""Stages of a loop as data, and what of them still holds.

A stage is a command with named inputs and outputs. When it has ended, the record keeps its command and the SHA-256 of
all it read and wrote; as long as those fit, the stage need not be done again. A stage that was begun and not ended
leaves its record without an exit code. It is done again; whatever of it can go on from where it was does so by itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from .. import __version__
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import sha256_file, shipped, write_json
from ..core.types import Record

PASSED, FAILED = 0, 1
"""Exit codes of a stage that came to its end: its gate passed, or it measured that it did not."""


@dataclass(frozen=True)
class Stage:
    """`inputs` and `outputs` are files or folders. A folder counts with all that lies in it."""

    name: str
    title: str
    title_zh: str
    command: tuple[str, ...]
    """What follows `python` on the command line."""
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    grows: tuple[Path, ...] = ()
    """Files that this stage adds to and later ones may add to as well: a ledger. What it wrote must stay."""
    needs: tuple[str, ...] = ()
    """Stages that must have passed; without them this one is not begun."""


class Grown(Record, frozen=True):
    bytes: int
    sha256: str


class Entry(Record, frozen=True):
    """What is on record of a stage."""

    command: list[str]
    version: str
    inputs: dict[str, str | None]
    started: str
    code: int | None = None
    """None: it was begun, and nobody has seen its end."""
    outputs: dict[str, str | None] = msgspec.field(default_factory=dict)
    grown: dict[str, Grown] = msgspec.field(default_factory=dict)
    ended: str = ""


class State:
    """The record of a loop: one entry a stage, on disk whenever it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, Entry] = _read(path)

    def begin(self, stage: Stage) -> None:
        """Puts down that the stage is under way."""
        self._put(stage.name, Entry(list(stage.command), __version__, fingerprints(stage.inputs), now()))

    def end(self, stage: Stage, code: int) -> Entry:
        begun = self.entries[stage.name]
        grown = {str(path): measure(path) for path in stage.grows if path.is_file()}
        ended = msgspec.structs.replace(begun, code=code, outputs=fingerprints(stage.outputs), grown=grown, ended=now())
        self._put(stage.name, ended)
        return ended

    def why_not_valid(self, stage: Stage) -> str:
        """Why the stage must be done (again), in plain words; empty where its result still holds."""
        entry = self.entries.get(stage.name)
        if entry is None:
            return "not done yet"
        if entry.code is None:
            return "it was broken off"
        if entry.code not in (PASSED, FAILED):
            return "it was refused last time"
        if _asked(entry.command) != _asked(stage.command):
            return "its arguments changed"
        if entry.version != __version__:
            return f"it was done by version {entry.version}"
        return _first_change(entry.inputs, stage.inputs) or _first_change(entry.outputs, stage.outputs) or _cut(entry)

    def passed(self, name: str) -> bool:
        entry = self.entries.get(name)
        return entry is not None and entry.code == PASSED

    def lacking(self, stage: Stage, stages: Sequence[Stage]) -> list[str]:
        """The stages that it needs and that have not passed, no longer hold, or lack something themselves."""
        return [name for name in stage.needs if not self._holds(name, stages)]

    def _holds(self, name: str, stages: Sequence[Stage]) -> bool:
        """Of a stage that is not of this loop only the verdict is known."""
        ours = [one for one in stages if one.name == name]
        return self.passed(name) and not any(self.why_not_valid(one) or self.lacking(one, stages) for one in ours)

    def _put(self, name: str, entry: Entry) -> None:
        self.entries = {**self.entries, name: entry}
        write_json(self.path, self.entries)


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file; of a folder, over the names and sums of all files in it. None: there is nothing."""
    found = shipped(path)
    if found.is_dir():
        files = sorted(file for file in found.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        lines = "".join(f"{sha256_file(file)}  {file.relative_to(found).as_posix()}\n" for file in files)
        return hashlib.sha256(lines.encode()).hexdigest()
    return sha256_file(found) if found.is_file() else None


def fingerprints(paths: Sequence[Path]) -> dict[str, str | None]:
    return {str(path): fingerprint(path) for path in paths}


def measure(path: Path) -> Grown:
    return Grown(os.path.getsize(path), sha256_file(path))


def _asked(command: Sequence[str]) -> list[str]:
    """Verb and flags. The package that does it has one name in a checkout and another where it is installed.

    >>> _asked(["-m", "src.cli", "kpi"]) == _asked(["-m", "askgate.cli", "kpi"])
    True
    """
    ours = list(command[:1]) == ["-m"] and command[1].endswith(".cli")
    return list(command[2:] if ours else command)


def _first_change(then: dict[str, str | None], paths: Sequence[Path]) -> str:
    if list(then) != [str(path) for path in paths]:
        return "it reads or writes other files now"
    for path, digest in fingerprints(paths).items():
        if digest != then[path]:
            return f"{path} {'is missing' if digest is None else 'changed'}"
    return ""


def _cut(entry: Entry) -> str:
    """What was added once is still there, byte for byte."""
    for path, grown in entry.grown.items():
        try:
            with open(path, "rb") as file:
                head = file.read(grown.bytes)
        except OSError:
            return f"{path} is missing"
        if len(head) < grown.bytes or hashlib.sha256(head).hexdigest() != grown.sha256:
            return f"{path} changed"
    return ""


def _read(path: Path) -> dict[str, Entry]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Entry])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"cannot be understood ({error})",
            where=str(path),
            remedy="remove it; every stage is then done again, and what a judge was paid for stays in the cache",
        ) from None
