"""Work that crash trials break: checkpoint, score cache and ledger, manifest, ticket, package, each with its audit.

A trial is a folder with `disk`, where the work writes, and beside it `done`, a list of what the work was told to be
stored. The audit compares the two after a crash, and lets the work run again. `bench/crash_trials.py` runs the trials.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from src.checkpoint.store import CheckpointStore
from src.config.profile import load_profile
from src.core.check import now
from src.core.disk import Disk, disk
from src.core.errors import BadInput
from src.core.files import write_json
from src.gates.gate import round_context
from src.gates.manifest import MANIFEST, Manifest
from src.gates.ticket import ROUND1, TICKET, Fingerprints, issue, read_round, verify_report, withdraw_reports
from src.release.package import write_package
from src.runtime.disk import RUN_AGAIN, explain_disk_errors
from tests import disk_faults
from tests.checkpoint.lookup import newest_in
from tests.checkpoint.saves import KEEP, assert_content, assert_recovers, resume, save, writer
from tests.gates.run_folder import PROFILE
from tests.scoring import crash_run
from tests.scoring.audit import assert_no_kept_reply_is_lost, assert_records_agree, lost_ids
from tests.scoring.crash_run import VOTES, note, notes

SAMPLES = 8
DONE, ORIGINAL = Path("../done"), Path("../original")
"""Beside the working folder: what was stored, and the reports of the finished run that a ticket is issued from."""


FINISHED = "FINISHED_RUN"
"""Environment variable with the folder of that run."""


@dataclass(frozen=True)
class Job:
    component: str
    prepare: Callable[[Path], None]
    """Makes what is on the disk before the work; given the folder of a finished run."""
    work: Callable[[int], None]
    """Writes so many times in the working folder."""
    audit: Callable[[int], None]
    """Fails where something is lost; lets the work run again and fails where the outcome is another."""
    times: int = 1
    times_killed: int = 1
    """How often the work is repeated in trials that are killed from outside, so that there is a moment to hit."""


def stored(*words: object) -> None:
    note(DONE, *map(str, words))


def stored_before() -> set[str]:
    return {" ".join(line) for line in notes(DONE)}


def no_leftovers(folder: Path) -> None:
    left = [str(path) for path in folder.rglob(".*.????????")]
    assert not left, f"left behind: {left}"


# Checkpoints


def two_steps(_: Path) -> None:
    for step in (1, 2):
        save(Path(), step)


def save_steps(times: int) -> None:
    for step in range(3, 3 + times):
        save(Path(), step)
        stored(step)


def audit_steps(times: int) -> None:
    last = max([2, *map(int, stored_before())])
    assert_recovers(Path(), set(range(last, min(last + 1, times + 2) + 1)))


def damaged_step(_: Path) -> None:
    """A killed save left its folder, and the newest checkpoint is truncated in both places."""
    for step in (1, 2, 3):
        save(Path(), step)
    for shelf in ("run", "mirror"):
        shutil.copytree(Path(shelf) / "step_00003", Path(shelf) / ".saving_step_00004")
        os.truncate(Path(shelf) / "step_00003" / "state.safetensors", 7)


def recover_steps(times: int) -> None:
    resume(Path())
    stored(3)


def audit_recovered(times: int) -> None:
    found = newest_in(Path("run"), Path("mirror"))
    assert found.step in ({3} if stored_before() else {2, 3})
    assert_content(found.path, found.step)
    resume(Path())
    found = newest_in(Path("run"), Path("mirror"))
    assert_content(found.path, found.step)
    assert list(Path("run").glob("damaged_step_00003*"))
    assert not list(Path("run").glob(".saving*"))


def finish(times: int) -> None:
    with CheckpointStore(Path("run"), Path("mirror"), KEEP) as store:
        for step in range(3, 3 + times):
            store.save(step, writer(step), {})
            stored("save", step)
            store.best(step, step / 10)
            stored("best", step)
            store.final(step, writer(step), {})
            stored("final", step)


def audit_finished(times: int) -> None:
    last = max([2, *(int(name.split()[1]) for name in stored_before())])
    found = newest_in(Path("run"))
    assert found.step >= last
    assert_content(found.path, found.step)
    with CheckpointStore(Path("run"), Path("mirror"), KEEP) as store:
        step = store.newest().step
        for name, among in (("best", {last, step}), ("final", {last, step})):
            if f"{name} {last}" in stored_before():
                folder = Path("run") / ("final_model" if name == "final" else f"best/step_{last:05d}")
                assert any(_is_content(folder, one) for one in among), f"{folder} is lost"
        store.final(step, writer(step), {})
    assert_content(Path("run/final_model"), step)
    assert not list(Path("run").glob(".saving*"))


def _is_content(folder: Path, step: int) -> bool:
    try:
        assert_content(folder, step)
    except (AssertionError, FileNotFoundError):
        return False
    return True


# Score cache and ledger


def nothing(_: Path) -> None:
    pass


def torn_ledger(_: Path) -> None:
    """A run that was killed in the middle of its second append."""
    for at in range(1, 100):
        if (child := os.fork()) == 0:
            crash_run.run(".", SAMPLES, fault=["kill amid", at])
            os._exit(0)
        os.waitpid(child, 0)
        raw = Path("ledger.jsonl").read_bytes() if Path("ledger.jsonl").exists() else b""
        if b"\n" in raw and not raw.endswith(b"\n"):
            return
        for path in Path().iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    raise AssertionError("no kill tore the ledger")


def score(times: int) -> None:
    if crash_run.run(".", SAMPLES * times):
        raise BadInput(" ".join(notes(Path("refused"))[-1]))


def audit_scores(times: int) -> None:
    assert_no_kept_reply_is_lost(Path())
    lost = lost_ids(Path())
    assert len(lost) <= 2 * VOTES, "more was lost than was in flight"
    assert crash_run.run(".", SAMPLES * times) == 0
    assert_records_agree(Path(), SAMPLES * times, len(lost))


# Manifest


def artifacts(_: Path) -> None:
    for number in range(100):
        Path(f"file_{number}.txt").write_text(f"artifact {number}")


def record_artifacts(times: int) -> None:
    for number in range(times):
        Manifest().record([Path(f"file_{number}.txt")])
        stored(f"file_{number}.txt")


def audit_manifest(times: int) -> None:
    known = Manifest().newest() if MANIFEST.exists() else {}
    missing = stored_before() - set(known)
    assert not missing, f"lost: {missing}"
    record_artifacts(times)
    entries = Manifest().newest()
    expected = {f"file_{number}.txt": sha256(f"artifact {number}".encode()).hexdigest() for number in range(times)}
    assert {path: entry.digest for path, entry in entries.items()} == expected
    assert Manifest().entries[0].kind == "run"
    no_leftovers(MANIFEST.parent)


# Ticket


def finished_rounds(finished: Path) -> None:
    """A finished run: its reports copied, everything else linked. The reports to write again are beside it."""
    for entry in finished.iterdir():
        if entry.name == "reports":
            shutil.copytree(entry, "reports")
        else:
            Path(entry.name).symlink_to(entry)
    shutil.copytree(TICKET.parent, ORIGINAL)


def issue_ticket(times: int) -> None:
    """All that a second round writes once the judge has answered; what it measured is known."""
    for number in range(times):
        manifest, context = Manifest(), round_context(load_profile(PROFILE), 2)
        started = now()
        withdraw_reports(2, manifest)
        for file in sorted((ORIGINAL / "round2").glob("*.json")):
            write_json(context.work / file.name, msgspec.json.decode(file.read_bytes()))
        report = replace(read_round(ORIGINAL / TICKET.name), after=manifest.head, started=started, ts=now())
        issue(report, context, manifest)
        stored("ticket", number)


class DataFingerprints(Fingerprints):
    """Fingerprints of which those outside `reports/` are computed once for all trials: they are links to one run."""

    known: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self._known = {path: known for path, known in self.known.items() if not path.startswith("reports/")}

    def of(self, path: str) -> str:
        self.known[path] = super().of(path)
        return self.known[path]


def audit_ticket(times: int) -> None:
    before = (ORIGINAL.parent / "manifest_before").read_bytes()
    assert MANIFEST.read_bytes().startswith(before), "a line of the manifest is lost"
    verify_report(ROUND1, Manifest(), DataFingerprints())
    if len(stored_before()) == times:
        verify_report(TICKET, Manifest(), DataFingerprints())
    issue_ticket(1)
    manifest, sums = Manifest(), DataFingerprints()
    ticket, original = verify_report(TICKET, manifest, sums), read_round(ORIGINAL / TICKET.name)
    assert replace(ticket, after="", started="", ts="") == replace(original, after="", started="", ts="")
    for path, entry in manifest.newest().items():
        assert entry.kind != "file" or sums.of(path) == entry.digest, f"{path} is not as it was recorded"
    no_leftovers(TICKET.parent)
    hidden = [path for path in manifest.newest() if Path(path).name.startswith(".")]
    assert not hidden, f"recorded as evidence: {hidden}"


# Package


def older_package(_: Path) -> None:
    random = Random(7)
    for number in range(4):
        Path(f"file_{number}.jsonl").write_bytes(random.randbytes(90_000))
    Path("package.tgz").write_bytes(b"the package before")


def pack(times: int) -> None:
    for number in range(times):
        files = {f"data/{path.name}": path for path in sorted(Path().glob("file_*.jsonl"))}
        write_package(Path("package.tgz"), files, {"package/package.json": b'{"version": "1"}\n'})
        stored("package", number)


def audit_package(times: int) -> None:
    found = Path("package.tgz").read_bytes()
    pack(1)
    expected = Path("package.tgz").read_bytes()
    assert found in ({expected} if stored_before() - {"package 0"} else {expected, b"the package before"}), "torn"
    no_leftovers(Path())


JOBS_BY_NAME = {
    "save": Job("checkpoint", two_steps, save_steps, audit_steps, times_killed=40),
    "recover": Job("checkpoint", damaged_step, recover_steps, audit_recovered),
    "finish": Job("checkpoint", two_steps, finish, audit_finished),
    "score": Job("cache", nothing, score, audit_scores, times_killed=4),
    "score after a crash": Job("cache", torn_ledger, score, audit_scores),
    "record": Job("manifest", artifacts, record_artifacts, audit_manifest, times=6, times_killed=100),
    "issue": Job("ticket", finished_rounds, issue_ticket, audit_ticket),
    "pack": Job("package", older_package, pack, audit_package, times_killed=8),
}


def warm() -> None:
    """Disables real syncs: the fault layer simulates what they promise, and they only cost time here."""
    if folder := os.environ.get(FINISHED):
        with chdir(folder):
            round_context(load_profile(PROFILE), 2)  # so that no trial parses the configs again
    Disk.sync = lambda self, path: None  # type: ignore[method-assign]
    Disk.sync_file = lambda self, file: None  # type: ignore[method-assign]


def broken(folder: str, name: str, kind: disk_faults.Kind, at: int) -> int:
    """Does the work on a disk that fails at one operation. Returns 2 where the disk's refusal was explained."""
    _enter(Path(folder))
    one = JOBS_BY_NAME[name]
    disk_faults.install(kind, at, None if one.component == "cache" else Path.cwd())
    return _done(one.work, one.times)


def undisturbed(folder: str, name: str, killed: bool) -> int:
    _enter(Path(folder))
    one = JOBS_BY_NAME[name]
    return _done(one.work, one.times_killed if killed else one.times)


def operations(folder: str, name: str) -> int:
    """Writes the names of the operations of the work, in their order, to `operations`."""
    names: list[str] = []

    def noted(operation: str, *given: object) -> object:
        names.append(operation)
        return getattr(real, operation)(*given)

    real = Disk()
    for operation in [one for one in vars(Disk) if not one.startswith("_")]:
        setattr(disk, operation, partial(noted, operation))
    code = undisturbed(folder, name, killed=False)
    (Path(folder) / "operations").write_text("\n".join(names))
    return code


def _enter(folder: Path) -> None:
    """Works in that trial; what is said goes to its file `said`."""
    os.chdir(folder / "disk")
    os.dup2(os.open("../said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _done(work: Callable[[int], None], times: int) -> int:
    try:
        with explain_disk_errors(Path(), RUN_AGAIN, only_full=True):  # as the command line does
            work(times)
    except BadInput:
        return BadInput.exit_code
    return 0


def prepare(job: str, finished: Path, folder: Path) -> None:
    """Makes the folder that each trial of a job starts from."""
    (folder / "disk").mkdir(parents=True)
    with chdir(folder / "disk"):
        JOBS_BY_NAME[job].prepare(finished)
        if MANIFEST.exists():
            shutil.copy(MANIFEST, "../manifest_before")


def audit(job: str, folder: Path, killed: bool = False) -> None:
    one = JOBS_BY_NAME[job]
    with chdir(folder / "disk"):
        one.audit(one.times_killed if killed else one.times)


JOBS: dict[str, Callable[..., int]] = {"broken": broken, "undisturbed": undisturbed, "operations": operations}
