"""The evidence manifest: a hash chain over the artifacts of a project folder.

    Manifest().record([Path("data/rollouts/rc1_seed.jsonl")])

Each line is one artifact with its SHA-256 and the hash of the line before it. The first line has a random id of the
evidence, so that no line of other evidence fits. The newest line of a path counts. The ledger may grow after it was
recorded: its line has the head of its own chain and its number of lines.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from askgate_env.types import Record

from ..checkpoint.seal import final_seals
from ..core import paths as run_paths
from ..core.check import now
from ..core.disk import make_path
from ..core.errors import BadInput
from ..core.files import atomic_write, fingerprint, sha256_file, sweep
from ..core.jsonl import read_lines
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock

MANIFEST = Path("reports/rc1/manifest.jsonl")
START = "0" * 64
Kind = Literal["run", "file", "ledger", "checkpoint", "withdrawn"]
SLACK = timedelta(seconds=2)
"""Tolerance for a corrected clock. A larger jump back in time is refused."""
_RESTORE = "put the manifest back as it was, or move reports/ away and run the stages and both rounds again"


class Entry(Record, frozen=True, rename={"digest": "sha256"}):
    """A line of the manifest."""

    kind: Kind
    path: str
    """Empty for `run`."""
    digest: str
    """By kind: fingerprint of a file or folder, head of a ledger's chain, SHA-256 of a checkpoint's seal, run name."""
    lines: int
    """Number of lines of a ledger when it was recorded."""
    at: str
    before: str
    """SHA-256 of the line before this one."""


class ManifestBroken(BadInput):
    """Raised if the hash chain is broken at `where`."""


class Manifest:
    """The manifest file: read and checked as a whole, then appended to. One process writes at a time."""

    def __init__(self, path: Path = MANIFEST) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.head = START
        if path.exists():
            self._read()

    @property
    def run(self) -> str:
        if not self.entries:
            remedy = "go to the folder of your run; to start one here, run `askgate quickstart` or round 1"
            raise BadInput(f"there is no evidence yet in {Path.cwd()}", where=str(self.path), remedy=remedy)
        return self.entries[0].digest

    def begin(self) -> None:
        """Gives the run a name if it has none yet."""
        self._append([])

    def head_after(self, lines: int) -> str:
        """Hash of line number `lines`."""
        return self.head if lines == len(self.entries) else self.entries[lines].before

    def newest(self) -> dict[str, Entry]:
        """The newest entry of every path, in the order in which each was last recorded."""
        newest: dict[str, Entry] = {}
        for entry in self.entries[1:]:
            newest.pop(entry.path, None)
            newest[entry.path] = entry
        return newest

    def is_written_after(self, head: str, at: str, path: Path) -> bool:
        """Whether a file was written at time `at`, after the line with hash `head` and before its own newest line."""
        lines = [place for place, entry in enumerate(self.entries) if entry.path == str(path)]
        first = next((place for place, entry in enumerate(self.entries) if entry.before == head and place), None)
        if first is None or not lines or first > lines[-1]:
            return False
        before, after = self.entries[first - 1].at, self.entries[lines[-1]].at
        try:
            times = [datetime.fromisoformat(one) for one in (before, at, after)]
            return times[0] - SLACK <= times[1] <= times[2] + SLACK
        except (ValueError, TypeError):
            return False

    def earlier(self, path: Path) -> set[str]:
        """SHA-256 of all versions of a file that were recorded before the newest one."""
        versions = [entry.digest for entry in self.entries if entry.path == str(path) and entry.kind == "file"]
        return {*versions[:-1]} - {*versions[-1:]}

    def of_run(self, run: Path) -> dict[Path, str]:
        """SHA-256 of the recorded files of a run folder, by their names in it, in the order of recording.

        In an unpacked package the run folder is the project folder itself; `recorded_run` finds its recorded name.
        """
        run, files = self.recorded_run(run), self._files()
        return {name.relative_to(run): digest for name, digest in files.items() if name.is_relative_to(run)}

    def is_recorded_once(self, run: Path, name: Path) -> bool:
        """Whether a file of a run folder was recorded, always with the same content."""
        path = str(self.recorded_run(run) / name)
        return len({entry.digest for entry in self.entries if entry.kind == "file" and entry.path == path}) == 1

    def _files(self) -> dict[Path, str]:
        return {Path(name): entry.digest for name, entry in self.newest().items() if entry.kind == "file"}

    def recorded_run(self, run: Path) -> Path:
        """The run folder under the name that it was recorded with.

        An unpacked package has the run's files in the project folder. The seals of its final models show which of the
        recorded runs it is, because two runs may have one ticket.
        """
        if run != run_paths.HERE:
            return run
        files, seals = self._files(), {seal: sha256_file(seal) for seal in final_seals(run_paths.GATED_CHECKPOINTS)}
        runs = dict.fromkeys(Path(*name.parts[:2]) for name in files if name.is_relative_to(run_paths.RUNS))
        same = (one for one in runs if all(files.get(one / seal) == digest for seal, digest in seals.items()))
        return next(same, run) if seals else run

    def record(self, paths: Iterable[Path], known: Mapping[str, str] | None = None) -> None:
        """Records files and folders as they are now, in one write. `known`: fingerprints that were just computed."""
        computed, recorded = known or {}, self._files()
        digests = {path: computed.get(str(path)) or fingerprint(path) for path in paths}
        self._append([("file", str(path), one, 0) for path, one in digests.items() if recorded.get(path) != one])

    def record_ledger(self, path: Path, head: str, lines: int) -> None:
        self._append([("ledger", str(path), head, lines)])

    def record_checkpoint(self, path: Path, seal: str) -> None:
        """Records the SHA-256 of a checkpoint's seal. `verify` ignores it, because later checkpoints replace it."""
        self._append([("checkpoint", str(path), seal, 0)])

    def has_checkpoint(self, path: Path, seal: str) -> bool:
        """Whether this seal was recorded for a checkpoint of this seed and step, which are the last parts of its path.

        So the copy of a checkpoint in a mirror counts too.
        """
        recorded = (one for one in self.entries if one.kind == "checkpoint" and one.digest == seal)
        return any(Path(one.path).parts[-2:] == path.parts[-2:] for one in recorded)

    def withdraw(self, path: Path) -> None:
        """Records that a report no longer counts; its file has been removed."""
        newest = self.newest().get(str(path))
        if newest and newest.kind != "withdrawn":
            self._append([("withdrawn", str(path), newest.digest, 0)])

    def refuse_future(self) -> None:
        """Refuses evidence from the future: the clock was set back since, or the date was written by hand."""
        if self.entries and is_future(self.entries[-1].at):
            what = f"the newest evidence is of {self.entries[-1].at}, and the clock says {now()}"
            remedy = "set the clock right; where the evidence is what is wrong, run the stages and both rounds again"
            raise BadInput(what, where=str(self.path), remedy=remedy)

    def _read(self) -> None:
        decoder = msgspec.json.Decoder(Entry)
        for number, raw in read_lines(self.path):
            where = f"{self.path}:{number}"
            try:
                entry = decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ManifestBroken(f"not a line of a manifest ({error})", where=where, remedy=_RESTORE) from None
            if msgspec.json.encode(entry) != raw.rstrip(b"\n"):
                what = "is not written as AskGate writes it, such as with a key twice"
                raise ManifestBroken(what, where=where, remedy=_RESTORE)
            if entry.before != self.head or (entry.kind == "run") != (not self.entries):
                what = "does not follow from the line before it: a line was changed, added or taken out"
                raise ManifestBroken(what, where=where, remedy=_RESTORE)
            if self.entries and _is_before(entry.at, self.entries[-1].at):
                raise ManifestBroken("is dated before the line before it", where=where, remedy=_RESTORE)
            self.entries.append(entry)
            self.head = _hash(raw)

    def _append(self, made: Iterable[tuple[Kind, str, str, int]]) -> None:
        """Reads the file again, then appends. The file is replaced as a whole, so a crash leaves no torn line."""
        with explain_disk_errors(self.path, RUN_AGAIN):
            make_path(self.path.parent)
            with write_lock(self.path):
                sweep(self.path)
                self.entries, self.head = [], START
                old = self.path.read_bytes() if self.path.exists() else b""
                if old:
                    self._read()
                self.refuse_future()
                lines = [] if old else [self._add(Entry("run", "", uuid.uuid4().hex, 0, now(), START))]
                lines += [self._add(Entry(*one, now(), self.head)) for one in made]
                with atomic_write(self.path) as handle:
                    handle.write(old + b"".join(lines))

    def _add(self, entry: Entry) -> bytes:
        raw = msgspec.json.encode(entry) + b"\n"
        self.entries.append(entry)
        self.head = _hash(raw)
        return raw


def newest_evaluation() -> Path | None:
    """The JSON report on base and trained policy that counts: in a gated run the one that was recorded last, whatever
    the file times say; in another run the newest file."""
    run = run_paths.certified_run()
    reports = [path for path in run_paths.evaluations(run) if path.suffix == ".json"]
    if run_paths.has_gated_run():
        recorded = list(Manifest().of_run(run))
        reports = [path for path in reports if path.relative_to(run) in recorded]
        return max(reports, key=lambda path: recorded.index(path.relative_to(run)), default=None)
    return max(reports, key=lambda path: (path.stat().st_mtime, path.name), default=None)


def is_future(at: str) -> bool:
    """Whether a time is in the future. A text that is not a time with a time zone counts as future."""
    return _is_before(datetime.now(UTC).isoformat(), at)


def _is_before(at: str, earlier: str) -> bool:
    """Whether `at` is before the supposedly earlier time. True too if one is not a time with a time zone."""
    try:
        return datetime.fromisoformat(at) < datetime.fromisoformat(earlier) - SLACK
    except (ValueError, TypeError):
        return True


def _hash(raw: bytes) -> str:
    return sha256(raw.rstrip(b"\n")).hexdigest()
