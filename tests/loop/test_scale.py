"""The live-scored set grows only from green lights, with gates at each step, and nothing is done twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from src.config.profile import load_profile
from src.core.paths import LIVE_SCORES
from src.loop import profile_loop
from src.loop import scale as scaling
from src.loop.runner import run_stages
from src.loop.stage import Stage, State
from src.loop.stage_view import StageView
from tests.conftest import Askgate

LIGHTS = ("pool_gate", "difficulty_gate", "calibration", "shadow", "ablation", "trial_gate")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports/rc1").mkdir(parents=True)


def light(name: str, code: int = 0) -> Stage:
    return Stage(name, name, "", ("-c", f"raise SystemExit({code})"), (), ())


def loop(*red: str) -> list[Stage]:
    found = [light(name, int(name in red)) for name in LIGHTS]
    run_stages(found, State(Path("reports/rc1_state.json")), {}, StageView(lambda line: None))
    return found


def counted(stage: Stage) -> Stage:
    """The stage with a small program in place of its command."""
    inputs = tuple(path for path in stage.inputs if path == LIVE_SCORES)
    return replace(stage, command=("-c", program(stage)), inputs=inputs)


def program(stage: Stage) -> str:
    write = "; ".join(f"Path({str(path)!r}).write_text({stage.name!r})" for path in stage.outputs)
    red = "raise SystemExit(Path('red').exists() and Path('red').read_text() == " + repr(stage.name) + ")"
    return (
        "from pathlib import Path; Path('reports/scale').mkdir(exist_ok=True); "
        f"print({stage.name!r}, file=open('calls', 'a')); {write}; {red}"
    )


def calls() -> list[str]:
    return Path("calls").read_text().split() if Path("calls").exists() else []


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    score, gates = scaling._score, scaling._gates
    monkeypatch.setattr(scaling, "_score", lambda *given: counted(score(*given)))
    monkeypatch.setattr(scaling, "_gates", lambda *given: [counted(stage) for stage in gates(*given)])
    monkeypatch.setattr(scaling, "red_gates", lambda profile: [])


def test_growth_needs_green_lights(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    found = loop("shadow")
    monkeypatch.setattr(profile_loop, "stages_of", lambda profile, full: found)
    shown = askgate("scale", "--to", "10,50")
    assert shown.code == 1
    assert "shadow" in shown.out
    assert not Path("reports/scale_state.json").exists()


def test_lights_without_evidence_prevent_growth(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record says that all stages passed, but there is no evidence that anything was measured."""
    found = loop()
    monkeypatch.setattr(profile_loop, "stages_of", lambda profile, full: found)
    shown = askgate("scale", "--to", "10,50")
    assert shown.code == 1
    assert "whatever the lights say" in shown.out
    assert not Path("reports/scale_state.json").exists()


def test_growth_needs_a_measured_run(askgate: Askgate) -> None:
    assert askgate("scale", "--to", "10,50").code == 1


def test_gates_run_before_and_after_each_step() -> None:
    names = [stage.name for stage in scaling.scale_stages(load_profile("rc1"), [1000, 5000], State(Path("none")))]
    assert names == [
        "1000_before_pool_gate", "1000_before_difficulty_gate",
        "score_1000",
        "1000_after_pool_gate", "1000_after_difficulty_gate", "1000_after_stability",
        "5000_before_pool_gate", "5000_before_difficulty_gate", "5000_before_stability",
        "score_5000",
        "5000_after_pool_gate", "5000_after_difficulty_gate", "5000_after_stability",
    ]  # fmt: skip


@pytest.mark.usefixtures("small")
def test_a_red_gate_stops_growth_until_it_passes(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    found = loop()
    monkeypatch.setattr(profile_loop, "stages_of", lambda profile, full: found)
    Path("red").write_text("10_after_stability")
    shown = askgate("scale", "--to", "10,50")
    assert shown.code == 1
    assert "score_50" not in calls()
    Path("red").unlink()
    Path("reports/scale/10_after_stability.json").unlink()
    before = calls()
    assert askgate("scale", "--to", "10,50").code == 0
    assert "score_10" not in calls()[len(before) :]
    assert calls()[-1] == "50_after_stability"


@pytest.mark.usefixtures("small")
def test_a_finished_growth_does_nothing_and_can_continue(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    found = loop()
    monkeypatch.setattr(profile_loop, "stages_of", lambda profile, full: found)
    assert askgate("scale", "--to", "10,50").code == 0
    before = calls()
    assert askgate("scale", "--to", "10,50").code == 0
    assert calls() == before
    assert askgate("scale", "--to", "10,50,90").code == 0
    assert [name for name in calls()[len(before) :] if name.startswith("score")] == ["score_90"]


@pytest.mark.parametrize("to", ["", "many", "5000,1000", "0,5"])
def test_sizes_must_rise(to: str, askgate: Askgate) -> None:
    assert askgate("scale", "--to", to).code == 2


def test_scores_that_no_ledger_knows_are_refused(askgate: Askgate) -> None:
    """`tests/poison/test_stability_poisons.py` has the honest input."""
    lines = [
        {
            "id": f"s{number}",
            "key": "k",
            "provider": "local",
            "model": "m",
            "live": True,
            "overall": 0.5,
            "stable": True,
        }
        for number in range(12)
    ]
    scores = Path("reports/rc1/scores.jsonl")
    scores.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for least, failed in ((12, ["not_in_ledger"]), (13, ["scored", "not_in_ledger"])):
        shown = askgate("validate_scores", scores, "--least", str(least), "--json")
        assert shown.code == 2
        assert [check["name"] for check in json.loads(shown.out)["checks"] if not check["passed"]] == failed
