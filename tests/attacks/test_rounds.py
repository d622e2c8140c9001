"""Mistakes and attacks around a round: no passed round is withdrawn for one that cannot pass."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from src.config.loader import read_yaml
from src.core.errors import BadInput
from src.gates.gate import PREFLIGHT
from src.gates.manifest import Manifest
from src.gates.rounds import run_round
from src.gates.ticket import ROUND1, TICKET, admit
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
