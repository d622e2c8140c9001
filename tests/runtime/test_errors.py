"""A failed run leaves a report: the trace, the last 200 lines of its log, and none of the user's secrets."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from src.runtime.errors import write_error_report
from src.runtime.logs import PACKAGE, logged
from src.runtime.secrets import redact, secrets_in

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
    with logged(tmp_path / "train.log", logging.StreamHandler(), {"HF_TOKEN": SECRET}):
        logging.getLogger(f"{PACKAGE}.anywhere").info("token %s", SECRET)
    logging.getLogger(f"{PACKAGE}.anywhere").warning("after the run")
    log = (tmp_path / "train.log").read_text()
    assert log.endswith("INFO token ***\n")
    assert SECRET not in capsys.readouterr().err


def test_a_second_run_goes_on_in_the_same_log(tmp_path: Path) -> None:
    for number in (1, 2):
        with logged(tmp_path / "train.log", logging.NullHandler(), {}):
            logging.getLogger(PACKAGE).info("run %d", number)
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert [line[-5:] for line in lines] == ["run 1", "run 2"]


def test_a_secret_inside_another_does_not_leave_half_of_it_behind() -> None:
    secrets = secrets_in({"A_KEY": "abcd", "B_TOKEN": "abcdefgh", "PATH": "abcd"})
    assert redact("abcdefgh abcd", secrets) == "*** ***"


def test_ordinary_variables_are_no_secrets() -> None:
    assert secrets_in({"KEYBOARD": "qwerty", "MONKEY": "banana", "MY_KEY": "abc"}) == []
