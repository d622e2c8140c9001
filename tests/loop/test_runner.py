"""Stages run in order, each once; a killed loop resumes and ends with the same files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from src.loop.lights import lights
from src.loop.runner import Result, run_stages, typed, verb, worst
from src.loop.stage import FAILED, PASSED, Stage, State
from src.loop.stage_view import StageView

ROOT = Path(__file__).resolve().parents[2]
STATE = Path("state.json")


def stage(name: str, code: str, inputs: str = "", needs: str = "") -> Stage:
    """A small program that writes `NAME.txt` and appends its name to `calls`."""
    program = f"import sys; open('calls', 'a').write('{name} ' + ' '.join(sys.argv[1:]) + '\\n'); {code}"
    return Stage(
        name, f"Stage {name}", "", ("-c", program), tuple(Path(one) for one in inputs.split()), (Path(f"{name}.txt"),),
        needs=tuple(needs.split()),
    )  # fmt: skip


def write(name: str, text: str = "made") -> str:
    return f"open('{name}.txt', 'w').write('{text}')"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(stages: list[Stage], stop_at_red: bool = False) -> list[Result]:
    return run_stages(stages, State(STATE), os.environ, StageView(lambda line: None), stop_at_red)


def calls() -> list[str]:
    return [line.strip() for line in Path("calls").read_text().splitlines()] if Path("calls").exists() else []


def test_a_second_run_does_nothing() -> None:
    stages = [stage("a", write("a")), stage("b", write("b"), "a.txt")]
    assert [one.code for one in run(stages)] == [PASSED, PASSED]
    assert [one.code for one in run(stages)] == [PASSED, PASSED]
    assert calls() == ["a", "b"]


def test_stages_with_a_changed_input_run_again() -> None:
    stages = [stage("a", write("a")), stage("b", write("b"), "a.txt"), stage("c", write("c"), "b.txt")]
    run(stages)
    Path("b.txt").write_text("edited")
    run(stages)
    assert calls() == ["a", "b", "c", "b"]
    assert Path("b.txt").read_text() == "made"


def test_stages_after_a_red_light_still_run() -> None:
    stages = [stage("a", f"{write('a')}; sys.exit(1)"), stage("b", write("b"), "a.txt")]
    results = run(stages)
    assert [one.code for one in results] == [FAILED, PASSED]
    assert worst(results) == 1
    again = run(stages)
    assert [one.code for one in again] == [FAILED, PASSED]
    assert worst(again) == 1


def test_a_red_light_stops_where_it_must() -> None:
    stages = [stage("a", f"{write('a')}; sys.exit(1)"), stage("b", write("b"), "a.txt")]
    assert [one.stage.name for one in run(stages, stop_at_red=True)] == ["a"]
    assert [one.stage.name for one in run(stages, stop_at_red=True)] == ["a"]
    assert calls() == ["a"]


def test_a_stage_does_not_start_without_the_stages_it_needs() -> None:
    """Training needs the ticket."""
    results = run([stage("a", f"{write('a')}; sys.exit(1)"), stage("train", write("train"), needs="a")])
    assert [one.code for one in results] == [FAILED, None]
    assert calls() == ["a"]
    assert worst(results) == 1


def test_a_refused_stage_ends_the_loop_and_is_retried() -> None:
    stages = [stage("a", "sys.exit(2)"), stage("b", write("b"))]
    assert [one.code for one in run(stages)] == [2]
    assert worst(run(stages)) == 2
    assert calls() == ["a", "a"]


def test_an_interrupted_stage_runs_again() -> None:
    broken = stage("a", "import os; os.path.exists('tried') or (open('tried', 'w'), os._exit(137)); " + write("a"))
    assert run([broken])[0].code == 137
    assert run([broken])[0].code == 0
    assert calls() == ["a", "a"]


def test_stages_after_a_withdrawn_ticket_are_not_green() -> None:
    """The stage of the ticket is red, so training does not start and its old evaluation is no longer valid."""
    ticket = f"{write('ticket')}; sys.exit(int(open('verdict').read()))"
    stages = [
        stage("ticket", ticket, "verdict"),
        stage("train", write("train"), needs="ticket"),
        stage("evaluation", write("evaluation"), "train.txt", needs="train"),
    ]
    Path("verdict").write_text("0")
    assert [one.code for one in run(stages)] == [PASSED, PASSED, PASSED]
    Path("verdict").write_text("1")
    assert [one.code for one in run(stages)] == [FAILED, None, None]
    assert [one.colour for one in lights(stages, State(STATE))] == ["red", "grey", "grey"]


def test_a_command_is_shown_as_it_is_typed() -> None:
    one = Stage("x", "", "", verb("validate_pool", Path("my pool.jsonl")), (), ())
    assert typed(one) == "askgate validate_pool 'my pool.jsonl'"
    assert typed(Stage("x", "", "", ("-m", "train.ppo_runner", "--config", "c"), (), ())) == (
        "python -m train.ppo_runner --config c"
    )


LOOP = """
import os
from pathlib import Path
from src.loop.runner import run_stages
from src.loop.stage import Stage, State
from src.loop.stage_view import StageView
def slow(name, source):
    program = (f"import time; open('calls', 'a').write('{name} '); time.sleep(0.4); "
               f"open('{name}.txt', 'w').write('{name}' + open('{source}').read())")
    return Stage(name, name, "", ("-c", program), (Path(source),), (Path(f"{name}.txt"),))
stages = [slow("a", "start"), slow("b", "a.txt"), slow("c", "b.txt")]
run_stages(stages, State(Path("state.json")), os.environ, StageView(print))
"""


@pytest.mark.parametrize(
    ("after", "signal_number"),
    [("a", signal.SIGKILL), ("b", signal.SIGKILL), ("c", signal.SIGKILL), ("b", signal.SIGTERM)],
)
def test_a_killed_loop_resumes_to_the_same_files(after: str, signal_number: int) -> None:
    Path("start").write_text("!")
    command = [sys.executable, "-c", LOOP]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    loop = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while not Path("calls").exists() or after not in Path("calls").read_text():
        assert loop.poll() is None
        time.sleep(0.01)
    loop.send_signal(signal_number)
    loop.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert Path("c.txt").read_text() == "cba!"
    expected = {"a": "a a b c", "b": "a b b c", "c": "a b c c"}[after]
    assert Path("calls").read_text().split() == expected.split()
