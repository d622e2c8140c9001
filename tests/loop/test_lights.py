"""A light is green only while its stage's inputs and outputs are unchanged; one line says what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from src.config.profile import load_profile
from src.core.check import Check
from src.gates.ambers import Amber
from src.loop.lights import lights, next_step, reasons_in, with_sign_offs
from src.loop.profile_loop import ProfileLoop
from src.loop.stage import Stage, State, in_chinese
from src.runtime.lock import wait_for_lock

CHECK = {"name": "distinct2", "value": 0.5, "rule": ">=", "threshold": 0.6, "passed": False, "remedy": "more templates",
         "remedy_zh": "增加模板"}  # fmt: skip
FINDING = {**CHECK, "gate": "pool", "evidence": {"data/pool.jsonl": "0" * 64}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pool.jsonl").write_text("{}\n")


def stage(name: str = "gate", needs: tuple[str, ...] = ()) -> Stage:
    return Stage(name, f"The {name}", "门", ("-m", name), (Path("pool.jsonl"),), (Path(f"{name}.json"),), needs=needs)


def done(one: Stage, code: int, report: object = None) -> State:
    state = State(Path("state.json"))
    state.begin(one)
    Path(f"{one.name}.json").write_text(json.dumps(report or {}))
    state.end(one, code)
    return state


def test_a_light_is_green_until_a_byte_changes() -> None:
    one = stage()
    state = done(one, 0)
    assert lights([one], state)[0].colour == "green"
    Path("pool.jsonl").write_text("{} \n")
    assert (lights([one], state)[0].colour, lights([one], state)[0].why) == ("grey", "pool.jsonl changed")


def test_a_red_light_names_the_check_and_the_remedy() -> None:
    one = stage()
    found = lights([one], done(one, 1, {"passed": False, "checks": [CHECK, {**CHECK, "passed": True}]}))
    assert found[0].colour == "red"
    assert [reason.name for reason in found[0].reasons] == ["distinct2"]
    english, chinese = next_step(found, "askgate quickstart")
    assert "more templates" in english
    assert "增加模板" in chinese
    assert "askgate quickstart" in english


def test_a_stage_that_runs_now_is_not_called_interrupted() -> None:
    one, later = stage(), stage("later", needs=("gate",))
    state = State(Path("state.json"))
    state.begin(one)
    assert lights([one, later], state)[0].why == "it was interrupted"
    with wait_for_lock(Path("state.lock"), lambda: None, 1.0):
        found = lights([one, later], state)
    assert [light.why for light in found] == ["running now", "its turn comes later"]
    assert next_step(found, "askgate quickstart")[0] == "running now: The gate"


def test_a_refused_stage_is_red() -> None:
    one = stage()
    found = lights([one], done(one, 2))
    assert found[0].colour == "red"
    assert "exit code 2" in found[0].why


def test_a_stage_that_waits_for_a_gate_is_grey() -> None:
    gate, train = stage(), stage("train", needs=("gate",))
    found = lights([gate, train], done(gate, 1))
    assert [light.colour for light in found] == ["red", "grey"]
    assert found[1].why == "gate did not pass, or is no longer valid"


def test_the_next_step_is_the_first_missing_stage() -> None:
    gate, train = stage(), stage("train")
    english, _ = next_step(lights([gate, train], done(gate, 0)), "askgate quickstart")
    assert '"The train"' in english
    assert next_step(lights([gate], done(gate, 0)), "x")[0].startswith("all lights are green")


def test_findings_of_a_round_are_reasons_too() -> None:
    found = reasons_in({"findings": [FINDING, {**FINDING, "passed": True}]})
    assert [(one.name, one.remedy) for one in found] == [("pool: distinct2", "more templates")]
    assert reasons_in([]) == reasons_in({"checks": None}) == []


def test_an_amber_stays_amber_and_names_who_signed_it_off() -> None:
    one = stage()
    found = lights([one], done(one, 0, {"ambers": [CHECK, {**CHECK, "name": "roles"}]}))
    assert [light.colour for light in found] == ["amber"]
    (half,) = with_sign_offs(found, {"distinct2": "Ada (few templates)", "another": "Bob (x)"})
    assert (half.colour, half.unsigned) == ("amber", ["roles"])
    assert half.why == "distinct2, signed off by Ada (few templates); roles"
    assert half.why_zh == "distinct2，Ada (few templates) 已签字；roles"
    assert "sign off or fix: roles (" in next_step([half], "askgate quickstart")[0]
    (whole,) = with_sign_offs(found, {"distinct2": "Ada (a)", "roles": "Bob (b)"})
    assert (whole.colour, whole.unsigned) == ("amber", [])
    english, chinese = next_step([whole], "askgate quickstart")
    assert "every amber is signed off: run `askgate report`" in english
    assert "`askgate package`" in english
    assert "askgate report" in chinese


def test_status_takes_sign_offs_from_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    one = stage()
    state, fact = done(one, 0, {"ambers": [CHECK]}), msgspec.convert(CHECK, Check)
    loop = ProfileLoop(load_profile("quickstart"), [one], state, full=False)
    monkeypatch.setattr("src.gates.ambers.ambers", lambda profile: [Amber(fact, Path("gate.json"), "Ada")])
    assert (loop.lights()[0].colour, loop.lights()[0].signed) == ("amber", {"distinct2": "Ada"})


@pytest.mark.parametrize(
    ("why", "chinese"),
    [
        ("not done yet", "尚未运行"),
        ("round2 did not pass, or is no longer valid", "前序阶段 round2 未通过或已失效"),
        ("round2 and trial_gate did not pass, or is no longer valid", "前序阶段 round2、trial_gate 未通过或已失效"),
        ("data/pool.jsonl is missing", "data/pool.jsonl 不存在"),
        ("it was refused or crashed (exit code 2)", "被拒绝或崩溃（退出码 2）"),
    ],
)
def test_reasons_have_a_chinese_text(why: str, chinese: str) -> None:
    assert in_chinese(why) == chinese
