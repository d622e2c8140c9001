"""`askgate doctor` says what this machine has and lacks, and what to type."""

from __future__ import annotations

import json
from collections import namedtuple

import pytest

from src.cli import doctor
from tests.conftest import Askgate

Usage = namedtuple("Usage", "total used free")


def findings(askgate: Askgate) -> tuple[object, dict[str, dict[str, object]]]:
    done = askgate("doctor", "--json")
    return done.code, {one["what"]: one for one in json.loads(done.out)}


def test_a_machine_that_can_run_the_tests_is_ready(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCORER_PROVIDER", raising=False)
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(0, 0, 100 * 2**30))
    code, found = findings(askgate)
    assert {"Python", "torch", "transformers", "memory", "GPU", "disk", "judge"} <= set(found)
    assert all(one["ok"] for one in found.values()), found
    assert code == 0
    said = askgate("doctor").out
    assert "-> ready: askgate demo" in said
    assert "askgate train --model MODEL --data my.jsonl" in said


def test_an_installation_without_torch_is_no_failure(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCORER_PROVIDER", raising=False)
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(0, 0, 100 * 2**30))
    monkeypatch.setattr(doctor, "_version", lambda name: "")
    done = askgate("doctor")
    assert done.code == 0
    assert "-> to train: pip install 'askgate[train]'" in done.out


def test_what_is_missing_is_named_with_what_to_type(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_PROVIDER", "openai")
    monkeypatch.delenv("SCORER_API_KEY", raising=False)
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(0, 0, 2**30))
    monkeypatch.setattr(doctor, "MIN_PYTHON", (9, 9))
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name in ("xllamacpp", "bitsandbytes") else "1.0")
    code, found = findings(askgate)
    assert code == 2
    missing = {what: one["type_this"] for what, one in found.items() if not one["ok"]}
    assert missing == {
        "Python": "install Python 9.9 or later",
        "xllamacpp": "pip install 'askgate[train]'",
        "disk": "free 5 GB on the disk of this folder",
        "judge": "set it to your key",
    }
    assert found["bitsandbytes"]["type_this"] == "only for QLoRA: pip install 'askgate[gpu]'"
