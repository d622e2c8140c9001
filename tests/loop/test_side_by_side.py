"""Stages that do not wait for each other run at the same time; everything else keeps its order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from src.config.profile import load_profile
from src.loop.runner import THREADS, Result, run_stages
from src.loop.stage import PASSED, Stage, State
from src.loop.stage_view import StageView
from src.loop.stages import stages_of
from src.scoring import llama_server

ROOT = Path(__file__).resolve().parents[2]
STATE = Path("state.json")
MEET = """
import time
from pathlib import Path
Path("{own}").touch()
end = time.monotonic() + 30
while not Path("{other}").exists():
    assert time.monotonic() < end, "{other} did not run beside {own}"
    time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(THREADS, raising=False)


def stage(name: str, program: str = "", inputs: str = "", appends: str = "", needs: str = "") -> Stage:
    """A program whose output is `NAME.txt`. It appends `+NAME` to `calls` when it starts, and `-NAME` when it ends."""
    note = "open('calls', 'a').write('{0}" + name + " ')"
    parts = (note.format("+"), program, f"open('{name}.txt', 'w').write('made')", note.format("-"))
    return Stage(
        name, name, "", ("-c", "\n".join(parts)), tuple(map(Path, inputs.split())), (Path(f"{name}.txt"),),
        appends=tuple(map(Path, appends.split())), needs=tuple(needs.split()),
    )  # fmt: skip


def run(stages: list[Stage], environment: dict[str, str] | None = None) -> list[Result]:
    given = dict(os.environ) if environment is None else environment
    return run_stages(stages, State(STATE), given, StageView(lambda line: None), side_by_side=2)


def calls() -> list[str]:
    return Path("calls").read_text().split()


def test_independent_stages_run_at_the_same_time() -> None:
    meeting = [stage("a", MEET.format(own="at_a", other="at_b")), stage("b", MEET.format(own="at_b", other="at_a"))]
    assert [one.code for one in run(meeting)] == [PASSED, PASSED]
    begun = calls()
    assert [one.code for one in run(meeting)] == [PASSED, PASSED]
    assert calls() == begun, "the second run starts nothing"


@pytest.mark.parametrize(
    "second",
    [
        stage("b", inputs="a.txt"),
        stage("b", needs="a"),
        stage("b", appends="ledger"),
        replace(stage("b"), outputs=(Path("a.txt"),)),
        replace(stage("b"), after_all=True),
    ],
    ids=["reads", "needs", "appends", "writes", "after all"],
)
def test_a_stage_waits_for_what_it_uses(second: Stage) -> None:
    run([stage("a", "import time; time.sleep(0.3)", appends="ledger"), second])
    assert calls() == ["+a", "-a", "+b", "-b"]


def test_no_more_than_two_run_at_once() -> None:
    run([stage(name, "import time; time.sleep(0.2)") for name in "abcd"])
    at_once = [sum(1 if one[0] == "+" else -1 for one in calls()[:end]) for end in range(1, 9)]
    assert max(at_once) == 2


def test_after_a_crash_running_stages_are_recorded_and_none_starts() -> None:
    """The work of the stage beside it is not lost: the next run finds it valid."""
    stages = [stage("a", "import os; os._exit(3)"), stage("b", "import time; time.sleep(0.5)"), stage("c")]
    assert [(one.stage.name, one.code) for one in run(stages)] == [("a", 3), ("b", PASSED)]
    assert "+c" not in calls()
    assert not State(STATE).why_not_valid(stages[1])


def test_stages_that_share_the_machine_get_part_of_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always the same part, so that an interrupted stage is resumed with as many threads as it was started with."""
    monkeypatch.setattr("src.loop.runner.usable_cores", lambda most: 6)
    write = f"import os; open('{{0}}.threads', 'w').write(os.environ.get('{THREADS}', 'all'))"
    stages = [stage(name, write.format(name)) for name in "ab"]
    stages.append(stage("c", write.format("c"), inputs="a.txt b.txt"))
    run(stages)
    assert [Path(f"{name}.threads").read_text() for name in "abc"] == ["3", "3", "all"]
    Path("b.txt").unlink()
    run(stages)  # alone now
    assert Path("b.threads").read_text() == "3"
    Path("b.txt").unlink()
    run(stages, {**os.environ, THREADS: "1"})
    assert Path("b.threads").read_text() == "1"


def test_the_local_judge_keeps_to_its_part_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = llama_server.threads()
    monkeypatch.setenv(THREADS, "3")
    assert llama_server.threads() == 3
    for nothing in ("", "0", "many"):
        monkeypatch.setenv(THREADS, nothing)
        assert llama_server.threads() == everything


@pytest.mark.parametrize("full", [False, True])
def test_of_the_quickstart_only_what_is_independent_runs_beside(full: bool) -> None:
    stages = {stage.name: stage for stage in stages_of(load_profile("quickstart"), full)}
    order = list(stages)
    judge = ["probe", "not_simulated", "calibration", "shadow", "round1", "round2"]
    for earlier, later in pairwise(judge):  # one ledger, whose calls are checked in this order
        assert stages[later].waits_for(stages[earlier])
    waited = {name for name in order[: order.index("ablation")] if stages["ablation"].waits_for(stages[name])}
    assert waited == {"shadow_set", "pool", "balanced"}
    assert all(stages["round1"].waits_for(stages[name]) for name in order[: order.index("round1")])
    suffix = "_full" if full else ""
    assert stages[f"train{suffix}"].waits_for(stages["round2"])
    assert stages[f"evaluation{suffix}"].waits_for(stages[f"train{suffix}"])


LOOP = """
import os
from pathlib import Path
from src.loop.runner import run_stages
from src.loop.stage import Stage, State
from src.loop.stage_view import StageView
def slow(name, *sources):
    program = (f"import time; open('calls', 'a').write('+{name} '); time.sleep(0.5); "
               f"open('{name}.txt', 'w').write('{name}' + ''.join(open(one).read() for one in {sources!r}))")
    return Stage(name, name, "", ("-c", program), tuple(map(Path, sources)), (Path(f"{name}.txt"),))
stages = [slow("a", "start"), slow("b", "start"), slow("c", "a.txt", "b.txt")]
run_stages(stages, State(Path("state.json")), os.environ, StageView(print), side_by_side=2)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("after", ["+b", "+c"])
def test_a_killed_loop_resumes_to_the_same_files(after: str, number: int) -> None:
    Path("start").write_text("!")
    command, environment = [sys.executable, "-c", LOOP], {**os.environ, "PYTHONPATH": str(ROOT)}
    loop = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not Path("calls").exists() or after not in calls():
        assert loop.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)
    loop.send_signal(number)
    loop.wait(30)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert Path("c.txt").read_text() == "ca!b!"
    assert calls().count("+c") == (2 if after == "+c" else 1)
    assert after == "+b" or calls().count("+a") == calls().count("+b") == 1, "what had ended is not repeated"
