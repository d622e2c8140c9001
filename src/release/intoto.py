"""A round as an in-toto test-result statement, which tools that know nothing of AskGate can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..gates.finding import Finding
from ..gates.report import Round
from ..gates.signoff import STATEMENT

TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"


def statement(report: Round, models: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Subject: the files that the round measured, and the models that were trained behind it (name, SHA-256)."""
    files = [(printed.path, printed.sha256) for printed in report.files.values()]
    passed = [_name(one) for one in report.findings if one.passed]
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sum_}} for name, sum_ in [*files, *models]],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "PASSED" if report.passed else "FAILED",
            "configuration": [{"name": f"askgate/{report.version}/{report.round}/{report.profile}"}],
            "passedTests": passed,
            "failedTests": [_name(one) for one in report.failed],
        },
    }


def lines(rounds: Sequence[Round], models: Sequence[tuple[str, str]]) -> bytes:
    """One statement a line. The same rounds give the same bytes, so whoever has the rounds can check them."""
    return b"".join(msgspec.json.encode(statement(one, models)) + b"\n" for one in rounds)


def _name(finding: Finding) -> str:
    return f"{finding.gate}/{finding.name}"
