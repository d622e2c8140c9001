"""The page of an evaluation is one file, escaped, with the verdict, the gates and a picture for each figure."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import msgspec
import pytest

from src.eval.trial import SeedRun
from src.pages.render import POLICY, environment
from src.pages.results import trial_page
from tests.eval.test_trial import CONTROL, one, reported

LINES = [{"seed": 1, "step": step, "success": 0.5, "overclar_rate": 0.1, "avg_turns": 4.0} for step in (0, 20, 40)]


class Closed(HTMLParser):
    """Checks that every element is closed, in order."""

    EMPTY = ("meta", "br", "line", "circle", "path")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY or tag == "circle":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page() -> str:
    return trial_page(reported(one(control=CONTROL)), LINES).decode()


def test_the_trial_page_loads_nothing(page: str) -> None:
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert POLICY in page
    closed = Closed()
    closed.feed(page)
    assert closed.open == []


def test_the_page_says_where_no_control_was_measured(page: str) -> None:
    assert "No SFT control was measured" not in page
    assert trial_page(reported(one()), LINES).decode().count("No SFT control was measured") == 1


def test_the_page_shows_verdict_gates_and_pictures(page: str) -> None:
    assert "✓ PASSED" in page
    assert page.count('<td class="ok">') == 4
    assert "SFT control" in page
    assert page.count("<svg") == 10
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_a_failed_run_shows_its_remedies() -> None:
    report = reported(SeedRun(1, 40, CONTROL, CONTROL, None))
    page = trial_page(report, []).decode()
    assert "✗ FAILED" in page
    assert report.checks[0].remedy_zh in page
    assert "no figures yet" in page, "there are no curves"


def test_several_seeds_are_in_one_table() -> None:
    page = trial_page(reported(one(1), one(2), one(3)), LINES).decode()
    assert re.findall(r'<span class="zh" lang="zh"> 种子</span> (\d)</td>', page) == ["1", "2", "3"]


def test_config_values_are_escaped() -> None:
    report = msgspec.structs.replace(reported(one()), config={"base_model": "<script>alert(1)</script>"})
    page = trial_page(report, []).decode()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_run_without_evaluation_says_so() -> None:
    page = trial_page(reported(SeedRun(1, 40, None, None, None)), []).decode()
    assert "No evaluation found" in page
    assert "not measured" in page


def test_an_unmeasured_dot_is_left_out() -> None:
    intervals = environment().globals["svg"].intervals
    measured, unmeasured = {"value": 0.5, "low": 0.4, "high": 0.6}, {"value": None, "low": None, "high": None}
    picture = intervals("t", [(("a", "甲"), [("base", measured), ("trained", unmeasured)])], True)
    assert picture.count("<circle") == 1
    assert "no figures" in intervals("t", [(("a", "甲"), [("base", unmeasured)])], True)
