"""Exit codes: 0 passed, 1 a gate failed with reasons; a defect prints its traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from askgate_env.types import TASKS, Sample
from src.core.files import sha256_file, sidecar
from src.core.jsonl import read_records
from tests.conftest import Askgate

ROOT = Path(__file__).resolve().parents[2]


def test_a_building_verb_says_what_it_wrote(askgate: Askgate, tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    outcome = askgate("build_rollout_pool", "--n", "20", "--out", pool)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"wrote {pool}\n  sha256 {sha256_file(pool)}\n"
    shown = askgate("build_rollout_pool", "--n", "20", "--out", pool, "--json")
    assert json.loads(shown.out) == {"outputs": {str(pool): sha256_file(pool)}}


def test_a_failed_gate_exits_with_1_and_says_why(askgate: Askgate, small_pool: Path, small_shadow: Path) -> None:
    arguments = ("validate_pool", small_pool, "--leak_check", small_shadow, "--roles_min", "999")
    outcome = askgate(*arguments)
    assert outcome.code == 1
    assert "must be >= 999" in outcome.out
    assert "What to do: " in outcome.out
    shown = askgate(*arguments, "--json")
    assert shown.code == 1
    report = json.loads(shown.out)
    assert report["passed"] is False
    assert [one for one in report["checks"] if one["threshold"] == 999 and not one["passed"]]
    assert report["evidence"]["inputs"][str(small_pool)] == sha256_file(small_pool)


LOOSE = (
    "--min_distinct2 0 --kl3_min -1 --roles_min 1 --styles_min 1 --max_dup_pct 100 --min_len 1 --max_len 1000000"
    " --max_shortcut_auc 1"
)


def test_a_passed_gate_exits_with_0_and_fits_a_pipe(askgate: Askgate, small_shadow: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    assert askgate("build_rollout_pool", "--n", "600", "--out", pool).code == 0
    outcome = askgate("validate_pool", pool, "--leak_check", small_shadow, *LOOSE.split())
    assert outcome.code == 0, outcome.out
    assert "PASSED validate_pool" in outcome.out
    assert "\x1b" not in outcome.out + outcome.err
    assert max(cell_len(line) for line in outcome.out.splitlines() if not line.startswith("wrote ")) <= 80


def test_metrics_are_counted_by_task_and_bucket(askgate: Askgate, small_pool: Path, tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.jsonl"
    shown = json.loads(askgate("difficulty_metrics", "--in", small_pool, "--out", metrics, "--json").out)
    assert sum(sum(levels.values()) for levels in shown["counts"].values()) == 60
    assert len(metrics.read_bytes().splitlines()) == 60


def test_the_minimal_sets_share_no_source(askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert askgate("make_min_data").code == 0
    train = list(read_records(Path("data/train_min.jsonl"), Sample))
    held_out = list(read_records(Path("data/eval_min.jsonl"), Sample))
    assert len(train) >= 100
    assert len(held_out) >= 30
    for samples in (train, held_out):
        assert {sample.task for sample in samples} == set(TASKS)
        assert {sample.needs_clarification for sample in samples} == {True, False}
    assert not {one.provenance.source_id for one in train} & {one.provenance.source_id for one in held_out}
    assert sidecar(Path("data/train_min.jsonl")).exists()


def test_a_closed_pipe_does_not_exit_with_1(tmp_path: Path) -> None:
    """When a connection is lost the pipe closes, and libraries then exit with 1."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "src.cli", "rc1", "--list"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.returncode == 2


def test_a_defect_prints_its_traceback_and_exits_with_2(
    askgate: Askgate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Exit code 1 would be read as a failed gate, and a loop keeps such a verdict while inputs are unchanged."""

    def defect(*_: object) -> None:
        raise RuntimeError("CUDA error, key sk-own-123456")

    monkeypatch.setenv("SCORER_API_KEY", "sk-own-123456")
    monkeypatch.setattr("src.data.pool.build.build_pool", defect)
    done = askgate("build_rollout_pool", "--n", "10", "--out", tmp_path / "pool.jsonl", defect=True)
    assert done.code == 2
    assert "RuntimeError: CUDA error, key ***" in done.err
