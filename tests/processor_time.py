"""Processor time of the suite by folder: `python -m pytest -q -n auto -p tests.processor_time`.

Counts the process of a test, its threads and the child processes that have ended; set-up counts for the test that
needed it. The clock would say more about what else runs on the machine.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

NAME = "processor_s"
_spent: Counter[str] = Counter()
_tests: Counter[str] = Counter()
_last = 0.0


def _used() -> float:
    both = [resource.getrusage(whom) for whom in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    global _last
    report = yield
    now = _used()
    report.user_properties = [*report.user_properties, (NAME, now - _last)]
    _last = now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    folder = report.nodeid.partition("::")[0].rpartition("/")[0]
    _spent[folder] += sum(float(value) for name, value in report.user_properties if name == NAME)
    _tests[folder] += report.when == "call"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("processor time")
    for folder, seconds in _spent.most_common():
        terminalreporter.write_line(f"{seconds:8.1f} s  {_tests[folder]:5} tests  {folder}")
    terminalreporter.write_line(f"{_spent.total():8.1f} s  {_tests.total():5} tests  in all, with collection")
