"""The SYNC packet lists produced artifacts with their SHA-256 and asks for missing ones; the sides are settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from src.core.check import Check
from src.core.files import sha256_file
from src.loop.lights import Light
from src.loop.sync import SyncSettings
from src.loop.sync import packet as packet_of
from src.runtime.language import VARIABLE
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
    found = json.dumps(packet(askgate, "--profile", "rc1"))
    produced, needed = json.loads(found)["artifacts_produced"], json.loads(found)["need_from_gemini"]
    assert {"name": "difficulty_balanced_seed", "path": str(path), "desc": "按 Easy/Med/Hard 配比",
            "sha256": sha256_file(path)} in produced  # fmt: skip
    assert "difficulty_balanced_seed" not in {one["name"] for one in needed}
    assert "template_pack_v2" in {one["name"] for one in produced}
    assert "round2_pass" in {one["name"] for one in needed}


def test_the_paths_are_those_of_the_profile(askgate: Askgate) -> None:
    asked = json.dumps(packet(askgate, "--profile", "quickstart")["need_from_gemini"])
    assert "data/rollouts/quickstart.balanced.jsonl" in asked
    assert "reports/shadow_run_quickstart.json" in asked
    assert "rc1_seed" not in asked


def test_an_unknown_path_of_the_profile_is_named(askgate: Askgate) -> None:
    Path("configs").mkdir()
    one = {"name": "a", "path": "{no_such}", "desc": "x"}
    Path("configs/sync.yaml").write_text(yaml.safe_dump({"from": "north", "to": "south", "artifacts": [one]}))
    shown = askgate("sync")
    assert shown.code == 2
    assert "no_such" in shown.err


def test_ambers_are_risks_signed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [Check(name, 0.7, "<=", 0.25, False, "", "") for name in ("canaries_fooled", "judge_auc")]
    signed = {"judge_auc": "Ada (not used)"}
    light = Light("round2", "Round 2", "第二轮", "amber", "", known, "", signed)
    settings = SyncSettings.model_validate(
        {"from": "north", "to": "south", "artifacts": [{"name": "a", "path": "a.txt", "desc": "x"}]}
    )
    risks = packet_of(settings, 1, [light, light], "next")["risks_blockers"]
    assert risks == [
        "amber: worthless answers fool the judge [canaries_fooled], not signed off",
        "amber: the judge cannot tell success from failure [judge_auc], signed off by Ada (not used)",
    ]
    monkeypatch.setenv(VARIABLE, "zh")
    risks = packet_of(settings, 1, [light], "next")["risks_blockers"]
    assert risks[1] == "黄灯：评委分不出成功与失败 [judge_auc]，Ada (not used) 已签字"


def test_the_notes_are_in_the_language_in_use(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no run in" in str(packet(askgate)["notes"])
    monkeypatch.setenv(VARIABLE, "zh")
    assert "中没有运行" in str(packet(askgate)["notes"])


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
