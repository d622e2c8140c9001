"""A round as an in-toto test-result statement, which tools that know nothing of AskGate can read.

A folder's digest is in-toto's `dirHash`: `find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..checkpoint.seal import read_seal
from ..core.files import shipped
from ..gates.finding import Finding
from ..gates.report import Print, Round
from ..gates.signoff import STATEMENT

TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"


def statement(report: Round, models: Sequence[str]) -> dict[str, Any]:
    """Subject: what the round measured, and the weights that were trained behind it, in these sealed folders."""
    measured = [_resource(printed) for printed in report.files.values()]
    trained = [
        {"name": f"{folder}/{name}", "digest": {"sha256": filed.sha256}}
        for folder in models
        for name, filed in read_seal(Path(folder)).files.items()
        if name.endswith(".safetensors")
    ]
    used = {"round": report.round, "profile": report.profile, "askgate": report.version}
    return {
        "_type": STATEMENT,
        "subject": [*measured, *trained],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "PASSED" if report.passed else "FAILED",
            "configuration": [{**_resource(report.files["profile"]), "annotations": used}],
            "passedTests": [_name(one) for one in report.findings if one.passed],
            "failedTests": [_name(one) for one in report.failed],
        },
    }


def lines(rounds: Sequence[Round], models: Sequence[str]) -> bytes:
    """One statement a line. The same rounds give the same bytes, so whoever has the rounds can check them."""
    return b"".join(msgspec.json.encode(statement(one, models)) + b"\n" for one in rounds)


def _name(finding: Finding) -> str:
    return f"{finding.gate}/{finding.name}"


def _resource(printed: Print) -> dict[str, Any]:
    kind = "dirHash" if shipped(Path(printed.path)).is_dir() else "sha256"
    return {"name": printed.path, "digest": {kind: printed.sha256}}
