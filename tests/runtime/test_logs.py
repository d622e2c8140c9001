"""Logs of a run: the text log, the error report and the step log, without secrets."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from src.core.paths import point
from src.runtime.logs import PACKAGE, StepLog, logging_to, write_error_report

SECRET = "sk-live/42+abc"


def failure(message: str) -> Exception:
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        return error


def test_the_report_has_trace_and_last_200_lines(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(300)))
    path = write_error_report(failure("it broke"), log, tmp_path / "reports", {"config": "own.yaml"}, {})
    report = json.loads(path.read_text())
    assert path.name.startswith("ERROR_")
    assert path.suffix == ".json"
    assert (report["error"], report["message"], report["config"]) == ("RuntimeError", "it broke", "own.yaml")
    assert report["log"] == [f"line {number}" for number in range(100, 300)]
    assert report["trace"][0] == "Traceback (most recent call last):"
    assert report["trace"][-1] == "RuntimeError: it broke"


def test_two_failures_in_a_second_are_two_reports(tmp_path: Path) -> None:
    paths = {write_error_report(failure("again"), tmp_path / "no.log", tmp_path, {}, {}) for _ in range(3)}
    assert len(paths) == 3


def test_no_secret_reaches_the_report(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"calling https://host/?key=sk-live%2F42%2Babc\nwith {SECRET}\n")
    environment = {"SCORER_API_KEY": SECRET, "HOME": "/home/me"}
    path = write_error_report(failure(f"refused {SECRET}"), log, tmp_path, {"config": SECRET}, environment)
    text = path.read_text()
    assert "sk-live" not in text
    assert "refused ***" in text


def test_no_secret_reaches_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to(tmp_path / "train.log", logging.StreamHandler(), {"HF_TOKEN": SECRET}):
        logging.getLogger(f"{PACKAGE}.anywhere").info("token %s", SECRET)
    logging.getLogger(f"{PACKAGE}.anywhere").warning("after the run")
    log = (tmp_path / "train.log").read_text()
    assert log.endswith("INFO token ***\n")
    assert SECRET not in capsys.readouterr().err


def test_a_second_run_appends_to_the_same_log(tmp_path: Path) -> None:
    for number in (1, 2):
        with logging_to(tmp_path / "train.log", logging.NullHandler(), {}):
            logging.getLogger(PACKAGE).info("run %d", number)
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert [line[-5:] for line in lines] == ["run 1", "run 2"]


@pytest.fixture
def log(tmp_path: Path) -> StepLog:
    made = StepLog(tmp_path / "logs" / "metrics.jsonl")
    for seed in (1, 2):
        for step in (1, 2, 3):
            made.append(seed, step, {"loss": step / 10})
    return made


def steps(log: StepLog, seed: int) -> list[int]:
    return [line["step"] for line in log.lines(seed)]


def test_a_cut_removes_later_steps_of_its_seed_only(log: StepLog) -> None:
    log.cut(2, 1)
    assert (steps(log, 1), steps(log, 2)) == ([1, 2, 3], [1])


def test_a_resumed_log_equals_an_uninterrupted_one(log: StepLog) -> None:
    unbroken = log.path.read_bytes()
    log.cut(2, 2)
    log.append(2, 3, {"loss": 0.3})
    assert log.path.read_bytes() == unbroken


@pytest.mark.parametrize("torn", [1, 10, 30])
def test_an_incomplete_line_is_removed(torn: int, log: StepLog) -> None:
    log.path.write_bytes(log.path.read_bytes()[:-torn])
    log.cut(2, 3)
    assert (steps(log, 1), steps(log, 2)) == ([1, 2, 3], [1, 2])


def test_a_cut_without_effect_writes_nothing(log: StepLog) -> None:
    before = log.path.stat().st_ino
    log.cut(2, 3)
    assert log.path.stat().st_ino == before
    StepLog(log.path.parent / "none.jsonl").cut(1, 0)
    assert not (log.path.parent / "none.jsonl").exists()


def test_a_link_survives_a_cut_and_a_moved_folder(log: StepLog, tmp_path: Path) -> None:
    link = tmp_path / "reports" / "metrics.jsonl"
    point(link, log.path)
    point(link, log.path)
    assert not os.path.isabs(os.readlink(link))
    log.cut(1, 0)
    assert link.read_bytes() == log.path.read_bytes()
    (tmp_path / "moved").mkdir()
    for folder in ("logs", "reports"):
        (tmp_path / folder).rename(tmp_path / "moved" / folder)
    assert len((tmp_path / "moved" / "reports" / "metrics.jsonl").read_bytes().splitlines()) == 3


def test_a_link_never_replaces_a_file(log: StepLog, tmp_path: Path) -> None:
    own = tmp_path / "reports" / "metrics.jsonl"
    own.parent.mkdir()
    own.write_text("mine")
    point(own, log.path)
    assert own.read_text() == "mine"
