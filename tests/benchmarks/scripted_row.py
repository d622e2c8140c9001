"""Runs a row of a benchmark with given replies of the model and given verdicts of the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from src.benchmarks.base import Benchmark, Complete, Grade, Outcome, Row, Turn
from src.scoring.chat_server import Reply


def outcome_of(
    benchmark: Benchmark,
    row: Row,
    replies: Sequence[str],
    verdicts: Sequence[dict[str, bool] | None] = (),
    actions: bool = False,
) -> Outcome:
    """The outcome. The same messages get the same reply; the simulated user always says `It is 7.`"""
    left, marks = iter(replies), iter(verdicts)
    known: dict[str, Reply] = {}
    steps = benchmark.run_row(row, actions)
    result: Any = None
    while True:
        try:
            step = steps.send(result)
        except StopIteration as end:
            outcome: Outcome = end.value
            assert list(left) == [], "every reply was asked for"
            return outcome
        if isinstance(step, Complete):
            reply = known.setdefault(repr(step.messages), _next(left, known, repr(step.messages)))
            result = Turn(reply, (*step.messages, {"role": "assistant", "content": reply.text}))
        else:
            result = next(marks) if isinstance(step, Grade) else "It is 7."


def _next(left: Iterator[str], known: dict[str, Reply], key: str) -> Reply:
    return known[key] if key in known else Reply(next(left))
