"""All evidence of a run folder checked again from its files alone. The first thing that does not fit is named.

Plain: every byte is what it was when it was measured. Deep: the gates are derived again, and must come out as they did;
that catches whoever rewrote files, sums and reports together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.errors import BadInput
from ..scoring.chain import Head
from .finding import Finding
from .look import Look, look_at
from .manifest import Entry, Manifest
from .measure import STORED, measured, of_round_again
from .profile import load_profile
from .prove import Sums, prove, prove_ledger
from .report import REFUSAL, ROUND1, TICKET, Round
from .scoring import first_lines
from .signoff import ENVELOPE, require_signature

_RESTORE = "put the file back as it was; where it was changed on purpose, run its stage and both rounds again"
_NOW_ONLY = {"disk", "round1"}
"""Gates of the moment: what the disk had free then is not in any file."""
_ENVIRONMENT = {"run_mode_is_prod", "live_mode_is_on", "simulate"}


def verify(deep: bool, tell: Callable[[str], None], signed: bool = True) -> list[Round]:
    """The rounds that hold. Raises BadInput at the first thing that does not.

    `signed`: false for whoever is about to sign.
    """
    manifest = Manifest()
    manifest.refuse_future()
    artifacts = manifest.newest()
    tell(f"manifest: {len(manifest.entries)} lines, run {manifest.run[:12]}")
    sums = Sums()
    for entry in artifacts.values():
        _still_there(entry, sums)
    tell(f"artifacts: {sum(one.kind == 'file' for one in artifacts.values())} as they were recorded")
    for ledger, heads in _ledgers(manifest.entries).items():
        prove_ledger(Path(ledger), heads)
        tell(f"{ledger}: chain whole, and it goes through all {len(heads)} heads on record")
    rounds = [prove(path, manifest, sums) for path in (ROUND1, TICKET, REFUSAL) if path.exists()]
    if not rounds:
        raise BadInput("no round has been run", where=str(ROUND1), remedy="run `askgate round --round 1`")
    for report in rounds:
        tell(f"{report.round} ({report.profile}): {len(report.findings)} checks, {len(report.failed)} failed")
    ticket = next((one for one in rounds if one.round == "round2" and one.passed), None)
    if ticket and signed:
        require_signature(TICKET, ticket, load_profile(ticket.profile))
        tell(f"ticket: holds{', signed' if ENVELOPE.exists() else ''}")
    if deep:
        _derive_again(rounds, tell)
    return rounds


def _still_there(entry: Entry, sums: Sums) -> None:
    if entry.kind == "withdrawn" and Path(entry.path).exists():
        raise BadInput("was withdrawn, and is back", where=entry.path, remedy="remove it, or run both rounds again")
    if entry.kind == "file":
        try:
            now = sums.of(entry.path)
        except BadInput as error:
            raise BadInput(f"{error.what}; it was recorded {entry.at}", where=entry.path, remedy=_RESTORE) from None
        if now != entry.sha256:
            raise BadInput(f"has changed since it was recorded {entry.at}", where=entry.path, remedy=_RESTORE)


def _ledgers(entries: Iterable[Entry]) -> dict[str, list[Head]]:
    out: dict[str, list[Head]] = {}
    for entry in entries:
        if entry.kind == "ledger":
            out.setdefault(entry.path, []).append(Head(entry.lines, entry.sha256))
    return out


def _derive_again(rounds: list[Round], tell: Callable[[str], None]) -> None:
    with TemporaryDirectory() as folder:
        stored: dict[str, list[Finding]] = {}
        for report in rounds:
            number = 1 if report.round == "round1" else 2
            profile = load_profile(report.profile)
            look = look_at(profile, number)
            ledger = first_lines(look.ledger, report.ledger.lines, Path(folder) / f"ledger{number}.jsonl")
            look = replace(look, ledger=ledger, work=Path(folder))
            if report.profile not in stored:
                stored[report.profile] = measured(STORED, look)
            _compare(report, [*stored[report.profile], *_of_round(report, look)])
            tell(f"{report.round}: derived again from the evidence, every value as it was written")


def _of_round(report: Round, look: Look) -> list[Finding]:
    gates = of_round_again(report.environment.get("SCORER_PROVIDER", ""))
    if report.fresh_seed is None:
        del gates["fresh"]
    return measured(gates, look)


def _compare(report: Round, again: list[Finding]) -> None:
    wanted = {(one.gate, one.name): one for one in report.findings if not _of_the_moment(one)}
    if report.fresh_seed is None:
        wanted = {key: one for key, one in wanted.items() if key[0] != "fresh"}
    for one in again:
        stated = wanted.pop((one.gate, one.name), None)
        if stated is None or not _same(stated, one):
            said = "nothing" if stated is None else f"{stated.value} {stated.rule} {stated.threshold}"
            raise BadInput(
                f"{one.gate}: {one.name} says {said}, and the evidence gives {one.value} {one.rule} {one.threshold}",
                where=report.round,
                remedy="the report was not measured on this evidence; run both rounds again",
            )
    if wanted:
        gate, name = next(iter(wanted))
        raise BadInput(
            f"{gate}: {name} is in the report, and the evidence gives no such check",
            where=report.round,
            remedy="the report was not measured on this evidence; run both rounds again",
        )


def _of_the_moment(one: Finding) -> bool:
    return one.gate in _NOW_ONLY or (one.gate == "scoring" and one.name.split("[")[0] in _ENVIRONMENT)


def _same(one: Finding, other: Finding) -> bool:
    if (one.rule, one.threshold, one.passed) != (other.rule, other.threshold, other.passed):
        return False
    if one.value is None or other.value is None:
        return one.value == other.value
    return isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-9)
