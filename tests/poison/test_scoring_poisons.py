"""Forged scorings for the probe and the anti-simulation gate: honest scorings pass, poisons do not.

A careful forger keeps the hash chain valid: these ledgers are written by the ledger's own code, so only their content
can reveal them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
import yaml
from msgspec.structs import replace

from src.core.check import Report
from src.gates.anti_simulation import assert_not_simulated
from src.scoring.ledger import Ledger
from src.scoring.prompt import DIMENSIONS
from src.scoring.types import BatchEntry, CallEntry, Entry, ScoringEntry
from src.scoring.votes import aggregate
from tests.scoring.workspace import ROOT

from .table import poison, twin

HONEST_ENVIRONMENT = {"RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "deepseek_r1"}
Calls = list[CallEntry]
Spoil = Callable[[Calls], Calls]


def honest_calls(scoring: int, random: Random) -> Calls:
    return [
        CallEntry(
            scoring=f"scoring-{scoring}",
            key=f"{scoring:032x}{vote:032x}",
            request_id=f"req-{scoring}-{vote}",
            provider="deepseek_r1",
            model="deepseek-reasoner",
            prompt_version="judge-1",
            billable_tokens=random.randint(300, 900),
            latency_ms=random.lognormvariate(7.5, 0.4),
            cache_hit=False,
            status="ok",
            scores={name: random.randint(5, 9) / 10 for name in DIMENSIONS},
            live=True,
            at=datetime.now(UTC).isoformat(),
            server="https://api.deepseek.com/v1",
        )
        for vote in range(3)
    ]


def scoring_of(calls: Calls, sample: str) -> ScoringEntry:
    first, verdict = calls[0], aggregate([call.scores for call in calls])
    return ScoringEntry(
        scoring=first.scoring,
        sample=sample,
        provider=first.provider,
        model=first.model,
        votes=verdict.votes,
        overall=verdict.overall,
        scores=verdict.scores,
        variance=verdict.variance,
        stable=verdict.variance <= 0.08,
        cache_hits=sum(call.cache_hit for call in calls),
        billable_tokens=sum(call.billable_tokens for call in calls),
        live=True,
        failure="",
        at=first.at,
    )


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Writes a ledger of forged scorings with a valid chain, and returns the failed checks."""
    monkeypatch.chdir(tmp_path)

    def judged(
        spoil: Spoil = lambda calls: calls,
        claim: Callable[[ScoringEntry], ScoringEntry] = lambda entry: entry,
        scorings: int = 40,
        before: Iterable[Entry] = (),
        **environment: str,
    ) -> Report:
        random = Random(1)
        entries: list[Entry] = [*before]
        for number in range(scorings):
            calls = spoil(honest_calls(number, random))
            entries += [*calls, claim(scoring_of(calls, f"sample-{number}"))]
        Ledger(Path("reports/rc1/scoring_ledger.jsonl")).append(entries)
        return assert_not_simulated(0.90, {**HONEST_ENVIRONMENT, **environment})

    return judged


def failed(report: Report) -> set[str]:
    return {one.name.split("[")[0] for one in report.checks if not one.passed}


def every(**changes: object) -> Spoil:
    return lambda calls: [replace(call, **changes) for call in calls]


def mostly_cached(calls: Calls) -> Calls:
    """A ledger in which one scoring in twenty is paid for."""
    if int(calls[0].scoring.removeprefix("scoring-")) % 20 == 0:
        return calls
    return [replace(call, cache_hit=True, billable_tokens=0, latency_ms=0.4) for call in calls]


def mostly_a_stubs(calls: Calls) -> Calls:
    """A ledger in which seven of eight scorings have votes that a stub gave on another day."""
    if int(calls[0].scoring.removeprefix("scoring-")) % 8 == 0:
        return calls
    stub = {"server": "http://127.0.0.1:8000/v1", "cache_hit": True, "billable_tokens": 0, "latency_ms": 0.4}
    return [replace(call, **stub) for call in calls]


@twin("scoring")
def test_the_honest_twin_passes(forge: Callable[..., Report]) -> None:
    assert failed(forge()) == set()


def batched(calls: Calls) -> Calls:
    """The calls of a scoring as parts of the batch `batch_1`."""
    return [replace(call, batch="batch_1", latency_ms=0.0) for call in calls]


def batch_of(replies: int, **changes: object) -> BatchEntry:
    server = "https://api.deepseek.com/v1"
    return replace(BatchEntry("batch_1", "deepseek_r1", server, replies, replies, "completed", 600.0, "now"), **changes)


@twin("scoring")
def test_scorings_out_of_a_batch_pass(forge: Callable[..., Report]) -> None:
    assert failed(forge(batched, before=[batch_of(120)])) == set()


@poison("scoring/batch_min_s", "scoring/batch_calls_without_batch")
@pytest.mark.parametrize(
    ("before", "named"),
    [
        pytest.param([batch_of(120, seconds=0.2)], {"batch_min_s"}, id="a stub's instant batch"),
        pytest.param([], {"batch_min_s", "batch_calls_without_batch"}, id="stub calls that claim a batch"),
        pytest.param([batch_of(30)], {"batch_calls_without_batch"}, id="more calls than the batch had"),
        pytest.param([batch_of(120, server="127.0.0.1:80")], {"batch_calls_without_batch"}, id="another server's"),
    ],
)
def test_a_batch_excuses_no_stub(forge: Callable[..., Report], before: list[Entry], named: set[str]) -> None:
    assert failed(forge(batched, before=before)) == named


@poison("scoring/latency_min_ms")
def test_calls_of_their_own_beside_a_batch_are_timed(forge: Callable[..., Report]) -> None:
    def half(calls: Calls) -> Calls:
        quick = int(calls[0].scoring.removeprefix("scoring-")) % 2
        return [replace(call, latency_ms=2.0) for call in calls] if quick else batched(calls)

    assert failed(forge(half, before=[batch_of(120)])) == {"latency_min_ms", "latency_spread"}


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        pytest.param(every(latency_ms=2.0), {"latency_min_ms", "latency_spread"}, id="constant 2 ms"),
        pytest.param(every(latency_ms=700.0), {"latency_spread"}, id="sleeps to look slow"),
        pytest.param(
            every(billable_tokens=0), {"billable_count", "share_without_bill", "bills_that_differ"}, id="no bill"
        ),
        pytest.param(every(billable_tokens=400), {"bills_that_differ"}, id="one bill for all"),
        pytest.param(every(scores=dict.fromkeys(DIMENSIONS, 0.7)), {"votes_that_differ"}, id="one verdict for all"),
        pytest.param(every(request_id="chatcmpl-123"), {"request_ids_that_differ"}, id="one recorded reply"),
        pytest.param(every(live=False), {"calls_not_live"}, id="not live"),
        pytest.param(
            every(provider="gemini"),
            {"scorings_by_another_provider", "calls_at_another_address"},
            id="another provider",
        ),
        pytest.param(
            every(server="http://127.0.0.1:8000/v1"), {"calls_at_another_address"}, id="a stub in the provider's stead"
        ),
        pytest.param(mostly_a_stubs, {"calls_at_another_address"}, id="a stub's votes from the cache"),
        pytest.param(mostly_cached, {"cache_hit_rate"}, id="all but a few from the cache"),
        pytest.param(
            every(cache_hit=True, billable_tokens=0, latency_ms=0.4),
            {"cache_hit_rate", "billable_count", "share_without_bill", "latency_min_ms", "latency_spread"},
            id="all from the cache",
        ),
    ],
)
@poison("scoring/*")
def test_a_forged_ledger_is_refused_for_its_content(
    forge: Callable[..., Report], spoil: Spoil, named: set[str]
) -> None:
    report = forge(spoil)
    assert failed(report) == named
    assert all(one.passed or (one.remedy and one.remedy_zh) for one in report.checks)


def test_the_figures_name_every_server_whose_votes_count(forge: Callable[..., Report]) -> None:
    servers = forge(mostly_a_stubs).figures["servers"]
    assert servers == ["http://127.0.0.1:8000/v1", "https://api.deepseek.com/v1"]


def test_a_server_without_request_ids_is_accepted(forge: Callable[..., Report]) -> None:
    assert failed(forge(every(request_id=""))) == set()


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param({"overall": 0.99}, id="overall raised"),
        pytest.param({"scores": dict.fromkeys(DIMENSIONS, 1.0)}, id="scores raised"),
        pytest.param({"variance": 0.0001}, id="variance lowered"),
        pytest.param({"votes": 11}, id="votes that nobody gave"),
    ],
)
@poison("scoring/scores_without_their_votes")
def test_scores_that_do_not_follow_from_their_votes_are_refused(
    forge: Callable[..., Report], spoil: dict[str, object]
) -> None:
    assert failed(forge(claim=lambda entry: replace(entry, **spoil))) == {"scores_without_their_votes"}


@poison("scoring/scores_without_their_votes")
def test_scores_without_any_vote_are_refused(forge: Callable[..., Report]) -> None:
    def bare(entry: ScoringEntry) -> ScoringEntry:
        number = int(entry.scoring.removeprefix("scoring-"))
        return entry if number < 10 else replace(entry, scoring=f"nobody-{number}")

    assert failed(forge(claim=bare)) == {"scores_without_their_votes"}


@poison("scoring/providers", "scoring/scorings_by_another_provider")
def test_scores_that_name_another_provider_than_their_calls_are_refused(forge: Callable[..., Report]) -> None:
    stub = every(provider="stub", server="http://127.0.0.1:8000/v1")
    report = forge(stub, claim=lambda entry: replace(entry, provider="deepseek_r1"))
    assert failed(report) == {"providers", "scorings_by_another_provider"}


@poison("scoring/scorings")
def test_failed_scorings_do_not_count_towards_the_eight(forge: Callable[..., Report]) -> None:
    def failing(entry: ScoringEntry) -> ScoringEntry:
        if int(entry.scoring.removeprefix("scoring-")) < 7:
            return entry
        return replace(entry, overall=None, scores={}, variance=None, failure="timeout: no answer")

    assert failed(forge(claim=failing)) == {"scorings"}


@poison("scoring/latency_min_ms")
def test_jitter_on_a_two_millisecond_stub_does_not_help(forge: Callable[..., Report]) -> None:
    random = Random(2)

    def jitter(calls: Calls) -> Calls:
        return [replace(call, latency_ms=2.0 + random.expovariate(1 / 40.0)) for call in calls]

    assert failed(forge(jitter)) == {"latency_min_ms"}


@poison("scoring/scorings")
def test_seven_scorings_are_too_few(forge: Callable[..., Report]) -> None:
    assert failed(forge(scorings=7)) == {"scorings"}


@pytest.mark.parametrize(
    ("environment", "named"),
    [({"RUN_MODE": ""}, "run_mode_is_prod"), ({"REWARD_LIVE_MODE": "off"}, "live_mode_is_on")],
)
@poison("scoring/*")
def test_an_environment_that_is_not_production_is_refused(
    forge: Callable[..., Report], environment: dict[str, str], named: str
) -> None:
    assert failed(forge(**environment)) == {named}


@poison("scoring/simulate")
def test_simulate_true_is_refused(forge: Callable[..., Report]) -> None:
    config = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8")) | {"simulate": True}
    Path("configs").mkdir()
    Path("configs/default.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    assert failed(forge()) == {"simulate"}


def edited(lines: list[bytes]) -> Iterable[bytes]:
    return [*lines[:4], lines[4].replace(b'"billable_tokens":', b'"billable_tokens":9', 1), *lines[5:]]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(edited, id="a line edited"),
        pytest.param(lambda lines: [*lines[:4], *lines[5:]], id="a line taken out"),
        pytest.param(lambda lines: [*lines[:5], *lines[4:]], id="a line written twice"),
        pytest.param(lambda lines: lines[4:], id="the start cut off"),
    ],
)
@poison("scoring/ledger_chain_whole")
def test_a_ledger_that_was_changed_is_refused(
    forge: Callable[..., Report], spoil: Callable[[list[bytes]], Iterable[bytes]]
) -> None:
    forge()
    ledger = Path("reports/rc1/scoring_ledger.jsonl")
    ledger.write_bytes(b"".join(spoil(ledger.read_bytes().splitlines(keepends=True))))
    assert failed(assert_not_simulated(0.90, HONEST_ENVIRONMENT)) == {"ledger_chain_whole"}
