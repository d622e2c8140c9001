"""Mistakes and attacks around a round: nothing that stands is withdrawn for a round that cannot pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.gates.rounds import run_round
from src.gates.ticket import ROUND1, TICKET, admit
from tests.release.packing import silent

CONFIG = Path("configs/quickstart_gated.yaml")
JUDGE = {"REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}


@pytest.mark.parametrize("number", [1, 2])
def test_a_round_of_another_profile_leaves_the_ticket(run: Path, number: int) -> None:
    with pytest.raises(BadInput, match="is of profile quickstart, and a round of rc1 would withdraw it"):
        run_round(number, "rc1", JUDGE, silent, lambda progress: None)
    assert admit(CONFIG).profile == "quickstart"


def test_a_round_without_a_judge_leaves_the_ticket(run: Path) -> None:
    with pytest.raises(BadInput, match="REWARD_LIVE_MODE"):
        run_round(2, "quickstart", {"SCORER_PROVIDER": "local"}, silent, lambda progress: None)
    assert ROUND1.exists()
    assert TICKET.exists()


def test_a_round_without_its_files_leaves_the_ticket(run: Path) -> None:
    Path("data/rollouts/quickstart.jsonl").rename("elsewhere.jsonl")
    with pytest.raises(BadInput, match="no such file, so the round cannot pass"):
        run_round(1, "quickstart", JUDGE, silent, lambda progress: None)
    Path("elsewhere.jsonl").rename("data/rollouts/quickstart.jsonl")
    assert admit(CONFIG).profile == "quickstart"
