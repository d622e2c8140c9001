"""Mistakes and attacks around a round: no passed round is withdrawn for one that cannot pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from src.config.loader import read_yaml
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.gates.gate import PREFLIGHT, Finding
from src.gates.manifest import Manifest
from src.gates.readmit import readmit
from src.gates.rounds import run_round
from src.gates.ticket import ROUND1, TICKET, admit, read_round
from src.gates.verify import verify
from tests.gates.run_folder import judging
from tests.release.packing import silent
from tests.scoring.server import JudgeServer

CONFIG = Path("configs/quickstart_gated.yaml")
JUDGE = {
    "RUN_MODE": "prod",
    "REWARD_LIVE_MODE": "1",
    "SCORER_PROVIDER": "custom",
    "SCORER_BASE_URL": "http://127.0.0.1:9/v1",
}


def refused(number: int, profile: str, environment: dict[str, str], why: str) -> None:
    """The round is refused, and nothing of the rounds that passed is lost."""
    with pytest.raises(BadInput, match=why):
        run_round(number, profile, environment, silent, lambda progress: None)
    assert [one.passed for one in verify(False, silent)] == [True, True]


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_of_another_profile_leaves_the_ticket(run: Path, number: int) -> None:
    refused(number, "rc1", JUDGE, "would withdraw it.*--replace quickstart")
    assert admit(CONFIG).profile == "quickstart"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"REWARD_LIVE_MODE": "0"}, "set REWARD_LIVE_MODE=1"),
        ({"RUN_MODE": ""}, "set RUN_MODE=prod"),
        ({"SCORER_PROVIDER": "another", "SCORER_MODEL": "tiny"}, "last score is by custom, and the judge is another"),
    ],
)
def test_a_round_in_a_wrong_environment_leaves_the_ticket(run: Path, change: dict[str, str], why: str) -> None:
    refused(2, "quickstart", JUDGE | change, why)


def test_a_round_whose_judge_refuses_the_key_leaves_the_ticket(run: Path) -> None:
    with JudgeServer(lambda n: "401") as server:
        refused(1, "quickstart", JUDGE | {"SCORER_BASE_URL": server.url}, "401")
    assert admit(CONFIG).profile == "quickstart"


def test_a_second_round_without_its_first_leaves_the_ticket(run: Path) -> None:
    kept = ROUND1.read_bytes()
    ROUND1.unlink()
    with pytest.raises(BadInput, match=r"the round cannot pass.*no report of round 1"):
        run_round(2, "quickstart", JUDGE, silent, lambda progress: None)
    ROUND1.write_bytes(kept)
    assert admit(CONFIG).profile == "quickstart"


def test_a_round_without_its_files_leaves_the_ticket(run: Path) -> None:
    Path("data/rollouts/quickstart.jsonl").rename("elsewhere.jsonl")
    with pytest.raises(BadInput, match="no such file, so the round cannot pass"):
        run_round(1, "quickstart", JUDGE, silent, lambda progress: None)
    Path("elsewhere.jsonl").rename("data/rollouts/quickstart.jsonl")
    assert admit(CONFIG).profile == "quickstart"


def test_an_unreadable_ticket_does_not_block_the_rounds(run: Path) -> None:
    TICKET.write_text("{}")
    with judging() as environment:
        report, path = run_round(1, "quickstart", environment, silent, lambda progress: None)
    assert report.passed
    assert path == ROUND1
    assert not TICKET.exists()


def test_a_replaced_profile_leaves_nothing_that_verify_misses(run: Path) -> None:
    """A quickstart gives way to rc1 in the same folder: its sign-offs are withdrawn with its reports."""
    signed = PREFLIGHT / "amber_canaries_fooled.json"
    signed.write_text("{}")
    Manifest().record([signed])
    own = read_yaml(Path("configs/gates/quickstart.yaml"))
    Path("configs/gates/rc1.yaml").write_text(yaml.safe_dump({**own, "name": "rc1"}), encoding="utf-8")
    with judging() as environment:
        run_round(1, "rc1", environment, silent, lambda progress: None, replaces="quickstart")
    assert [one.profile for one in verify(False, silent)] == ["rc1"]
    assert not signed.exists()


NEW = "1" * 64


@pytest.fixture
def updated(run: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """AskGate's code has changed since the rounds. Returns the SHA-256 of the old code."""
    for module in ("ticket", "rounds", "readmit", "verify"):
        monkeypatch.setattr(f"src.gates.{module}.code_sha256", lambda: NEW)
    return read_round(TICKET).code


def test_a_ticket_is_renewed_after_an_update_without_a_judge(updated: str) -> None:
    with pytest.raises(BadInput, match="code or templates have changed") as caught:
        admit(CONFIG)
    assert "round --readmit" in caught.value.remedy
    ledger, old = read_round(TICKET).ledger, read_round(TICKET)
    told: list[str] = []
    report, path = readmit(told.append)
    assert path == TICKET
    assert (report.code, report.earlier_code, report.ledger) == (NEW, (updated,), ledger)
    assert report.fresh_seed == old.fresh_seed
    assert {(one.gate, one.name) for one in report.findings} == {(one.gate, one.name) for one in old.findings}
    assert any(updated[:12] in line and NEW[:12] in line for line in told)
    assert admit(CONFIG).earlier_code == (updated,)
    verify(True, silent)
    with pytest.raises(BadInput, match="was issued with this very code"):
        readmit(silent)


def test_an_update_that_fails_a_gate_leaves_the_old_ticket(updated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_penalty(needs: bool, asks: int) -> float:
        return 0.5 * asks

    monkeypatch.setattr("src.gates.checks.penalty.over_clarification_penalty", other_penalty)
    before = {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()}
    told: list[str] = []
    report, _ = readmit(told.append)
    assert [one.name for one in report.failed] == ["penalty_cases_wrong"]
    assert "round1: penalty: penalty_cases_wrong was 0.0 and is 5 (== 0)" in told
    assert {path: path.read_bytes() for path in Path("reports").rglob("*") if path.is_file()} == before


def test_a_ticket_with_edited_evidence_is_not_renewed(updated: str) -> None:
    file = Path("configs/weights.json")
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(BadInput, match="has changed since"):
        readmit(silent)


def test_a_ticket_that_results_stand_on_is_not_renewed(updated: str) -> None:
    Path("reports/ppo_eval_own.json").write_text(f'{{"ticket": "{sha256_file(TICKET)}"}}')
    with pytest.raises(BadInput, match=r"ppo_eval_own\.json was trained behind it"):
        readmit(silent)


def test_a_passed_row_leaves_no_gate_out_of_a_deep_verification(run: Path) -> None:
    ticket = read_round(TICKET)
    invented = Finding("judge", "measured", 1.0, "==", 1.0, True, "", "", {})
    assert replace(ticket, findings=[*ticket.findings, invented]).unmeasured == set()
    assert replace(ticket, findings=[*ticket.findings, replace(invented, passed=False)]).unmeasured == {"judge"}
