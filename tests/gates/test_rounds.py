"""A round measures and never copies a verdict. Round 2 writes a ticket only if round 1 passed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from src.config.profile import load_profile
from src.core.errors import BadInput
from src.gates.admission import admit
from src.gates.gate import GATES, measured_file, round_context
from src.gates.manifest import Manifest
from src.gates.rounds import run_round
from src.gates.ticket import REFUSAL, ROUND1, TICKET, Round, read_round
from src.loop.lights import state_file
from src.loop.profile_loop import last_run, open_loop
from src.runtime.lock import lock_folder
from tests.gates.run_folder import FRESH, PROFILE, judging

CONFIG = Path("configs/quickstart_gated.yaml")

UNPENALIZED = [("config", "use_overclar_penalty"), ("config", "use_overclar_penalty[trial]")]
"""What fails where the config switches the penalty off: the config of the trial extends it."""


def go(number: int, **environment: str) -> Round:
    with judging() as found:
        return run_round(number, PROFILE, {**found, **environment}, print, lambda done: None)[0]


def test_both_reports_have_every_gate_with_its_evidence_and_remedy(run: Path) -> None:
    for path in (ROUND1, TICKET):
        report = read_round(path)
        assert report.passed
        assert [gate for gate in GATES if all(one.gate != gate for one in report.findings)] == (
            ["round1"] if path == ROUND1 else []
        )
        for one in report.findings:
            assert one.evidence or one.gate in ("disk", "penalty")
            assert one.remedy.isascii() or one.name == "measured"
        limit = next(one.threshold for one in report.findings if one.name == "cache_hit_rate")
        assert limit == (0.90 if path == ROUND1 else 0.95)


def test_each_round_scores_its_own_samples(run: Path) -> None:
    drawn = [
        {json.loads(line)["id"] for line in (ROUND1.parent / f"round{number}/fresh_scores.jsonl").open("rb")}
        for number in (1, 2)
    ]
    assert [len(one) for one in drawn] == [FRESH, FRESH]
    assert not drawn[0] & drawn[1]
    assert read_round(ROUND1).fresh_seed != read_round(TICKET).fresh_seed


def test_a_stage_report_that_claims_success_is_not_trusted(run: Path) -> None:
    """The stages' reports claim success, but the pool has lost its task mix."""
    for name in ("pool_report", "difficulty_report"):
        Path(f"reports/rc1/{name}.json").write_text(json.dumps({"passed": True, "checks": []}))
    config = yaml.safe_load(CONFIG.read_text())
    CONFIG.write_text(yaml.safe_dump({**config, "use_overclar_penalty": False}))
    report = go(1)
    assert [(one.gate, one.name) for one in report.failed] == UNPENALIZED
    assert report.exit_code == 1
    assert not TICKET.exists()


def test_a_gate_red_in_both_rounds_exits_with_1(run: Path) -> None:
    """The exit code is 1 both times, so a loop continues and shows every other light."""
    config = yaml.safe_load(CONFIG.read_text())
    CONFIG.write_text(yaml.safe_dump({**config, "use_overclar_penalty": False}))
    assert [go(number).exit_code for number in (1, 2)] == [1, 1]
    assert {(one.gate, one.name) for one in read_round(REFUSAL).failed} == {
        ("round1", "round1_passed"),
        *UNPENALIZED,
    }


def test_a_failed_round_2_withdraws_the_ticket_with_remedies(run: Path) -> None:
    TICKET.unlink()  # a ticket that is there is not given up for a round that cannot pass
    report = go(2, RUN_MODE="test")
    assert report.exit_code == 2
    assert not TICKET.exists()
    assert Manifest().newest()[str(TICKET)].kind == "withdrawn"
    found = read_round(REFUSAL)
    assert any("RUN_MODE=prod" in line for line in found.to_do)
    assert any("请设置 RUN_MODE=prod" in line for line in found.to_do_zh)
    with pytest.raises(BadInput, match=r"round2_fail\.json says what to do"):
        admit(CONFIG)


def killed(*given: object) -> None:
    raise KeyboardInterrupt


def test_a_round_killed_while_it_scores_leaves_the_ticket(run: Path) -> None:
    with judging() as environment, pytest.raises(KeyboardInterrupt):
        run_round(1, PROFILE, environment, print, killed)
    assert admit(CONFIG).profile == PROFILE


@pytest.mark.parametrize(("number", "left"), [(1, []), (2, [ROUND1])])
def test_a_round_killed_while_it_measures_leaves_no_ticket(
    run: Path, monkeypatch: pytest.MonkeyPatch, number: int, left: list[Path]
) -> None:
    """The round has already overwritten evidence, so the ticket would be refused later for a less clear reason."""
    monkeypatch.setattr("src.gates.rounds.measure", killed)
    with judging() as environment, pytest.raises(KeyboardInterrupt):
        run_round(number, PROFILE, environment, print, lambda done: None)
    assert [path for path in (ROUND1, TICKET, REFUSAL) if path.exists()] == left
    with pytest.raises(BadInput, match="there is no ticket"):
        admit(CONFIG)


def test_rounds_run_by_hand_count_until_a_file_changes(run: Path) -> None:
    def colours() -> dict[str, str]:
        return {light.stage: light.colour for light in open_loop(PROFILE).lights() if light.stage.startswith("round")}

    assert not state_file(PROFILE).exists(), "no loop has run here"
    assert (last_run(), colours()) == (PROFILE, {"round1": "green", "round2": "green"})
    weights = Path("configs/weights.json")
    kept = weights.read_bytes()
    weights.write_bytes(kept + b" ")
    assert colours() == {"round1": "grey", "round2": "grey"}
    weights.write_bytes(kept)
    assert go(1, RUN_MODE="prod").passed
    assert colours() == {"round1": "green", "round2": "grey"}
    TICKET.write_text("{}")
    assert colours()["round2"] == "grey", "a ticket that no round wrote"


def test_a_red_round_of_other_code_is_measured_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def colour() -> str:
        return next(light.colour for light in open_loop(PROFILE).lights() if light.stage == "round1")

    config = yaml.safe_load(CONFIG.read_text())
    CONFIG.write_text(yaml.safe_dump({**config, "use_overclar_penalty": False}))
    assert go(1).exit_code == 1
    assert colour() == "red"
    monkeypatch.setattr("src.loop.profile_loop.code_sha256", lambda: "0" * 64)
    assert colour() == "grey"


def test_two_rounds_at_once_are_refused(run: Path) -> None:
    before = ROUND1.read_bytes()
    held = lock_folder(ROUND1.parent)
    with pytest.raises(BadInput, match="another run is writing here"):
        run_round(1, PROFILE, {}, print, lambda progress: None)
    os.close(held)
    assert ROUND1.read_bytes() == before


def test_with_the_judge_switched_off_nothing_passes(run: Path) -> None:
    TICKET.unlink()  # a ticket that stands is not given up for a round that cannot pass
    load_profile(PROFILE).paths.shadow_episodes.unlink()
    report = go(2, REWARD_LIVE_MODE="0")
    assert {"fresh", "scoring", "shadow"} <= {one.gate for one in report.failed}
    assert report.exit_code == 2
    # What the earlier round measured of a gate is no evidence of this one.
    earlier = measured_file(round_context(load_profile(PROFILE), 2), "shadow")
    assert str(earlier) not in report.measured
    assert Manifest().newest()[str(earlier)].kind == "withdrawn"
