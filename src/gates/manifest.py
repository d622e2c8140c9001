"""The evidence manifest: what a run folder holds, one artifact a line, each line with the hash of the line before it.

    Manifest().record([Path("data/rollouts/rc1_seed.jsonl")])

The first line gives the run its name, so that nothing of another run fits here. The newest line of a path counts. The
ledger grows after it was recorded; for it the line holds the head of its chain and how many lines it had.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.jsonl import read_lines
from ..core.types import Record
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock
from .prints import fingerprint

MANIFEST = Path("reports/rc1/manifest.jsonl")
START = "0" * 64
Kind = Literal["run", "file", "ledger", "withdrawn"]
SLACK = timedelta(seconds=2)
"""So far a clock may jump when it is set right; more is a clock that was set back."""
_RESTORE = "put the manifest back as it was, or move reports/ away and run the stages and both rounds again"


class Entry(Record, frozen=True):
    kind: Kind
    path: str
    """Empty for `run`."""
    sha256: str
    """Of a file or folder; the head of a ledger's chain; the name of the run."""
    lines: int
    """Of a ledger, when it was recorded."""
    at: str
    before: str
    """SHA-256 of the line before this one."""


class ManifestBroken(BadInput):
    """The chain does not hold at `where`."""


class Manifest:
    """Read and checked as a whole, then added to. One process writes at a time."""

    def __init__(self, path: Path = MANIFEST) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.head = START
        if path.exists():
            self._read()

    @property
    def run(self) -> str:
        if not self.entries:
            raise BadInput(
                "there is no evidence yet",
                where=str(self.path),
                remedy="run `askgate quickstart`, or round 1 of your own run",
            )
        return self.entries[0].sha256

    def begin(self) -> None:
        """Gives the run its name, where it has none yet."""
        self._append([])

    def newest(self) -> dict[str, Entry]:
        """By path, in the order in which each was last recorded."""
        found: dict[str, Entry] = {}
        for entry in self.entries[1:]:
            found.pop(entry.path, None)
            found[entry.path] = entry
        return found

    def record(self, paths: Iterable[Path], known: Mapping[str, str] | None = None) -> None:
        """Files and folders as they are now, in one write. `known`: fingerprints that were just taken."""
        taken = known or {}
        sums = {str(path): taken.get(str(path)) or fingerprint(path) for path in paths}
        held = self.newest()
        new = [
            path
            for path in sums
            if not (path in held and held[path].kind == "file" and held[path].sha256 == sums[path])
        ]
        self._append([("file", path, sums[path], 0) for path in new])

    def record_ledger(self, path: Path, head: str, lines: int) -> None:
        self._append([("ledger", str(path), head, lines)])

    def withdraw(self, path: Path) -> None:
        """A ticket or report that no longer counts; its file is gone."""
        held = self.newest().get(str(path))
        if held and held.kind != "withdrawn":
            self._append([("withdrawn", str(path), held.sha256, 0)])

    def refuse_future(self) -> None:
        """Evidence from the future: the clock was set back since, or somebody wrote the date by hand."""
        if self.entries and is_future(self.entries[-1].at):
            raise BadInput(
                f"the newest evidence is of {self.entries[-1].at}, and the clock says {_now()}",
                where=str(self.path),
                remedy="set the clock right; where the evidence is what is wrong, run the stages and both rounds again",
            )

    def _read(self) -> None:
        decoder = msgspec.json.Decoder(Entry)
        for number, raw in read_lines(self.path):
            where = f"{self.path}:{number}"
            try:
                entry = decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ManifestBroken(f"not a line of a manifest ({error})", where=where, remedy=_RESTORE) from None
            if entry.before != self.head or (entry.kind == "run") != (not self.entries):
                raise ManifestBroken(
                    "does not follow from the line before it: a line was changed, added or taken out",
                    where=where,
                    remedy=_RESTORE,
                )
            self.entries.append(entry)
            self.head = _hash(raw)

    def _append(self, made: Iterable[tuple[Kind, str, str, int]]) -> None:
        """After a look at what others added meanwhile. The file is replaced as a whole: no crash leaves half a line."""
        with explain_disk_errors(self.path, RUN_AGAIN):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with write_lock(self.path):
                self.entries, self.head = [], START
                old = self.path.read_bytes() if self.path.exists() else b""
                if old:
                    self._read()
                self.refuse_future()
                lines = [] if old else [self._add(Entry("run", "", uuid.uuid4().hex, 0, _now(), START))]
                lines += [self._add(Entry(*one, _now(), self.head)) for one in made]
                with atomic_write(self.path) as handle:
                    handle.write(old + b"".join(lines))

    def _add(self, entry: Entry) -> bytes:
        raw = msgspec.json.encode(entry) + b"\n"
        self.entries.append(entry)
        self.head = _hash(raw)
        return raw


def is_future(at: str) -> bool:
    """A text that is no time with its zone is of no time that there was."""
    try:
        return datetime.fromisoformat(at) > datetime.now(UTC) + SLACK
    except (ValueError, TypeError):
        return True


def _hash(raw: bytes) -> str:
    return sha256(raw.rstrip(b"\n")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
