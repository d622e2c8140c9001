"""`askgate verify`: checks all evidence of a project folder from its files alone.

Plain: every file has the bytes that were measured. Deep: every gate is measured again and must give the same values,
which catches someone who rewrote files, checksums and reports together. The error names the first difference.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..checkpoint.seal import COMPLETE
from ..config.loader import load_train_config
from ..config.profile import load_profile
from ..core.errors import BadInput
from ..core.files import PACKAGE_FACTS, all_reads, code_sha256, note_read, read_json
from ..core.model_files import base_sha256
from ..core.paths import FINAL_MODEL, GATED_CHECKPOINTS, run_folder
from ..runtime.progress import Tell
from ..scoring.ledger import Head
from ..utils.processes import rare_collections, usable_cores
from .anchor import ANCHORS, has_grown, verify_anchors
from .final_models import ended_early, sealed_ticket, verify_final_model
from .gate import GATES, INTEGRITY, MOMENTARY, Finding, RoundContext, is_close, measure, measured_file, round_context
from .manifest import Entry, Manifest
from .ticket import (
    REFUSAL,
    ROUND1,
    TICKET,
    Fingerprints,
    Round,
    require_sign_off,
    verify_first_round,
    verify_judge,
    verify_ledger,
    verify_report,
)

if TYPE_CHECKING:
    from .ambers import Amber

_RESTORE = "put the file back as it was; where it was changed on purpose, run its stage and both rounds again"
_NOT_THIS_EVIDENCE = "the report was not measured on this evidence; run both rounds again"
PAGE_SUFFIXES = (".html", ".md", ".txt")
"""Suffixes of pages. Neither rounds nor runs record pages, so a recorded one was added by hand."""
_ENVIRONMENT_CHECKS = {"run_mode_is_prod", "live_mode_is_on", "simulate"}


def verify(deep: bool, tell: Tell, signed: bool = True, owner_key: str = "", tsa_root: str = "") -> list[Round]:
    """The verified reports of the rounds. Raises BadInput at the first difference.

    `signed`: whether the owner's signature is required; False before the ticket is signed. `owner_key`: fingerprint of
    the owner's key, known from elsewhere; a ticket that this key did not sign is refused. `tsa_root`: fingerprint of
    the root certificate of a timestamp authority, known from elsewhere; that authority must have anchored the manifest.
    """
    manifest = Manifest()
    manifest.refuse_future()
    artifacts = manifest.newest()
    tell(f"manifest: {len(manifest.entries)} lines, run {manifest.run[:12]}")
    verify_anchors(manifest, tell, tsa_root)
    fingerprints = Fingerprints()
    removed = {run for name in artifacts if (run := run_folder(Path(name))) and not run.is_dir()}
    kept = [entry for entry in artifacts.values() if run_folder(Path(entry.path)) not in removed]
    for entry in kept:
        if Path(entry.path) != ANCHORS or not has_grown(entry.digest):
            _verify_artifact(entry, fingerprints)
    shared = [one for one in kept if one.kind == "file" and not run_folder(Path(one.path))]
    tell(f"artifacts: {len(shared)} as they were recorded")
    ledgers: dict[str, list[Head]] = {}
    for entry in (one for one in manifest.entries if one.kind == "ledger"):
        ledgers.setdefault(entry.path, []).append(Head(entry.lines, entry.digest))
    for ledger, heads in ledgers.items():
        verify_ledger(Path(ledger), heads)
        tell(f"{ledger}: chain whole, and it goes through all {len(heads)} heads on record")
    for run in sorted(removed) if not PACKAGE_FACTS.is_file() else ():  # in a package no run has its folder
        tell(f"{run}: this run was removed, so nothing is verified about it")
    rounds = [verify_report(path, manifest, fingerprints) for path in (ROUND1, TICKET, REFUSAL) if path.exists()]
    if not rounds:
        raise BadInput("no round has been run", where=str(ROUND1), remedy="run `askgate round 1`")
    for report in rounds:
        ambers = f", amber: {', '.join(one.name for one in report.ambers)}" if report.ambers else ""
        tell(f"{report.round} ({report.profile}): {len(report.findings)} checks, {len(report.failed)} failed{ambers}")
    ticket = next((one for one in rounds if one.round == "round2" and one.passed), None)
    if ticket:
        verify_first_round(ticket, next((one for one in rounds if one.round == "round1"), None))
        verify_judge(load_profile(ticket.profile).paths.ledger, ticket)
        tell(f"judge: {ticket.environment.get('SCORER_PROVIDER', '')} at {ticket.judge_server}")
    if ticket and signed:
        require_sign_off(ticket, load_profile(ticket.profile))
        tell(f"ticket: valid{f', signed by key {ticket.owner_key}' if ticket.owner_key else ', not signed'}")
    refuse_other_owner(ticket, owner_key)
    if ticket:
        _verify_models(ticket, manifest, tell)
        if ticket.earlier_code:
            tell(f"code: measured again after it had changed; before it was {', '.join(ticket.earlier_code)}")
        if ticket.code != code_sha256():
            tell("code: not the one that measured the rounds; training with it needs `askgate round --readmit`")
    if deep:
        measure_again(rounds, tell)
    return rounds


def refuse_other_owner(ticket: Round | None, owner_key: str) -> None:
    """Refuses a ticket that is not signed by the key with this fingerprint. Empty: any key, or none."""
    known = ticket.owner_key if ticket else ""
    if owner_key and owner_key != known:
        what = f"the ticket is not signed by that key{f', but by {known}' if known else ''}"
        remedy = "ask the owner for the fingerprint, and whether this run is theirs"
        raise BadInput(what, where="--owner-key", remedy=remedy)


def _verify_models(ticket: Round, manifest: Manifest, tell: Tell) -> None:
    """Checks the base model and the final models that were trained with this ticket.

    Models of an earlier ticket may be there until the next training; they are only listed.
    """
    config = load_train_config(Path(ticket.files["config"].path))
    if base_sha256(config.base_model) != ticket.base_model:
        raise BadInput("is not the model that the rounds measured", where=config.base_model, remedy=_RESTORE)
    current = 0
    trained = [folder for folder in sorted(GATED_CHECKPOINTS.glob(f"**/{FINAL_MODEL}")) if (folder / COMPLETE).exists()]
    earlier = manifest.earlier(TICKET)
    for folder in trained:
        if sealed_ticket(folder) in earlier:
            tell(f"{folder}: trained with an earlier ticket, so nothing is verified about it")
        else:
            verify_final_model(folder)
            current += 1
            if early := ended_early(folder):
                tell(f"{folder}: its engine, a class of the user, ended the run: {early}")
    tell(f"models: the base model, and {current} trained with this ticket")


def _verify_artifact(entry: Entry, fingerprints: Fingerprints) -> None:
    if entry.kind == "file" and entry.path.endswith(PAGE_SUFFIXES):
        raise BadInput("is a page, and neither a round nor a run records pages", where=entry.path, remedy=_RESTORE)
    if entry.kind == "withdrawn" and Path(entry.path).exists():
        raise BadInput("was withdrawn, and is back", where=entry.path, remedy="remove it, or run both rounds again")
    if entry.kind == "file":
        try:
            now = fingerprints.of(entry.path)
        except BadInput as error:
            raise BadInput(f"{error.what}; it was recorded {entry.at}", where=entry.path, remedy=_RESTORE) from None
        if now != entry.digest:
            raise BadInput(f"has changed since it was recorded {entry.at}", where=entry.path, remedy=_RESTORE)


def measure_again(rounds: list[Round], tell: Tell) -> None:
    """Measures the gates again, as far as files show them, and compares the results with the reports."""
    with TemporaryDirectory() as folder, rare_collections():
        file_gates: dict[str, list[Finding]] = {}
        for report in rounds:
            again, context = measure_round_again(report, Path(folder), file_gates)
            _compare_ambers(report, context)
            _compare(report, again)
            _compare_figures(context)
            tell(f"{report.round}: every gate measured again from the evidence, with the same values")


def measure_round_again(
    report: Round, work: Path, file_gates: dict[str, list[Finding]]
) -> tuple[list[Finding], RoundContext]:
    """Measures the gates of a round again, as far as files show them; nothing is scored.

    Returns the findings and their context. Measurements are written to `work`. `file_gates`: findings of the file gates
    by profile; those of this profile are added if they are not there.
    """
    number = 1 if report.round == "round1" else 2
    context = round_context(load_profile(report.profile), number)
    (work / "ledgers").mkdir(exist_ok=True)
    then = work / "ledgers" / f"round{number}.jsonl"  # the ledger as it was at the time of the round
    with open(context.ledger, "rb") as handle, open(then, "wb") as copy:
        copy.writelines(islice(handle, report.ledger.lines))
    context = replace(context, ledger=then, work=work)
    if report.profile not in file_gates:
        file_gates[report.profile] = _measure_file_gates(context)
    return [*file_gates[report.profile], *_measure_live_gates(report, context)], context


def _measure_file_gates(context: RoundContext) -> list[Finding]:
    """The findings of the gates that depend on files alone. The pool takes as long as all others together, so another
    process measures those meanwhile."""
    # Importing the gates takes seconds, and plain verification does not need them.
    from .rounds import FILE_GATES

    if usable_cores(most=2) == 1:
        return measure(FILE_GATES, context)
    with ProcessPoolExecutor(1) as other:
        rest = other.submit(_measure_named, [name for name in FILE_GATES if name != "pool"], context)
        findings = measure({"pool": FILE_GATES["pool"]}, context)
        more, reads = rest.result()
    for path, digests in reads.items():
        for digest in digests:
            note_read(Path(path), digest)
    return findings + more


def _measure_named(names: list[str], context: RoundContext) -> tuple[list[Finding], dict[str, set[str]]]:
    """Findings of these gates, and the files that this process has read."""
    from .rounds import FILE_GATES

    return measure({name: FILE_GATES[name] for name in names}, context), all_reads()


def _measure_live_gates(report: Round, context: RoundContext) -> list[Finding]:
    """The findings of the gates of live scoring, as far as files show them afterwards."""
    from .checks.judge import judge_findings
    from .checks.scoring import fresh_findings, ledger_findings

    provider = report.environment.get("SCORER_PROVIDER", "")
    gates = {
        "fresh": fresh_findings,
        "scoring": lambda given: ledger_findings(given, provider),
        "judge": judge_findings,
    }
    return measure({name: gate for name, gate in gates.items() if name not in report.unmeasured}, context)


def _compare(report: Round, again: list[Finding]) -> None:
    """Compares the checks of a report with those that were measured again."""
    unmeasured = report.unmeasured & set(INTEGRITY)  # gates without scores, because the judge did not answer
    compared = [one for one in report.findings if not is_momentary(one) and one.gate not in unmeasured]
    stated = {(one.gate, one.name): one for one in compared}
    for one in again:
        before = stated.pop((one.gate, one.name), None)
        if before is None or not _is_same_outcome(before, one):
            said = "nothing" if before is None else f"{before.value} {before.rule} {before.threshold}"
            gives = f"{one.value} {one.rule} {one.threshold}"
            what = f"{one.gate}: {one.name} says {said}, and the evidence gives {gives}"
            raise BadInput(what, where=report.round, remedy=_NOT_THIS_EVIDENCE)
    if stated:
        gate, name = next(iter(stated))
        what = f"{gate}: {name} is in the report, and the evidence gives no such check"
        raise BadInput(what, where=report.round, remedy=_NOT_THIS_EVIDENCE)


def _compare_figures(context: RoundContext) -> None:
    """Compares the figures that the RC1 report shows with those that were measured again (`context.work`)."""
    stored = round_context(context.profile, context.round)
    for gate in GATES:
        before, now = measured_file(stored, gate), measured_file(context, gate)
        if not before.exists() and not now.exists():
            continue
        said, measured = (read_json(one, _NOT_THIS_EVIDENCE) if one.exists() else {} for one in (before, now))
        if not is_close([said.get("checks"), said.get("figures")], [measured.get("checks"), measured.get("figures")]):
            what = f"{gate}: its figures are not what the evidence gives"
            raise BadInput(what, where=str(before), remedy=_NOT_THIS_EVIDENCE)


def _compare_ambers(report: Round, context: RoundContext) -> None:
    """Compares the ambers of a report with those that follow from the evidence."""
    now = [one.fact.name for one in ambers_now(report, context)]
    stated = [one.name for one in report.ambers]
    if now != stated:
        what = f"its ambers are {', '.join(stated) or 'none'}, and the evidence gives {', '.join(now) or 'none'}"
        raise BadInput(what, where=report.round, remedy=_NOT_THIS_EVIDENCE)


def ambers_now(report: Round, context: RoundContext) -> list[Amber]:
    """The ambers that the evidence of a round gives now."""
    from .ambers import profile_ambers, round_ambers  # slow to import, and plain verification does not need it

    return profile_ambers(context.profile) if "judge" in report.unmeasured else round_ambers(context)


def is_momentary(one: Finding) -> bool:
    """Whether a check cannot be repeated from files: free space, environment, the report of round 1."""
    return one.gate in MOMENTARY or (one.gate == "scoring" and one.name.split("[")[0] in _ENVIRONMENT_CHECKS)


def _is_same_outcome(one: Finding, other: Finding) -> bool:
    if one.value is None or other.value is None:
        same = one.value == other.value
    else:
        same = isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-9)
    return same and (one.rule, one.threshold, one.passed) == (other.rule, other.threshold, other.passed)
