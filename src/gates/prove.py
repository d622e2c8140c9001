"""Is a report of a round still true of the files as they are now? The first thing that does not fit is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..config.profile import load_profile, profile_path
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import sha256_file
from ..scoring.ledger import Head, lines
from .finding import GATES
from .manifest import Manifest, is_future
from .prints import fingerprint
from .report import RUN_BOTH, Round, read_round

_AGAIN = "run both rounds again on the files as they are, or put the file back as it was"


class Sums:
    """Fingerprints of this moment, each taken once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = fingerprint(Path(path))
        return self._known[path]


def prove(path: Path, manifest: Manifest, sums: Sums) -> Round:
    """Its own bytes, its verdicts, the clock, every file that it was measured on; `prove_ledger` sees to the ledger."""
    report = read_round(path)
    _refuse_stranger(path, report, manifest)
    _refuse_wrong_verdict(path, report)
    _refuse_future(path, report)
    for name, stated in _evidence(report):
        try:
            changed = sums.of(name) != stated
        except BadInput as error:
            raise BadInput(f"{error.what}; {path.name} was measured on it", where=name, remedy=_AGAIN) from None
        if changed:
            raise BadInput(f"has changed since {path.name} was written", where=name, remedy=_AGAIN)
    return report


def prove_ledger(ledger: Path, heads: list[Head]) -> None:
    """The chain is whole, and goes through every head that was written down. It may have grown since."""
    wanted = {head.lines: head.hash for head in heads if head.lines}
    for line in lines(ledger):
        if wanted.pop(line.head.lines, line.head.hash) != line.head.hash:
            raise BadInput(
                "is another ledger than the one that was measured: the line does not have the hash on record",
                where=f"{ledger}:{line.head.lines}",
                remedy="put the ledger back as it was, or score again live and run both rounds again",
            )
    if wanted:
        raise BadInput(
            f"lines are missing at its end: it had {max(wanted)} when it was measured",
            where=str(ledger),
            remedy="put the ledger back as it was, or score again live and run both rounds again",
        )


def _refuse_stranger(path: Path, report: Round, manifest: Manifest) -> None:
    entry = manifest.newest().get(str(path))
    if report.run != manifest.run:
        raise BadInput("belongs to another run, not to this folder", where=str(path), remedy=RUN_BOTH)
    if entry is None or entry.kind != "file":
        raise BadInput(
            f"is not in {manifest.path}: no round of this run wrote it, or it was withdrawn",
            where=str(path),
            remedy=RUN_BOTH,
        )
    if entry.sha256 != sha256_file(path):
        raise BadInput("was changed after the round wrote it", where=str(path), remedy=RUN_BOTH)


def _refuse_wrong_verdict(path: Path, report: Round) -> None:
    """What the file says of itself is reached again from its values."""
    for one in report.findings:
        if one.passed != one.holds:
            raise BadInput(
                f"{one.gate}: {one.name} says {'passed' if one.passed else 'failed'}, and {one.value} {one.rule} "
                f"{one.threshold} does not",
                where=str(path),
                remedy=RUN_BOTH,
            )
    needed = [gate for gate in GATES if gate != "round1" or report.round == "round2"]
    if lacking := [gate for gate in needed if all(one.gate != gate for one in report.findings)]:
        raise BadInput(f"nothing was measured for {', '.join(lacking)}", where=str(path), remedy=RUN_BOTH)
    if report.passed != all(one.passed for one in report.findings):
        raise BadInput("its verdict is not that of its checks", where=str(path), remedy=RUN_BOTH)
    stated = report.files.get("profile")
    if stated is None or stated.path != str(profile_path(load_profile(report.profile).name)):
        raise BadInput(f"does not say which profile {report.profile} it used", where=str(path), remedy=RUN_BOTH)


def _refuse_future(path: Path, report: Round) -> None:
    if is_future(report.ts) or report.started > report.ts:
        raise BadInput(
            f"is of {report.ts}, and the clock says {now()}",
            where=str(path),
            remedy="set the clock right; if it is right, run both rounds again",
        )


def _evidence(report: Round) -> Iterator[tuple[str, str]]:
    yield from ((one.path, one.sha256) for one in report.files.values())
    for one in report.findings:
        yield from one.evidence.items()
