"""A stage of the loop, and the record that says whether its result is still valid.

A stage is a command with named inputs and outputs. When it ends, the record keeps its command and the SHA-256 of all
files it read and wrote; the stage is repeated only if one of those changes. A stage that was started and did not end
has a record without an exit code. It is run again, and resumes by itself if its command can.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from askgate_env.types import Record

from .. import __version__
from ..checkpoint.seal import FileEntry
from ..core.check import now
from ..core.files import code_sha256, fingerprint, package_yaml, read_record, sha256_file, shipped, write_json

PASSED, FAILED = 0, 1  # exit codes of a stage that ended: its gate passed, or its gate failed


@dataclass(frozen=True)
class Stage:
    """A command with the files or folders it reads and writes. A folder stands for all files in it."""

    name: str
    title: str
    title_zh: str
    command: tuple[str, ...]  # arguments of `python`
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    appends: tuple[Path, ...] = ()
    """Files that this stage and later ones append to, such as a ledger. What it wrote must not change."""
    needs: tuple[str, ...] = ()  # names of stages that must have passed before this one is started
    after_all: bool = False  # starts only when all stages before it have ended
    number: tuple[Path, str] | None = None
    """A JSON file, or a JSONL file of which the last line counts, and the format of its figure that is shown."""
    seconds: float | None = None  # typical duration, for the time left. None: not known

    def waits_for(self, earlier: Stage) -> bool:
        """Whether an earlier stage must have ended first: this one needs it, or uses a file that it makes."""
        used = {*self.inputs, *self.outputs, *self.appends}
        made = (*earlier.outputs, *earlier.appends)
        return self.after_all or earlier.name in self.needs or not used.isdisjoint(made)


class StageRecord(Record, frozen=True):
    """The last run of a stage."""

    command: list[str]
    version: str
    inputs: dict[str, str | None]
    started: str
    code: int | None = None  # None: it was started and did not end
    outputs: dict[str, str | None] = msgspec.field(default_factory=dict)
    grown: dict[str, FileEntry] = msgspec.field(default_factory=dict)
    """Files that later stages append to, as they were when the stage ended."""
    ended: str = ""
    askgate: str = ""  # SHA-256 of the code that ran it


class State:
    """Records of all stages of a loop, by name. `begin` and `end` write them to disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        remedy = "remove it; every stage is then run again, and replies of the judge stay in the cache"
        read = read_record(path, dict[str, StageRecord], remedy, "cannot be read") if path.exists() else {}
        self.entries: dict[str, StageRecord] = read

    def begin(self, stage: Stage) -> None:
        self._put(stage.name, _begun(stage, now()))

    def end(self, stage: Stage, code: int) -> None:
        self._put(stage.name, _ended(stage, self.entries[stage.name], code, now()))

    def count(self, stage: Stage, code: int, started: str, ended: str) -> None:
        """Adds the record of a stage that was run by hand on the present files. Written with the next change."""
        self.entries = {**self.entries, stage.name: _ended(stage, _begun(stage, started), code, ended)}

    def why_not_valid(self, stage: Stage) -> str:
        """Why the stage must be run (again), in plain words. Empty: its result is valid."""
        entry = self.entries.get(stage.name)
        if entry is None:
            return "not done yet"
        if entry.code is None:
            return "it was interrupted"
        if entry.code not in (PASSED, FAILED):
            return "it was refused last time"
        if _verb_and_flags(entry.command) != _verb_and_flags(stage.command):
            return "its arguments changed"
        if entry.version != __version__:
            return f"it was run by version {entry.version}"
        if entry.code == FAILED and entry.askgate != code_sha256():
            return "it failed, and AskGate's code has changed since"
        return (
            _first_change(entry.inputs, stage.inputs)
            or _first_change(entry.outputs, stage.outputs)
            or _changed_append(entry)
        )

    def passed(self, name: str) -> bool:
        entry = self.entries.get(name)
        return entry is not None and entry.code == PASSED

    def lacking(self, stage: Stage, stages: Sequence[Stage]) -> list[str]:
        """Needed stages that have not passed, are no longer valid, or lack a needed stage themselves."""
        return [name for name in stage.needs if not self._is_valid(name, stages)]

    def _is_valid(self, name: str, stages: Sequence[Stage]) -> bool:
        """Whether a stage passed and is valid. For a stage outside this loop only its exit code is known."""
        ours = [one for one in stages if one.name == name]
        return self.passed(name) and not any(self.why_not_valid(one) or self.lacking(one, stages) for one in ours)

    def _put(self, name: str, entry: StageRecord) -> None:
        self.entries = {**self.entries, name: entry}
        write_json(self.path, self.entries)


def _begun(stage: Stage, at: str) -> StageRecord:
    return StageRecord(list(stage.command), __version__, fingerprints(stage.inputs), at, askgate=code_sha256())


def _ended(stage: Stage, begun: StageRecord, code: int, at: str) -> StageRecord:
    grown = {str(path): FileEntry(path.stat().st_size, sha256_file(path)) for path in stage.appends if path.is_file()}
    return msgspec.structs.replace(begun, code=code, outputs=fingerprints(stage.outputs), grown=grown, ended=at)


def fingerprints(paths: Sequence[Path]) -> dict[str, str | None]:
    """SHA-256 of each file or folder; None where there is none."""
    return {str(path): fingerprint(path) if shipped(path).exists() else None for path in paths}


def _verb_and_flags(command: Sequence[str]) -> list[str]:
    """Command and flags, without the name of the package: it is `src` in a checkout and `askgate` when installed.

    >>> _verb_and_flags(["-m", "src.cli", "kpi"]) == _verb_and_flags(["-m", "askgate.cli", "kpi"])
    True
    """
    ours = list(command[:1]) == ["-m"] and command[1].endswith(".cli")
    return list(command[2:] if ours else command)


@cache
def _chinese_texts() -> list[tuple[str, str]]:
    return list(package_yaml(str(Path(__file__).with_name("why_zh.yaml"))))


def in_chinese(why: str) -> str:
    """A reason of `State` or of a light in Chinese.

    >>> in_chinese("data/pool.jsonl changed")
    'data/pool.jsonl 已变'
    """
    found = ((re.fullmatch(pattern, why), chinese) for pattern, chinese in _chinese_texts())
    return next((match.expand(chinese) for match, chinese in found if match), why)


def _first_change(then: dict[str, str | None], paths: Sequence[Path]) -> str:
    """Names the first file that differs from the record `then`; empty if none does."""
    if list(then) != [str(path) for path in paths]:
        return "it reads or writes other files now"
    for path, digest in fingerprints(paths).items():
        if digest != then[path]:
            return f"{path} {'is missing' if digest is None else 'changed'}"
    return ""


def _changed_append(entry: StageRecord) -> str:
    """Names the first appended file whose earlier bytes changed."""
    for path, grown in entry.grown.items():
        try:
            with open(path, "rb") as file:
                head = file.read(grown.bytes)
        except OSError:
            return f"{path} is missing"
        if len(head) < grown.bytes or hashlib.sha256(head).hexdigest() != grown.sha256:
            return f"{path} changed"
    return ""
