"""Attacks with a judge that is none: random marks, and a stub under a provider's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from src.core.errors import BadInput
from src.gates.admission import admit
from src.gates.anti_simulation import assert_not_simulated
from src.gates.rounds import run_round
from src.gates.ticket import REFUSAL, TICKET, read_round, verify_judge
from src.gates.verify import verify as verify_evidence
from src.scoring.ledger import Ledger, lines, verify
from src.scoring.types import CallEntry
from tests.gates.run_folder import PROFILE, current_context, judging
from tests.poison.test_judge_poisons import any_of_5_to_8, as_in_rc1, once_in_twenty_an_8
from tests.release.packing import silent
from tests.scoring.server import Scores

CONFIG = Path("configs/quickstart_gated.yaml")


@pytest.mark.parametrize("scores", [any_of_5_to_8, once_in_twenty_an_8])
def test_random_scores_get_no_ticket_under_the_rc1_thresholds(run: Path, scores: Scores) -> None:
    as_in_rc1()
    TICKET.unlink()
    with judging(scores) as environment:
        report, path = run_round(2, PROFILE, environment, silent, lambda done: None)
    assert (report.exit_code, path) == (2, REFUSAL)
    assert {"judge_noise", "canaries_fooled"} <= {one.name for one in report.failed if one.gate == "judge"}


def test_a_stub_under_the_name_of_openai_scores_nothing(run: Path) -> None:
    default = Path("configs/default.yaml")
    found: dict[str, Any] = yaml.safe_load(default.read_text(encoding="utf-8"))
    with judging() as environment:
        found["scoring"]["providers"]["openai"]["base_url"] = environment.pop("SCORER_BASE_URL")
        default.write_text(yaml.safe_dump(found), encoding="utf-8")
        with pytest.raises(BadInput, match=r"the name openai stands for api\.openai\.com"):
            run_round(1, PROFILE, {**environment, "SCORER_PROVIDER": "openai"}, silent, lambda done: None)
    assert TICKET.exists()


def renamed(name: str) -> Path:
    """The run's ledger with its first calls under another provider's name, and a valid chain."""
    path = current_context().ledger
    entries = [line.entry for line in lines(path)]
    path.unlink()
    Ledger(path).append(
        [
            replace(one, provider=name) if place < 30 and isinstance(one, CallEntry) else one
            for place, one in enumerate(entries)
        ]
    )
    return path


def test_a_stubs_calls_under_the_name_of_openai_are_refused(run: Path) -> None:
    """Also where they are older than the newest 100 scorings: weights follow from them."""
    ledger = renamed("openai")
    forged = replace(read_round(TICKET), ledger=verify(ledger))
    with pytest.raises(BadInput, match=r"calls to 127\.0\.0\.1:\d+ under the name openai"):
        verify_judge(ledger, forged)
    with judging() as environment:
        failed = {one.name for one in assert_not_simulated(0.95, environment, PROFILE).checks if not one.passed}
    assert "calls_at_another_address" in failed


def test_a_ticket_that_names_another_server_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticket, ledger = read_round(TICKET), current_context().ledger
    verify_judge(ledger, ticket)
    assert admit(CONFIG).profile == PROFILE
    verify_evidence(False, print)
    assert f"judge: custom at {ticket.judge_server}" in capsys.readouterr().out
    assert ticket.judge_server.startswith("127.0.0.1:")
    with pytest.raises(
        BadInput, match=r"names judge server api\.openai\.com:443, but the last call in the ledger went to 127\.0\.0\.1"
    ):
        verify_judge(ledger, replace(ticket, judge_server="api.openai.com:443"))


def test_the_ledger_names_host_and_port_and_no_path(run: Path) -> None:
    calls = [line.entry for line in lines(current_context().ledger) if isinstance(line.entry, CallEntry)]
    assert calls
    assert all(call.server.startswith("127.0.0.1:") and "/" not in call.server for call in calls)
