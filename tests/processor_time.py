"""Processor time of the suite by folder and by file.

    python -m pytest -q -n auto --dist loadfile -p tests.processor_time

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
MAX_FILES = 40
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
    file = report.nodeid.partition("::")[0]
    for name in (file, file.rpartition("/")[0]):
        _spent[name] += sum(float(value) for key, value in report.user_properties if key == NAME)
        _tests[name] += report.when == "call"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("processor time")
    files = {name: seconds for name, seconds in _spent.items() if name.endswith(".py")}
    most = [name for name, _ in Counter(files).most_common(MAX_FILES)]
    for name in (*sorted(_spent.keys() - files.keys(), key=lambda name: -_spent[name]), *most):
        terminalreporter.write_line(f"{_spent[name]:8.1f} s  {_tests[name]:5} tests  {name}")
    tests = sum(_tests[name] for name in files)
    terminalreporter.write_line(f"{sum(files.values()):8.1f} s  {tests:5} tests  in all, with collection")
