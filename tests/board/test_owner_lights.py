"""The owner's lights show what the rounds measured, only while the files are unchanged; curves follow the logs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from src.board.owner_lights import CachedFingerprints, round_lights
from src.board.runs import EVERY, LogTail, Measured, thinned
from src.core.check import check
from src.core.files import write_json
from src.gates.ambers import Amber
from src.gates.manifest import Manifest
from src.gates.ticket import TICKET, read_round
from tests.board.small_run import WEIGHTS, served, write_rounds
from tests.eval.test_trial import CONTROL, one, reported

WAIT_S = 60.0
"""Deadline of a measurement, generous because a busy machine is slow."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def colours(sums: CachedFingerprints | None = None) -> list[dict[str, str]]:
    return [{light.name: light.colour for light in one.lights} for one in round_lights(sums or CachedFingerprints())]


def test_before_any_round_all_lights_are_grey() -> None:
    assert {colour for one in colours() for colour in one.values()} == {"grey"}


def test_passed_rounds_are_green_in_all_six_lights() -> None:
    write_rounds()
    first, second = colours()
    assert list(first) == ["data", "reward", "scoring", "policy", "resources", "evidence"]
    assert set(first.values()) == set(second.values()) == {"green"}


@pytest.mark.parametrize(
    ("gate", "check", "light"),
    [
        ("pool", "figure", "data"),
        ("ablation", "figure", "reward"),
        ("fresh", "figure", "scoring"),
        ("config", "figure", "policy"),
        ("disk", "disk_free_gb", "resources"),
    ],
)
def test_a_failed_gate_turns_its_light_red(gate: str, check: str, light: str) -> None:
    write_rounds(failed=gate)
    first, second = colours()
    assert [name for name, colour in first.items() if colour == "red"] == [light]
    assert second[light] == "green"
    red = next(one for one in round_lights(CachedFingerprints())[0].lights if one.colour == "red")
    assert red.why.startswith("1 of ")
    assert red.why.endswith(f" failed: {gate}: {check}")


def test_a_handwritten_verdict_is_not_believed() -> None:
    write_rounds(failed="pool")
    path = Path("reports/preflight/round1.json")
    path.write_text(
        path.read_text().replace('"passed": false', '"passed": true').replace('"pass": false', '"pass": true')
    )
    assert colours()[0]["data"] == "red"
    assert colours()[0]["evidence"] == "red"


def test_a_changed_file_turns_its_lights_off() -> None:
    write_rounds()
    sums = CachedFingerprints()
    assert colours(sums)[0]["data"] == "green"
    WEIGHTS.write_text('{"weights": {"success": 1.0}}\n')
    first = colours(sums)[0]
    assert first["data"] == "grey"
    assert first["evidence"] == "red"


def test_an_amber_that_is_signed_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    write_rounds()
    fact = check("judge_weight", 0.0, ">", 0.0, "use a better judge", "请更换评委")
    write_json(TICKET, replace(read_round(TICKET), ambers=(fact,)))
    Manifest().record([TICKET])
    light = round_lights(CachedFingerprints())[1].lights[-1]
    assert (light.colour, light.unsigned) == ("amber", ["judge_weight"])
    monkeypatch.setattr("src.gates.ambers.ambers", lambda profile: [Amber(fact, WEIGHTS, "Ada (it is off)")])
    light = round_lights(CachedFingerprints())[1].lights[-1]
    assert (light.colour, light.unsigned, light.signed) == ("amber", [], {"judge_weight": "Ada (it is off)"})
    assert (
        light.why
        == "report and files match; the owner must know: the judge's scores have no weight [judge_weight], signed off"
    )


def test_the_result_says_where_no_control_was_measured() -> None:
    write_rounds()
    write_json(Path("reports/ppo_eval_x.json"), reported(one()))
    with served(Path.cwd()) as site:
        assert "No SFT control was measured" in site.get("/")[2]
        time.sleep(EVERY)
        write_json(Path("reports/ppo_eval_x.json"), reported(one(control=CONTROL)))
        assert "No SFT control was measured" not in site.get("/")[2]


@pytest.mark.parametrize("name", ["judge_auc", "judge_noise", "canaries_fooled"])
def test_ambers_of_the_judge_are_on_the_light_of_scoring(name: str) -> None:
    write_rounds()
    fact = check(name, 0.67, "<=", 0.25, "the judge scored worthless answers high", "评委给无价值回答高分")
    write_json(TICKET, replace(read_round(TICKET), ambers=(fact,)))
    Manifest().record([TICKET])
    lights = {one.name: one for one in round_lights(CachedFingerprints())[1].lights}
    assert (lights["scoring"].colour, lights["scoring"].unsigned) == ("amber", [name])
    assert "passed; the owner must know: " in lights["scoring"].why
    assert (lights["evidence"].colour, lights["evidence"].ambers) == ("green", ())
    with served(Path.cwd()) as site:
        page = site.get("/light?round=2&of=scoring")[2]
        assert "the judge scored worthless answers high" in page
        assert f"askgate sign-off --amber {name}" in page


def test_curves_follow_the_log_and_restart_with_another() -> None:
    log = Path("metrics.jsonl")
    tail = LogTail(Path(), "metrics.jsonl", ["kl"])
    tail.read_new()
    assert tail.series("kl") == []
    log.write_text('{"seed":1,"step":1,"kl":0.1}\n{"seed":1,"step":2,"kl":0.')
    tail.read_new()
    assert tail.series("kl") == [[(1.0, 0.1)]]
    with open(log, "a") as handle:
        handle.write('2}\nno json\n{"seed":2,"step":1,"kl":0.5}\n')
    tail.read_new()
    assert tail.series("kl") == [[(1.0, 0.1), (2.0, 0.2)], [(1.0, 0.5)]]
    tail.read_new()
    assert tail.last == {1: 2, 2: 1}
    log.unlink()
    log.write_text('{"seed":3,"step":1,"kl":0.9}\n')
    tail.read_new()
    assert tail.series("kl") == [[(1.0, 0.9)]]


def test_a_long_curve_keeps_its_shape_and_its_end() -> None:
    points = [(float(x), float(x % 2)) for x in range(50_001)]
    kept = thinned(points, most=100)
    assert len(kept) <= 101
    assert kept[-1] == points[-1]
    assert all(abs(y - 0.5) < 0.1 for _, y in kept[:-1])


def test_who_waits_gets_the_state_of_now() -> None:
    """Not that of the last look, however long ago, and though a slow measurement is followed by a long rest."""
    state = ["old"]

    def measure() -> str:
        time.sleep(0.1)
        return state[0]

    measured = Measured(measure, every=0.0)
    assert measured.get(WAIT_S) == "old"
    state[0] = "new"
    assert measured.get() == "old", "nobody waits"
    assert measured.get(WAIT_S) == "new"


def test_the_first_page_shows_rounds_that_ended_after_refresh() -> None:
    write_rounds()
    with served(Path.cwd()) as site:
        site.board.refresh(WAIT_S)
        write_rounds(failed="pool")
        time.sleep(EVERY)
        assert "pool: figure" in site.get("/")[2]


def test_the_amber_page_says_its_meaning_and_how_to_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    write_rounds()
    fact = check("judge_weight", 0.0, ">", 0.0, "the judge decides nothing; use a better one", "评委不起作用")
    write_json(TICKET, replace(read_round(TICKET), ambers=(fact,)))
    Manifest().record([TICKET])
    with served(Path.cwd()) as site:
        page = site.get("/light?round=2&of=evidence")[2]
        assert "the judge decides nothing; use a better one" in page
        assert "askgate sign-off --amber judge_weight" in page
        time.sleep(EVERY)
        monkeypatch.setattr("src.gates.ambers.ambers", lambda profile: [Amber(fact, WEIGHTS, "Ada (it is off)")])
        (TICKET.parent / "amber_judge_weight.json").write_text("{}")
        page = site.get("/light?round=2&of=evidence")[2]
        assert "Signed off by Ada (it is off)" in page
        assert "askgate sign-off --amber" not in page
