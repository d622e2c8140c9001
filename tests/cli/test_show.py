"""How a verdict is printed: in a terminal, in a pipe, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len

from src.cli.show import Terminal, finish, note, number, print_outputs, say
from src.core.check import Check, Report, check, evidence, now, report

GOOD = check("distinct2[hotpotqa,zh]", 0.6423, ">=", 0.6, "add templates", "增加模板")
BAD = check("shortcut_auc[gsm8k]", 0.991, "<=", 0.7, "hide spans without a trace", "隐藏时不留痕迹")
BLIND = check("kl3", math.nan, ">=", 0.15, "rebuild the reference", "重建参考集")


def made(*checks: Check) -> Report:
    return report("validate_pool", list(checks), {"n": 3}, evidence([], [], {}, now()))


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return lambda: capsys.readouterr().out


def test_a_passed_gate_is_a_table_that_fits_a_pipe(printed: Callable[[], str]) -> None:
    finish(made(GOOD), as_json=False)
    out = printed()
    assert "distinct2[hotpotqa,zh]" in out
    assert "0.6423" in out
    assert ">= 0.6" in out
    assert "PASSED validate_pool: 1 checks" in out
    assert "\x1b" not in out
    assert max(cell_len(line) for line in out.splitlines()) <= 80


def test_a_failed_check_shows_value_threshold_and_remedy(
    printed: Callable[[], str],
) -> None:
    with pytest.raises(typer.Exit) as left:
        finish(made(GOOD, BAD, BLIND), as_json=False)
    assert left.value.exit_code == 1
    assert printed().splitlines() == [
        "FAILED shortcut_auc[gsm8k]: 0.991, must be <= 0.7",
        "  What to do: hide spans without a trace",
        "NOT MEASURED kl3, must be >= 0.15",
        "  What to do: rebuild the reference",
        "FAILED validate_pool: 2 of 3 checks",
    ]


def test_a_remedy_is_in_the_language_of_the_terminal(
    printed: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    with pytest.raises(typer.Exit):
        finish(made(GOOD, BAD), as_json=False)
    assert printed().splitlines() == [
        "未通过 shortcut_auc[gsm8k]: 0.991，要求 <= 0.7",
        "  怎么办：隐藏时不留痕迹",
        "未通过 validate_pool: 1 / 2 项",
    ]


def test_json_is_the_report_and_nothing_else(printed: Callable[[], str]) -> None:
    with pytest.raises(typer.Exit) as left:
        finish(made(GOOD, BAD), as_json=True)
    assert left.value.exit_code == 1
    shown = json.loads(printed())
    assert shown["passed"] is False
    assert [one["name"] for one in shown["checks"]] == ["distinct2[hotpotqa,zh]", "shortcut_auc[gsm8k]"]
    assert shown["checks"][1]["remedy_zh"] == "隐藏时不留痕迹"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.6, "0.6"), (2, "2"), (0.66666, "0.6667"), (-0.25, "-0.25"), (4096, "4096"), (1e6, "1000000")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_a_value_near_its_threshold_never_looks_equal(printed: Callable[[], str]) -> None:
    near = check("distinct2", 0.5999999, ">=", 0.6, "add templates", "增加模板")
    with pytest.raises(typer.Exit):
        finish(made(near), as_json=False)
    assert printed().startswith("FAILED distinct2: 0.5999999, must be >= 0.6\n")


def test_a_line_number_is_not_an_emoji(capsys: pytest.CaptureFixture[str]) -> None:
    place = "[bold]e.jsonl:100: not valid JSON"
    say(place)
    note(place)
    assert capsys.readouterr() == (f"{place}\n", f"{place}\n")


def test_names_of_checks_are_printed_unchanged(printed: Callable[[], str]) -> None:
    finish(made(check("mix:100:", 1, "<=", 3, "", "")), as_json=False)
    assert "mix:100:" in printed()


def test_a_progress_bar_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal().progress("building", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_unusable_records_of_a_source_are_reported(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    file = tmp_path / "pool.jsonl"
    file.write_text("{}")
    print_outputs([file], as_json=False, left_aside={"hotpotqa": 0, "gsm8k": 858})
    printed = capfdbinary.readouterr().out.decode()
    assert "skipped 858 records of gsm8k: repeated, or without a way to the answer" in printed
    assert "hotpotqa" not in printed
    print_outputs([file], as_json=True, left_aside={"hotpotqa": 0, "gsm8k": 858})
    assert json.loads(capfdbinary.readouterr().out)["left_aside"] == {"gsm8k": 858}
