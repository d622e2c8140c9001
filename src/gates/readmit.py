"""`askgate round --readmit`: a new ticket after an update of AskGate, on the same files and with the paid scores."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from .. import __version__
from ..config.profile import load_profile
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import code_sha256, forget_reads, launchers_sha256, read_json, sha256_file
from ..runtime.lock import lock_folder
from ..runtime.progress import Tell
from .checks.config import disk_findings
from .gate import Finding, measured_files, round_context
from .manifest import Manifest, newest_evaluation
from .rounds import refuse_changed, round1_findings, round_files
from .ticket import ROUND1, TICKET, Fingerprints, Round, issue, read_commit, read_round, verify_ledger, verify_report
from .verify import ambers_now, is_momentary, measure_round_again


def readmit(tell: Tell) -> tuple[Round, Path]:
    """Measures both rounds again after AskGate's code has changed, and issues a new ticket if every check passes.

    Paid scores are reused and no judge is called. Where a check fails now, nothing is written: the ticket stays what it
    was, valid for the code that it was issued with.
    """
    with ExitStack() as end:
        end.callback(os.close, lock_folder(ROUND1.parent))
        forget_reads()
        started, manifest, fingerprints = now(), Manifest(), Fingerprints()
        manifest.refuse_future()
        reports = [verify_report(path, manifest, fingerprints) for path in (ROUND1, TICKET)]
        profile = load_profile(reports[1].profile)
        verify_ledger(profile.paths.ledger, [one.ledger for one in reports])
        _refuse_needless(reports[1])
        work = Path(end.enter_context(TemporaryDirectory()))
        file_gates: dict[str, list[Finding]] = {}
        for number, (path, report) in enumerate(zip((ROUND1, TICKET), reports, strict=True), 1):
            again, context = measure_round_again(report, work, file_gates)
            measured = [*again, *disk_findings(context)]
            kept = [one for one in report.findings if is_momentary(one) and one.gate not in ("disk", "round1")]
            files = round_files(profile, number)
            refuse_changed(measured, files, context.fresh)
            for what in _differences(report, measured):
                tell(f"{report.round}: {what}")
            reports[number - 1] = replace(
                report,
                ts=now(),
                started=started,
                version=__version__,
                files=files,
                findings=[*measured, *kept],
                passed=all(one.passed for one in (*measured, *kept)),
                code=code_sha256(),
                launchers=launchers_sha256(),
                commit=read_commit(),
                earlier_code=(*report.earlier_code, report.code),
                ambers=tuple(one.fact for one in ambers_now(report, context)),
            )
            if not reports[number - 1].passed:
                return reports[number - 1], path
        for number, report in enumerate(reports, 1):
            context = round_context(profile, number)
            for file in (one for one in work.iterdir() if one.is_file()):
                shutil.copy(file, context.work / file.name)
            if number == 2:
                findings = [*round1_findings(profile, manifest), *report.findings]
                report = replace(report, findings=findings, round1_sha256=sha256_file(ROUND1))
            issue(replace(report, after=manifest.head, measured=measured_files(context)), context, manifest)
        before = reports[1].earlier_code[-1]
        tell(f"code: {before[:12]} before, {code_sha256()[:12]} now; no judge was called, and both are in the ticket")
        return read_round(TICKET), TICKET


def _refuse_needless(ticket: Round) -> None:
    """Refuses if the ticket is valid as it is, or if finished results depend on it."""
    if (ticket.code, ticket.launchers) == (code_sha256(), launchers_sha256()):
        what, remedy = "was issued with this very code", "nothing is to be done: train"
    elif (found := newest_evaluation()) and read_json(found, "evaluate again").get("ticket") == sha256_file(TICKET):
        what, remedy = f"{found} was trained with it", "verify and package do not need the same code"
    else:
        return
    raise BadInput(what, where=str(TICKET), remedy=remedy)


def _differences(report: Round, measured: Sequence[Finding]) -> Iterator[str]:
    """Descriptions of the checks that are new or have other values than in the report."""
    before = {(one.gate, one.name): one for one in report.findings}
    for one in measured:
        old = before.get((one.gate, one.name))
        if old is None:
            yield f"{one.gate}: {one.name} is new ({one.value} {one.rule} {one.threshold})"
        elif (old.value, old.passed) != (one.value, one.passed) and not is_momentary(one):
            yield f"{one.gate}: {one.name} was {old.value} and is {one.value} ({one.rule} {one.threshold})"
