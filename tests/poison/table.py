"""Marks of the poison tests, and the table that `make poison` prints: poison, checks that must detect it, verdict.

`@poison("pool/distinct2")` marks a test whose input that check must reject. `@poison("pool/*")` marks a test whose
parameter `named` gives the check. `@twin("pool")` marks a test in which the gate accepts the honest input.
`test_every_gate.py` fails for a check without a poison and for a gate without a twin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def poison(*checks: str) -> pytest.MarkDecorator:
    """Marks a test as a poison for `gate/check`, without the scope of the check."""
    return pytest.mark.poison(*checks)


def twin(*gates: str) -> pytest.MarkDecorator:
    return pytest.mark.twin(*gates)


def marked(items: Iterable[pytest.Item], name: str) -> set[str]:
    """All arguments of the marks with that name."""
    return {
        one for item in items for mark in item.iter_markers(name) for given in mark.args for one in _named(item, given)
    }


def _named(item: pytest.Item, given: str) -> list[str]:
    if not given.endswith("/*") or not isinstance(item, pytest.Function):
        return [given]
    named = item.callspec.params["named"]
    return [f"{given[:-1]}{one}" for one in ([named] if isinstance(named, str) else sorted(named))]


def add_properties(items: Iterable[pytest.Item]) -> None:
    """Copies the marks into the test reports, so that they survive test processes."""
    for item in items:
        for name in ("poison", "twin"):
            for one in sorted(marked([item], name)):
                item.user_properties.append((name, one))


def print_table(reporter: Any) -> None:
    calls = [one for key in ("passed", "failed") for one in reporter.stats.get(key, ()) if one.when == "call"]
    rows = [(one, [value for name, value in one.user_properties if name == "poison"]) for one in calls]
    poisons = sorted((_title(one), ", ".join(checks), one.passed) for one, checks in rows if checks)
    if not poisons:
        return
    reporter.section("poisons")
    width = min(90, max(len(title) for title, _, _ in poisons))
    for title, checks, passed in poisons:
        reporter.write_line(f"{'caught' if passed else 'MISSED':7} {title[:width]:{width}}  {checks}")
    twins: dict[str, bool] = {}
    for one in calls:
        for name, value in one.user_properties:
            if name == "twin":
                twins[value] = twins.get(value, True) and one.passed
    accepted = ", ".join(f"{gate}{'' if passed else ' (REJECTED)'}" for gate, passed in sorted(twins.items()))
    reporter.write_line(f"honest twins accepted: {accepted}")
    missed = sum(not passed for _, _, passed in poisons)
    checks = {check for _, found in rows for check in found}
    reporter.write_line(
        f"{len(poisons)} poisons for {len(checks)} checks, {len(poisons) - missed} caught, {missed} missed"
    )


def _title(report: Any) -> str:
    """The name of the test as a sentence, with its parameter."""
    name, _, parameter = report.nodeid.rpartition("::")[2].partition("[")
    return name.removeprefix("test_").replace("_", " ") + (f" ({parameter[:-1]})" if parameter else "")
