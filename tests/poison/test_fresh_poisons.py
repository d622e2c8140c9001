"""Poisons for the samples that a round scores live, and for the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from src.core.jsonl import read_records, write_records
from src.gates.checks import config as config_checks
from src.gates.checks import scoring as fresh
from src.scoring.ledger import Ledger, lines
from src.scoring.scores import Score
from src.scoring.types import CallEntry
from tests.gates.run_folder import current_context, judging
from tests.scoring.server import JudgeServer

from .table import poison


@poison("disk/disk_free_gb")
def test_a_full_disk(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_checks, "free_bytes", lambda: 2 * 2**30)
    found = config_checks.disk_findings(current_context())
    assert [one.name for one in found if not one.passed] == ["disk_free_gb"]


def failed_fresh(server: JudgeServer) -> set[str]:
    with server, judging() as environment:
        spoilt = {**environment, "SCORER_BASE_URL": server.url}
        fresh.score_fresh(current_context(), spoilt, print, lambda done: None)
    return {one.name for one in fresh.fresh_findings(current_context()) if not one.passed}


@poison("fresh/latency_min_ms")
def test_a_judge_that_answers_in_two_milliseconds(run: Path) -> None:
    """The hash chain of the ledger is valid; only its content gives the forgery away."""
    assert failed_ledger(lambda call: replace(call, latency_ms=2.0)) == {"latency_min_ms", "latency_spread"}


@poison("fresh/latency_spread")
def test_latencies_that_are_all_the_same(run: Path) -> None:
    assert failed_ledger(lambda call: replace(call, latency_ms=700.0)) == {"latency_spread"}


@poison("fresh/votes_that_differ")
def test_a_judge_that_gives_everybody_the_same(run: Path) -> None:
    same = dict.fromkeys(("logic", "clarity", "naturalness", "educational"), 7)
    assert "votes_that_differ" in failed_fresh(JudgeServer(lambda n: "slow", latency_s=0.02, scores=lambda body: same))


@poison("fresh/fresh_without_bill", "fresh/bills_that_differ")
def test_a_judge_that_bills_nothing(run: Path) -> None:
    assert {"fresh_without_bill", "bills_that_differ"} <= failed_ledger(lambda call: replace(call, billable_tokens=0))


@poison("fresh/request_ids_that_differ")
def test_one_recorded_reply_for_all(run: Path) -> None:
    assert failed_ledger(lambda call: replace(call, request_id="chatcmpl-1")) == {"request_ids_that_differ"}


@poison("fresh/fresh_from_cache")
def test_fresh_scores_out_of_the_cache(run: Path) -> None:
    assert "fresh_from_cache" in failed_ledger(lambda call: replace(call, cache_hit=True))


@poison("fresh/fresh_scored")
def test_fresh_scores_without_a_ledger_line(run: Path) -> None:
    path = current_context().fresh
    lines = [replace(line, scoring=f"{line.scoring}x") for line in read_records(path, Score)]
    with open(path, "wb") as handle:
        write_records(handle, lines)
    assert "fresh_scored" in {one.name for one in fresh.fresh_findings(current_context()) if not one.passed}


@poison("fresh/fresh_unstable_share")
def test_a_judge_with_random_scores(run: Path) -> None:
    random = Random(1)

    def dice(body: dict[str, Any]) -> dict[str, Any]:
        return {name: random.choice([0, 10]) for name in ("logic", "clarity", "naturalness", "educational")}

    assert "fresh_unstable_share" in failed_fresh(JudgeServer(lambda n: "slow", latency_s=0.02, scores=dice))


def failed_ledger(change: Callable[[Any], Any]) -> set[str]:
    """Failed checks for the fresh scores of a ledger that was rewritten with a valid chain."""
    path = current_context().ledger
    wanted = {line.scoring for line in read_records(current_context().fresh, Score)}
    entries = [line.entry for line in lines(path)]
    path.unlink()
    Ledger(path).append(
        [change(one) if isinstance(one, CallEntry) and one.scoring in wanted else one for one in entries]
    )
    return {one.name for one in fresh.fresh_findings(current_context()) if not one.passed}
