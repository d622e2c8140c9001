"""What a loop shows: a live table on a terminal, plain lines elsewhere, and all output in logs/stages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from src.cli.stage_table import Row, StageTable, clock, progress_in
from src.config.profile import load_profile
from src.loop.stage import Stage, State
from src.loop.stage_view import figure_of
from src.loop.stages import stages_of
from tests.chat.pseudo_terminal import in_terminal, plain

ROOT = Path(__file__).resolve().parents[2]
LOOP = """
import os
from pathlib import Path
from src.cli import main
from src.loop import profile_loop
from src.loop.stage import Stage
os.environ.pop("MAKELEVEL", None)
def stage(name, program, *inputs):
    out = Path(f"{name}.json")
    return Stage(name, f"Title of {name}", "题目", ("-c", program), tuple(map(Path, inputs)), (out,),
                 number=(out, "{0[n]:,} samples"), seconds=5)
fail = "{fail}"
stages = [
    stage("first", "print('all the details'); open('first.json', 'w').write('{\\"n\\": 2400}')"),
    stage("second", fail or "print('scoring: 3 of 30 samples', flush=True); import time; time.sleep(float('{sleep}')); "
          "open('second.json', 'w').write('{\\"n\\": 7}')", "first.json"),
    stage("third", "open('third.json', 'w').write('{\\"n\\": 8}')", "second.json"),
]
profile_loop.stages_of = lambda profile, full=False: stages
main(["quickstart"])
"""
DETAILS = "all the details"


def program(sleep: float = 0.0, fail: str = "") -> list[str]:
    return [sys.executable, "-c", LOOP.replace("{sleep}", str(sleep)).replace("{fail}", fail)]


def in_a_pipe(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_without_a_terminal_a_stage_has_two_lines(tmp_path: Path) -> None:
    shown = in_a_pipe(tmp_path, program()).stdout
    lines = [re.sub(r" \d+ s,", " N s,", line) for line in shown.splitlines() if line.startswith("[")]
    assert lines == [
        "[1/3] first: Title of first (not done yet)",
        "[1/3] first: ok, N s, 2,400 samples",
        "[2/3] second: Title of second (not done yet)",
        "[2/3] second: ok, N s, 7 samples",
        "[3/3] third: Title of third (not done yet)",
        "[3/3] third: ok, N s, 8 samples",
    ]
    assert DETAILS not in shown
    assert "logs/stages" in shown
    assert DETAILS in (tmp_path / "logs/stages/first.log").read_text()
    assert "\x1b" not in shown


@pytest.mark.parametrize("terminal", [False, True])
def test_a_crashed_stage_shows_last_lines_and_what_to_type(tmp_path: Path, terminal: bool) -> None:
    command = program(fail="print('no such judge'); raise SystemExit(2)")
    if terminal:
        code, shown = in_terminal([], 80, folder=tmp_path, command=command)
    else:
        done = in_a_pipe(tmp_path, command)
        code, shown = done.returncode, done.stdout
    assert code == 2
    assert "no such judge" in shown
    assert "logs/stages/second.log" in shown
    assert "then type: askgate quickstart" in shown
    assert not (tmp_path / "logs/stages/third.log").exists()


def test_on_a_terminal_there_is_a_table_that_fits(tmp_path: Path) -> None:
    code, shown = in_terminal([], 80, folder=tmp_path, command=program(sleep=2.0))
    assert code == 0, shown
    assert "3 of 3 stages done" in shown
    assert "scoring 3/30" in shown
    assert "second: Title of second" in shown
    assert "2,400 samples" in shown
    assert DETAILS not in shown
    lines = [plain(line) for line in re.split(r"[\r\n]", shown)]  # a carriage return ends what is drawn again
    rows = [line for line in lines if re.match(r"(ok|run|    ) *(first|second|third) ", line)]
    assert len(rows) > 3
    assert all(cell_len(row) <= 80 for row in rows)


def test_ctrl_c_ends_politely_and_the_same_command_resumes(tmp_path: Path) -> None:
    command = program(sleep=60.0)
    code, shown = in_terminal([], 80, [("scoring 3/30", b"\x03")], folder=tmp_path, command=command)
    assert code == 130, shown
    assert "type `askgate quickstart` to resume" in shown
    assert "1 of 3 stages done" in shown
    assert "2 of 3 stages done" not in shown, "an interrupted stage is not done"
    assert "Traceback" not in shown
    assert "interrupted" in State(tmp_path / "reports/quickstart_state.json").why_not_valid(named("second"))
    again = in_a_pipe(tmp_path, program()).stdout
    assert "[1/3] first: still valid" in again
    assert "[2/3] second: Title of second (it was interrupted)" in again
    assert "[3/3] third: ok" in again


def named(name: str) -> Stage:
    return Stage(name, "", "", (), (), ())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("round 1: scoring: 12 of 20 samples, free, about 9 s left", ("scoring", 12, 20)),
        ("rollout of 600 samples: 60 of 600", ("rollout of 600 samples", 60, 600)),
        ("step 7/24 reward 0.31", ("step", 7, 24)),
        ("local scores 30 of 600 episodes: 90 votes, up to 11 on an episode", None),
        ("made data/episodes/x.jsonl: 600 episodes, 222 of them right", None),
    ],
)
def test_progress_is_read_from_the_output(line: str, expected: tuple[str, int, int] | None) -> None:
    found = progress_in(f"something before\n{line}\n")
    assert (tuple(found) if found else None) == expected


def test_every_stage_has_a_figure_or_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of another shape gives no figure, and no error."""
    monkeypatch.chdir(tmp_path)
    fields = {"value": 3.0, "rule": "<=", "threshold": 2.0, "remedy": "", "remedy_zh": ""}
    checks = [{"name": "dup_pct", "passed": False, **fields}, {"name": "leaks", "passed": True, **fields}]
    Path("report.json").write_text(json.dumps({"checks": checks}))
    gate = Stage("gate", "", "", (), (), (Path("report.json"),), number=(Path("other.json"), "{0[n]:,} samples"))
    assert figure_of(gate, 0) == "2 checks passed"
    assert figure_of(gate, 1) == "dup_pct"
    assert figure_of(gate, 2) == ""
    Path("report.json").write_text('{"checks": [{"passed": false}]}')
    assert figure_of(gate, 1) == ""


def test_the_time_left_is_that_of_the_longest_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stages = stages_of(load_profile("quickstart"))
    table = StageTable(Console(width=80, force_terminal=True), "askgate quickstart")
    table.stages, table.rows = stages, {stage.name: Row() for stage in stages}
    typical = {stage.name: stage.seconds or 0 for stage in stages}
    judge = sum(typical[name] for name in ("probe", "not_simulated", "calibration", "shadow"))
    data = sum(typical[name] for name in ("pool", "metrics", "balanced"))
    after = sum(typical[name] for name in ("round1", "round2", "train", "evaluation"))
    assert table.seconds_left() == pytest.approx(max(judge, data + typical["ablation"]) + after)
    for stage in stages[:-1]:
        table.rows[stage.name] = Row("ok", seconds=2.0 * typical[stage.name])
    left = table.seconds_left()
    assert left is not None
    assert typical["evaluation"] < left < 2 * typical["evaluation"]  # this machine is slower
    rc1 = stages_of(load_profile("rc1"))
    table.stages, table.rows = rc1, {stage.name: Row() for stage in rc1}
    assert table.seconds_left() is None


def test_of_a_stage_that_counts_the_pace_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = StageTable(Console(width=80, force_terminal=True), "askgate quickstart")
    stage = Stage("slow", "", "", (), (), ())
    row = Row("run")
    table.stages, table.rows = [stage], {"slow": row}
    clock_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: clock_s)
    row.count(progress_in("scoring: 2 of 30 samples"))
    clock_s = 110.0
    row.count(progress_in("scoring: 7 of 30 samples"))
    assert table._stage_left(stage) == pytest.approx(46)


def test_time_is_short() -> None:
    assert [clock(0.4), clock(59.4), clock(60), clock(725)] == ["0 s", "59 s", "1:00", "12:05"]
