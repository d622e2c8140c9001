"""A gate fails when a value is missing or unclear, and its report contains the evidence."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import pytest

from src import __version__
from src.core.check import Check, Rule, check, evidence, now, report


def gate(value: float, rule: Rule = ">=", threshold: float = 0.6) -> Check:
    return check("distinct2", value, rule, threshold, "use more templates", "增加模板")


@pytest.mark.parametrize(
    ("value", "rule", "passed"),
    [
        (0.6, ">=", True),
        (0.5999, ">=", False),
        (0.6, "<=", True),
        (0.6001, "<=", False),
        (0.6, ">", False),
        (0.7, ">", True),
        (0.6, "<", False),
        (0.5, "<", True),
        (0.6, "==", True),
        (0.61, "==", False),
    ],
)
def test_the_rule_decides(value: float, rule: Rule, passed: bool) -> None:
    assert gate(value, rule).passed is passed


@pytest.mark.parametrize("rule", [">=", "<=", ">", "<", "=="])
def test_nan_passes_no_check(rule: Rule) -> None:
    assert not gate(math.nan, rule).passed


def test_one_failed_check_fails_the_report() -> None:
    proof = evidence([], [], {}, now())
    assert report("stage", [gate(0.7), gate(0.8)], {}, proof).passed
    assert not report("stage", [gate(0.7), gate(0.1)], {}, proof).passed


def test_a_report_without_a_check_has_not_passed() -> None:
    assert not report("stage", [], {}, evidence([], [], {}, now())).passed


def test_evidence_names_inputs_outputs_and_version(tmp_path: Path) -> None:
    read, written = tmp_path / "in.jsonl", tmp_path / "out.json"
    read.write_bytes(b"in")
    written.write_bytes(b"out")
    started = now()
    proof = evidence([read], [written], {"n": 3}, started)
    assert proof.inputs == {str(read): hashlib.sha256(b"in").hexdigest()}
    assert proof.outputs == {str(written): hashlib.sha256(b"out").hexdigest()}
    assert proof.arguments == {"n": 3}
    assert proof.version == __version__
    assert proof.started == started <= proof.ended
