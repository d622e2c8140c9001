"""The ticket: how it is issued and verified.

A ticket is the report of a second round that passed (`reports/preflight/round2_pass.json`). It lists every check with
value, threshold and evidence, and the SHA-256 of every file that was measured.

    issue(report, context, manifest)               # writes the report of a round: round1.json, ticket, or refusal
    verify_report(TICKET, manifest, fingerprints)  # refuses a report that is not true of the files as they are now

`admission.py` requires it before training; `final_models.py` verifies what was trained with it.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from askgate_env.types import Record

from ..config.profile import Profile, load_profile, profile_path
from ..core.check import Check, now
from ..core.disk import disk
from ..core.errors import BadInput
from ..core.files import (
    HOME,
    PACKAGE,
    fingerprint,
    is_plain_json,
    read_record,
    sha256_file,
    sweep,
    write_checksums,
    write_json,
)
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..scoring.ledger import Head, lines
from ..scoring.providers import PROD, address, may_have_server
from ..scoring.types import CallEntry, ScoringEntry
from .gate import GATES, INTEGRITY, MEASURED, MOMENTARY, PREFLIGHT, Finding, RoundContext
from .manifest import Manifest, is_future

ROUND1 = PREFLIGHT / "round1.json"
TICKET = PREFLIGHT / "round2_pass.json"
REFUSAL = PREFLIGHT / "round2_fail.json"
COMMIT = Path("reports/rc1/git_commit.txt")
ENVELOPE = TICKET.with_suffix(".dsse.json")
"""The owner's signature of the ticket."""
RUN_BOTH = "run `askgate round 1` and then `askgate round 2`; nobody writes this file by hand"
AGAIN = "run both rounds again on the files as they are, or put the file back as it was"
_LEDGER = "put the ledger back as it was, or score again live and run both rounds again"


class Fingerprint(Record, frozen=True):
    path: str
    sha256: str


class Round(Record, frozen=True, rename={"passed": "pass"}):
    """The report of a round. The report of a second round that passed is the ticket."""

    round: Literal["round1", "round2"]
    ts: str
    passed: bool
    profile: str
    started: str
    version: str
    run: str
    """Id of the evidence in this project folder: a random name in the first line of the manifest."""
    after: str
    """Hash of the manifest's last line before this round."""
    files: dict[str, Fingerprint]
    """Measured files by role: pool, metrics, balanced, shadow_set, weights, config, templates, ..."""
    ledger: Head
    findings: list[Finding]
    environment: dict[str, str]
    judge_server: str = ""
    """Host and port of the judge, or `askgate` for the server that AskGate starts itself."""
    code: str = ""
    """SHA-256 of AskGate's code and texts that measured, when the round began."""
    earlier_code: tuple[str, ...] = ()
    """SHA-256 of the code of earlier measurements, oldest first, if the round was measured again with changed code."""
    launchers: str = ""
    """SHA-256 of the scripts of a checkout that start AskGate; empty where it is installed."""
    owner_key: str = ""
    """Fingerprint of the owner's public key, where the profile names one."""
    base_model: str = ""
    """SHA-256 of the model whose episodes were measured, and which may be trained."""
    commit: str = ""
    """Git commit of the checkout, with `-dirty` at its end if tracked files had changed; empty without a checkout."""
    fresh_seed: int | None = None
    round1_sha256: str = ""
    """SHA-256 of the report of round 1; empty in a report of round 1 itself."""
    measured: dict[str, str] = msgspec.field(default_factory=dict)
    """Path and SHA-256 of the gates' measurements, whose figures the RC1 report shows."""
    to_do: tuple[str, ...] = ()
    to_do_zh: tuple[str, ...] = ()
    ambers: tuple[Check, ...] = ()
    """Caveats that the owner must know though no gate failed (`ambers.py`)."""

    @property
    def failed(self) -> list[Finding]:
        return [one for one in self.findings if not one.passed]

    @property
    def unmeasured(self) -> set[str]:
        """Gates that could not be measured, such as `judge` where the judge did not answer."""
        return {one.gate for one in self.failed if one.name == MEASURED}

    @property
    def exit_code(self) -> int:
        """1 where a quality gate failed; 2 where something is not genuine or could not be measured."""
        if self.passed:
            return 0
        return 2 if any(one.gate in INTEGRITY or one.name == MEASURED for one in self.failed) else 1


DIRTY = "-dirty"
"""End of the name of a commit whose checkout had other changes."""


def read_commit() -> str:
    """The commit of this checkout, else the one in COMMIT, from the operations script; empty if there is none."""
    noted = COMMIT.read_text(encoding="utf-8", errors="replace").strip() if COMMIT.exists() else ""
    if PACKAGE.name != "src" or not (HOME / ".git").exists():
        return noted
    command = ["git", "-C", str(HOME), "describe", "--always", "--abbrev=40", "--exclude=*", f"--dirty={DIRTY}"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or noted
    except OSError:  # git is not installed
        return noted


def read_round(path: Path) -> Round:
    return read_record(path, Round, RUN_BOTH, "no round has written this")


# Issuing


def issue(report: Round, context: RoundContext, manifest: Manifest) -> Path:
    """Writes the report of a round, and records it with all its evidence in the manifest. Returns its path."""
    path = ROUND1 if report.round == "round1" else TICKET if report.passed else REFUSAL
    sweep(context.work)  # temporary files of a killed round are not evidence
    sweep(path)
    write_json(path, report)
    known = dict(evidence(report))
    derived = [file for file in sorted(context.work.iterdir()) if file.is_file() and file.suffix != ".lock"]
    manifest.record(dict.fromkeys([*map(Path, known), *derived, path]), known)
    if report.ledger.lines:
        manifest.record_ledger(context.ledger, report.ledger.hash, report.ledger.lines)
    write_checksums(Path(one.path) for one in report.files.values())
    return path


def sign_off_files() -> list[Path]:
    """Files of all sign-offs, of the ticket and of ambers."""
    return [path for path in (ENVELOPE, *sorted(PREFLIGHT.glob("amber_*.json"))) if path.exists()]


def withdraw_reports(number: int, manifest: Manifest) -> list[Path]:
    """Withdraws the reports that a round replaces, and their sign-offs, before it overwrites their evidence.

    Returns the removed files.
    """
    reports = [ROUND1, TICKET, REFUSAL] if number == 1 else [TICKET, REFUSAL]
    removed = []
    for path in (*reports, *sign_off_files()):
        manifest.withdraw(path)  # before the removal: if the disk is full, the report stays
        if path.exists():
            with explain_disk_errors(path, RUN_AGAIN):
                disk.remove(path)
                disk.sync(path.parent)
            removed.append(path)
    return removed


def evidence(report: Round) -> Iterator[tuple[str, str]]:
    """Path and SHA-256 of every file that a round measured, and of the gates' measurements."""
    yield from ((one.path, one.sha256) for one in report.files.values())
    yield from report.measured.items()
    for one in report.findings:
        yield from one.evidence.items()


# Verifying


class Fingerprints:
    """Fingerprints of files as they are now, each computed once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = fingerprint(Path(path))
        return self._known[path]


def verify_report(path: Path, manifest: Manifest, fingerprints: Fingerprints) -> Round:
    """The report of a round, verified. Raises BadInput that names the first difference.

    Checks the report's bytes, verdicts and time, and every file that it was measured on. `verify_ledger` checks the
    ledger, which may grow.
    """
    report = read_round(path)
    if what := next(_contradictions(path, report, manifest), ""):
        raise BadInput(what, where=str(path), remedy=RUN_BOTH)
    if is_future(report.ts) or report.started > report.ts:
        what = f"is of {report.ts}, and the clock says {now()}"
        raise BadInput(what, where=str(path), remedy="set the clock right; if it is right, run both rounds again")
    for name, stated in evidence(report):
        try:
            changed = fingerprints.of(name) != stated
        except BadInput as error:
            raise BadInput(f"{error.what}; {path.name} was measured on it", where=name, remedy=AGAIN) from None
        if changed:
            raise BadInput(f"has changed since {path.name} was written", where=name, remedy=AGAIN)
    return report


def verify_ledger(ledger: Path, heads: list[Head]) -> None:
    """Checks that the hash chain is whole and passes through every recorded head. It may have grown since."""
    wanted = {head.lines: head.hash for head in heads if head.lines}
    for line in lines(ledger):
        if wanted.pop(line.head.lines, line.head.hash) != line.head.hash:
            what = "is another ledger than the one that was measured: the line does not have the hash on record"
            raise BadInput(what, where=f"{ledger}:{line.head.lines}", remedy=_LEDGER)
    if wanted:
        what = f"lines are missing at its end: it had {max(wanted)} when it was measured"
        raise BadInput(what, where=str(ledger), remedy=_LEDGER)


def verify_judge(ledger: Path, report: Round) -> None:
    """Checks that the judge was at the server in the report, and that no call went elsewhere under a known name."""
    entries = [line.entry for line in lines(ledger) if line.seq <= report.ledger.lines]
    last = ""
    for call in (one for one in entries if isinstance(one, CallEntry)):
        last = address(call.server)
        if not may_have_server(call.provider, last):
            raise BadInput(
                f"has calls to {last or 'an unknown address'} under the name {call.provider}, which is another server",
                where=str(ledger),
                remedy="move the ledger away, name that server SCORER_PROVIDER=custom, score again and run both rounds",
            )
    if last != report.judge_server:
        named = f"the report names judge server {report.judge_server or '(none)'}"
        what = f"{named}, but the last call in the ledger went to {last or '(none)'}"
        raise BadInput(what, where=report.round, remedy=RUN_BOTH)
    scored = next((one for one in reversed(entries) if isinstance(one, ScoringEntry)), None)
    for name, known in (("SCORER_PROVIDER", "provider"), ("SCORER_MODEL", "model")):
        stated = report.environment.get(name, "")
        if stated and scored and stated != getattr(scored, known):
            what = f"says {name}={stated}, and the last score in the ledger is by {getattr(scored, known)}"
            raise BadInput(what, where=report.round, remedy=RUN_BOTH)


def verify_first_round(ticket: Round, first: Round | None) -> None:
    """Checks that the report of round 1 is the one that the ticket is based on."""
    same = first and (first.passed, first.profile, first.code) == (True, ticket.profile, ticket.code)
    if not same or sha256_file(ROUND1) != ticket.round1_sha256:
        raise BadInput("is not the first round that the ticket is based on", where=str(ROUND1), remedy=RUN_BOTH)


def require_sign_off(report: Round, profile: Profile) -> None:
    """Checks the owner's signature of the ticket, if the ticket or the profile names the owner's key."""
    if report.owner_key or profile.owner_key:
        from .sign_off import require_signature  # importing cryptography takes 70 ms

        require_signature(profile, TICKET, report.run, report.owner_key, ENVELOPE)


def _contradictions(path: Path, report: Round, manifest: Manifest) -> Iterator[str]:
    """Contradictions between a report and the manifest, or within the report, in words.

    The verdict of each check is computed again from value and threshold, and that of the report from its checks.
    """
    entry = manifest.newest().get(str(path))
    if report.run != manifest.run:
        yield "belongs to another run, not to this folder"
    if entry is None or entry.kind != "file":
        yield f"is not in {manifest.path}: no round of this run wrote it, or it was withdrawn"
    elif entry.digest != sha256_file(path):
        yield "was changed after the round wrote it"
    elif not manifest.is_written_after(report.after, report.ts, path):
        yield f"was not written at {report.ts} after the line of {manifest.path} that it names"
    for one in report.findings:
        if one.passed != one.verdict:
            stated = "passed" if one.passed else "failed"
            rule, is_true = f"{one.value} {one.rule} {one.threshold}", str(one.verdict).lower()
            yield f"{one.gate}: {one.name} is recorded as {stated}, but {rule} is {is_true}"
    named = Counter((one.gate, one.name) for one in report.findings)
    for (gate, name), count in named.items():
        if gate not in GATES or (gate in MOMENTARY and name not in {*MOMENTARY[gate], MEASURED}):
            yield f"{gate}: {name} is no check of a round"
        elif count > 1:
            yield f"{gate}: {name} is there {count} times"
    needed = [gate for gate in GATES if gate != "round1" or report.round == "round2"]
    if lacking := [gate for gate in needed if all(one.gate != gate for one in report.findings)]:
        yield f"nothing was measured for {', '.join(lacking)}"
    if report.passed != all(one.passed for one in report.findings):
        yield "its verdict is not that of its checks"
    if not is_plain_json(path.read_bytes()):
        yield "is not written as a round writes it"
    mode = report.environment.get("RUN_MODE", PROD)
    if report.passed and mode != PROD:
        yield f"says that it passed with RUN_MODE={mode}"
    profile = report.files.get("profile")
    if profile is None or profile.path != str(profile_path(load_profile(report.profile).name)):
        yield f"does not say which profile {report.profile} it used"
