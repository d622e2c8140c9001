"""A log by steps reads as if the run had never been broken off."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from src.runtime.steplog import StepLog, also_reachable


@pytest.fixture
def log(tmp_path: Path) -> StepLog:
    made = StepLog(tmp_path / "logs" / "metrics.jsonl")
    for seed in (1, 2):
        for step in (1, 2, 3):
            made.append(seed, step, {"loss": step / 10})
    return made


def steps(log: StepLog, seed: int) -> list[int]:
    return [line["step"] for line in log.lines(seed)]


def test_what_happened_after_the_step_is_taken_out_and_other_seeds_stay(log: StepLog) -> None:
    log.cut(2, 1)
    assert (steps(log, 1), steps(log, 2)) == ([1, 2, 3], [1])


def test_a_resumed_log_has_the_same_bytes_as_an_unbroken_one(log: StepLog) -> None:
    unbroken = log.path.read_bytes()
    log.cut(2, 2)
    log.append(2, 3, {"loss": 0.3})
    assert log.path.read_bytes() == unbroken


@pytest.mark.parametrize("torn", [1, 10, 30])
def test_a_line_that_a_kill_tore_is_taken_out(torn: int, log: StepLog) -> None:
    log.path.write_bytes(log.path.read_bytes()[:-torn])
    log.cut(2, 3)
    assert (steps(log, 1), steps(log, 2)) == ([1, 2, 3], [1, 2])


def test_nothing_is_written_where_nothing_is_to_be_cut(log: StepLog) -> None:
    before = log.path.stat().st_ino
    log.cut(2, 3)
    assert log.path.stat().st_ino == before
    StepLog(log.path.parent / "none.jsonl").cut(1, 0)
    assert not (log.path.parent / "none.jsonl").exists()


def test_the_second_name_still_leads_there_after_a_cut_and_in_a_moved_folder(log: StepLog, tmp_path: Path) -> None:
    link = tmp_path / "reports" / "metrics.jsonl"
    also_reachable(link, log.path)
    also_reachable(link, log.path)
    assert not os.path.isabs(os.readlink(link))
    log.cut(1, 0)
    assert link.read_bytes() == log.path.read_bytes()
    (tmp_path / "moved").mkdir()
    for folder in ("logs", "reports"):
        (tmp_path / folder).rename(tmp_path / "moved" / folder)
    assert len((tmp_path / "moved" / "reports" / "metrics.jsonl").read_bytes().splitlines()) == 3


def test_a_file_of_that_name_is_never_replaced(log: StepLog, tmp_path: Path) -> None:
    own = tmp_path / "reports" / "metrics.jsonl"
    own.parent.mkdir()
    own.write_text("mine")
    also_reachable(own, log.path)
    assert own.read_text() == "mine"
