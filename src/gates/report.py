"""The report of a round. That of a passed second round is the ticket."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ..core.errors import BadInput
from ..core.files import read_json
from ..core.types import Record
from ..scoring.ledger import Head
from .finding import INTEGRITY, MEASURED, Finding
from .look import PREFLIGHT

ROUND1 = PREFLIGHT / "round1.json"
TICKET = PREFLIGHT / "round2_pass.json"
REFUSAL = PREFLIGHT / "round2_fail.json"
RUN_BOTH = "run `askgate round --round 1` and then `askgate round --round 2`; nobody writes this file by hand"


class Print(Record, frozen=True):
    path: str
    sha256: str


class Round(Record, frozen=True, rename={"passed": "pass"}):
    round: Literal["round1", "round2"]
    ts: str
    """When it ended."""
    passed: bool
    profile: str
    started: str
    version: str
    run: str
    """The run folder that it belongs to: the name in the first line of the manifest."""
    after: str
    """The last line of the manifest before this round, by its hash."""
    files: dict[str, Print]
    """By role: pool, metrics, balanced, shadow_set, weights, config, templates, ..."""
    ledger: Head
    findings: list[Finding]
    environment: dict[str, str]
    """RUN_MODE and the judge."""
    base_model: str = ""
    """SHA-256 of the model whose episodes were measured, and that may be trained."""
    fresh_seed: int | None = None
    """Of the draw of the samples that were scored live."""
    round1_sha256: str = ""
    """Of the report of round 1, in a report of round 2."""
    to_do: tuple[str, ...] = ()
    to_do_zh: tuple[str, ...] = ()

    @property
    def failed(self) -> list[Finding]:
        return [one for one in self.findings if not one.passed]

    @property
    def exit_code(self) -> int:
        """1 where a quality gate failed; 2 where something is not genuine or could not be measured."""
        if self.passed:
            return 0
        return 2 if any(one.gate in INTEGRITY or one.name == MEASURED for one in self.failed) else 1


def read_round(path: Path) -> Round:
    try:
        return msgspec.convert(read_json(path, RUN_BOTH), Round)
    except msgspec.ValidationError as error:
        raise BadInput(f"no round has written this ({error})", where=str(path), remedy=RUN_BOTH) from None
