"""The SYNC packet lists produced artifacts with their SHA-256 and asks for missing ones; the sides are settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from src.core.files import sha256_file
from tests.conftest import Askgate

SEED_004 = {"from", "round", "need_from_gemini", "artifacts_produced", "risks_blockers", "notes"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def packet(askgate: Askgate, *arguments: str) -> dict[str, object]:
    shown = askgate("sync", "--json", *arguments)
    assert shown.code == 0, shown.err
    found: dict[str, object] = json.loads(shown.out)
    return found


def test_the_packet_has_the_agreed_form(askgate: Askgate) -> None:
    found = packet(askgate)
    assert set(found) == SEED_004
    assert (found["from"], found["round"]) == ("cursor", 1)
    assert str(found["risks_blockers"]).startswith("['16 of 16 stages are not done, from: ")
    assert json.loads(Path("reports/sync/round_001.json").read_text()) == found
    needed = found["need_from_gemini"]
    assert isinstance(needed, list)
    assert all({"name", "path", "desc"} == set(one) for one in needed)
    assert packet(askgate)["round"] == 2
    assert packet(askgate, "--round", "7")["round"] == 7
    assert packet(askgate)["round"] == 8


def test_an_existing_artifact_is_listed_with_its_checksum(askgate: Askgate) -> None:
    path = Path("data/rollouts/rc1_seed.balanced.jsonl")
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    found = json.dumps(packet(askgate))
    produced, needed = json.loads(found)["artifacts_produced"], json.loads(found)["need_from_gemini"]
    assert {"name": "difficulty_balanced_seed", "path": str(path), "desc": "按 Easy/Med/Hard 配比",
            "sha256": sha256_file(path)} in produced  # fmt: skip
    assert "difficulty_balanced_seed" not in {one["name"] for one in needed}
    assert "template_pack_v2" in {one["name"] for one in produced}
    assert "round2_pass" in {one["name"] for one in needed}


def test_the_names_of_the_sides_are_settings(askgate: Askgate) -> None:
    Path("configs").mkdir()
    one = {"name": "a", "path": "a.txt", "desc": "x"}
    Path("configs/sync.yaml").write_text(yaml.safe_dump({"from": "north", "to": "south", "artifacts": [one]}))
    found = packet(askgate)
    assert found["from"] == "north"
    assert found["need_from_south"] == [one]


def test_an_error_names_the_wrong_setting(askgate: Askgate) -> None:
    Path("configs").mkdir()
    Path("configs/sync.yaml").write_text("from: north\nto: south\nartifacts: []\n")
    shown = askgate("sync")
    assert shown.code == 2
    assert "artifacts" in shown.err
