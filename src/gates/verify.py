"""All evidence of a run folder checked again from its files alone. The first thing that does not fit is named.

Plain: every byte is what it was when it was measured. Deep: the gates are derived again, and must come out as they did;
that catches whoever rewrote files, sums and reports together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ..config.profile import load_profile
from ..core.errors import BadInput
from ..scoring.ledger import Head
from .manifest import Entry, Manifest
from .prove import Sums, prove, prove_ledger
from .report import REFUSAL, ROUND1, TICKET, Round
from .signoff import ENVELOPE, require_signature

_RESTORE = "put the file back as it was; where it was changed on purpose, run its stage and both rounds again"


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
        # What derives the gates takes seconds to import, and a plain look takes less than one.
        from .deep import derive_again

        derive_again(rounds, tell)
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
