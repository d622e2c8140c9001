"""`askgate score --batch`: the same votes, prices and records as single calls, through a Batch API that misbehaves."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

import pytest

from src.scoring.ledger import lines
from src.scoring.types import BatchEntry
from tests.scoring.batch_server import BatchServer, Fate
from tests.scoring.judging import KEY
from tests.scoring.server import JudgeServer
from tests.scoring.workspace import SAMPLES, Workspace, samples

VOTES = 3


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    """A folder whose judge `custom` has a Batch API at half the price, looked at often."""
    workspace.write_pool(samples(4))
    use_batches(workspace)
    return workspace


def use_batches(workspace: Workspace, **limits: Any) -> None:
    workspace.configure({"batch_poll_s": 0.02, **limits})
    config = workspace.folder / "configs/default.yaml"
    text = config.read_text(encoding="utf-8")
    assert "      usd_in: 1000.0\n" in text
    config.write_text(text.replace("      usd_in: 1000.0\n", "      usd_in: 1000.0\n      batch: {price: 0.5}\n"))


def score(place: Workspace, server: BatchServer, *flags: str, code: int = 0) -> Any:
    place.environment["SCORER_BASE_URL"] = server.url
    done = place.score("--batch", *flags)
    assert done.code == code, done.err
    return done.figures() if code == 0 else done


def assert_paid_once(place: Workspace, server: BatchServer) -> None:
    """Each reply has one line in the ledger, and each vote one reply."""
    paid = [one for one in place.calls() if not one.cache_hit and not one.status.startswith("failed")]
    assert Counter(one.key for one in paid) == server.paid
    assert max(server.paid.values()) == 1
    assert sum(one.billable_tokens for one in paid) == server.tokens_in + server.tokens_out
    assert all(one.batch and one.latency_ms == 0 for one in paid)


def test_a_batch_gives_equal_scores_at_half_the_price(place: Workspace) -> None:
    with BatchServer() as server:
        done = score(place, server)
    tokens = server.tokens_in + server.tokens_out
    assert (done["scored"], done["failed"]) == (4, 0)
    assert done["figures"]["cost_usd"] == pytest.approx(tokens / 1e6 * 1000 * 0.5)
    assert_paid_once(place, server)
    [batch] = [line.entry for line in lines(place.ledger) if isinstance(line.entry, BatchEntry)]
    assert (batch.requests, batch.replies, batch.status) == (12, 12, "completed")
    batched = {one["id"]: one["scores"] for one in place.scores()}
    with JudgeServer() as live:
        place.ask(live)
        assert place.score("--out", "live.jsonl").code == 0
    assert batched == {one["id"]: one["scores"] for one in place.scores("live.jsonl")}
    for line in server.created:
        assert line["endpoint"] == "/v1/chat/completions"
        assert line["completion_window"] == "24h"
        assert line["metadata"]["askgate"].startswith("askgate-")


def test_the_requests_are_those_of_single_calls(place: Workspace) -> None:
    with BatchServer() as server, JudgeServer() as live:
        score(place, server, "--n", "1")
        place.ask(live)
        assert place.score("--n", "1", "--out", "live.jsonl").code == 0
    assert sorted(map(str, server.bodies)) == sorted(map(str, live.bodies))


def test_a_second_run_asks_for_nothing(place: Workspace) -> None:
    with BatchServer() as server:
        score(place, server, "--n", "2")
        asked = server.asked
        assert score(place, server, "--n", "2")["reused"] == 2
        assert server.asked == asked
        assert score(place, server)["scored"] == 4
    assert_paid_once(place, server)


@pytest.mark.parametrize("fate", ["500", "expired", "missing", "no_json", "no_status"])
def test_requests_without_a_reply_are_sent_again(place: Workspace, fate: Fate) -> None:
    with BatchServer(lambda n, key: fate if n == 0 and key[0] in "01234567" else "ok") as server:
        assert score(place, server)["failed"] == 0
        assert len(server.batches) == 2
    assert_paid_once(place, server)
    failed = [one for one in place.calls() if one.status.startswith("failed")]
    assert failed
    assert all(one.billable_tokens == 0 for one in failed)


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_batch_that_ends_early_keeps_its_replies(place: Workspace, end: str) -> None:
    with BatchServer(
        lambda n, key: "missing" if n == 0 and key[0] > "7" else "ok", end=lambda batch: "completed" if batch else end
    ) as server:
        assert score(place, server)["scored"] == 4
    assert_paid_once(place, server)


def test_a_refused_request_fails_its_sample_only(place: Workspace) -> None:
    refused: list[str] = []

    def fates(n: int, key: str) -> Fate:
        if not refused:
            refused.append(key)
        return "400" if key in refused else "ok"

    with BatchServer(fates) as server:
        done = score(place, server)
    assert (done["scored"], done["failed"], len(server.batches)) == (3, 1, 1)
    assert_paid_once(place, server)


def test_bad_replies_are_kept_and_asked_for_again(place: Workspace) -> None:
    with BatchServer(lambda n, key: "prose" if n == 0 and key[0] > "7" else "ok") as server:
        assert score(place, server)["failed"] == 0
    bad = [one for one in place.calls() if one.status.startswith("bad_reply")]
    assert bad
    seeds = [body["seed"] for body in server.bodies]
    assert max(seeds) > 1000, "the second try has another seed"
    assert sum(server.paid.values()) == 12 + len(bad) == len([one for one in place.calls() if not one.cache_hit])


def test_repeated_lines_and_strangers_are_reported_and_not_used(place: Workspace) -> None:
    with BatchServer(lambda n, key: "twice", stranger=True) as server:
        place.environment["SCORER_BASE_URL"] = server.url
        done = place.score("--batch")
    assert done.code == 0
    assert "12 lines repeated or damaged, 1 with an unknown custom_id" in done.err
    assert_paid_once(place, server)


def test_a_batch_that_fails_says_why(place: Workspace) -> None:
    with BatchServer(end=lambda batch: "failed") as server:
        done = score(place, server, code=2)
    assert "no such model" in done.err
    assert len(server.batches) == 1


def test_a_refused_upload_leaves_nothing_waiting(place: Workspace) -> None:
    with BatchServer() as server:
        server.refuse = {"POST /files": (401, f"incorrect key {KEY}")}
        done = score(place, server, code=2)
        assert "check SCORER_API_KEY" in done.err
        assert KEY not in done.err
        server.refuse = {}
        assert score(place, server)["scored"] == 4


def test_a_refused_list_keeps_a_batch_that_may_exist(place: Workspace) -> None:
    with BatchServer() as server:

        def lose_the_answer(number: int, moment: str) -> None:
            if server.requests[-1] == "POST /batches" and moment == "after":
                server.refuse = {"GET /batches": (401, "incorrect key")}
                raise ConnectionError

        server.on_request = lose_the_answer
        assert "forget-batches" in score(place, server, code=2).err
        server.on_request, server.refuse = lambda number, moment: None, {}
        assert score(place, server)["scored"] == 4
        assert len(server.batches) == 1
    assert_paid_once(place, server)


def test_a_service_that_is_down_for_a_moment_loses_nothing(place: Workspace) -> None:
    with BatchServer(open_looks=3) as server:
        down = {
            "POST /batches": (503, "later"),
            "GET /batches/batch_0": (500, "oops"),
            "GET /files/file-1/content": (502, ""),
        }
        seen: Counter[str] = Counter()

        def flaky(number: int, moment: str) -> None:
            name = server.requests[-1]
            seen[name] += moment == "before"
            server.refuse = {name: down[name]} if name in down and seen[name] == 1 else {}

        server.on_request = flaky
        assert score(place, server)["scored"] == 4
        assert len(server.batches) == 1
    assert_paid_once(place, server)


def test_replies_that_the_provider_hides_are_not_paid_again(place: Workspace) -> None:
    with BatchServer() as server:
        use_batches(place, tries=2)
        honest = server._finish

        def hide(batch: str, found: dict[str, Any], lines: list[dict[str, Any]]) -> None:
            honest(batch, found, lines)
            found |= {"output_file_id": None, "kept": found["output_file_id"]}

        server._finish = hide
        assert "there is no output file" in score(place, server, code=2).err
        [batch] = server.batches.values()
        batch["output_file_id"] = batch["kept"]
        assert score(place, server)["scored"] == 4
        assert len(server.batches) == 1
    assert_paid_once(place, server)


def test_votes_waiting_in_a_batch_are_asked_nowhere_else(place: Workspace) -> None:
    with BatchServer(open_looks=10**6) as server:
        use_batches(place, tries=1)
        server.on_request = lambda number, moment: server.refuse.update({"GET /batches/batch_0": (500, "down")})
        assert "nothing is asked for twice" in score(place, server, code=2).err
        live = place.score("--out", "live.jsonl")
        assert live.code == 2
        assert "waits in batch askgate-" in live.err + str(place.scores("live.jsonl"))
        assert "POST /chat/completions" not in server.requests
        assert place.run("scorecache", "forget-batches", "--json").figures() == {"forgotten": 12}


def test_replies_that_nobody_waits_for_any_more_are_kept(place: Workspace) -> None:
    with BatchServer(open_looks=10**6) as server:
        use_batches(place, tries=1)
        server.on_request = lambda number, moment: server.refuse.update({"GET /batches/batch_0": (500, "down")})
        score(place, server, code=2)
        server.on_request, server.refuse, server.open_looks = lambda number, moment: None, {}, 0
        assert score(place, server, "--n", "1")["scored"] == 1
        batches = len(server.batches)
        assert score(place, server)["scored"] == 4
        assert len(server.batches) == batches == 1
    assert_paid_once(place, server)


def leave_a_batch(place: Workspace, server: BatchServer, *flags: str) -> None:
    """A run that creates a batch and ends before it looks at it."""
    use_batches(place, tries=1)
    server.refuse = {"GET /batches/batch_0": (500, "down")}
    score(place, server, *flags, code=2)


def test_a_batch_that_fails_beside_a_good_one_is_reported(place: Workspace) -> None:
    with BatchServer(open_looks=40) as server:
        leave_a_batch(place, server, "--n", "1")
        use_batches(place, tries=3)
        assert "batch batch_0: " in score(place, server, code=2).err
        assert server.requests.count("GET /batches/batch_1") <= 3


@pytest.mark.parametrize(("told_s", "seconds"), [(600, 600.0), (90_000, 3600.0), (None, 0.0)])
def test_a_batch_ended_between_runs_has_a_believable_duration(
    place: Workspace, told_s: int | None, seconds: float
) -> None:
    place.write_pool(samples(SAMPLES))
    with BatchServer(open_looks=0) as server:
        leave_a_batch(place, server)
        with sqlite3.connect(place.folder / ".askgate/scores.sqlite") as cache:
            cache.execute("UPDATE batches SET at = at - 3600, created = created - 3600, seen_open = seen_open - 3600")
        server.refuse = {}
        if told_s is not None:
            server.batches["batch_0"] |= {"created_at": 1_000_000, "completed_at": 1_000_000 + told_s}
        score(place, server)
    [batch] = [line.entry for line in lines(place.ledger) if isinstance(line.entry, BatchEntry)]
    assert batch.seconds == pytest.approx(seconds, abs=300)
    assert place.failed_checks() == (set() if told_s else {"batch_min_s"})


def test_a_budget_starts_as_many_samples_as_it_can_pay(place: Workspace) -> None:
    with BatchServer() as server:
        assert "nobody knows what a batch costs" in score(place, server, "--budget", "1", code=2).err
        one = score(place, server, "--n", "1")["figures"]["cost_usd"]
        done = score(place, server, "--budget", str(2.2 * one))
        assert not done["complete"]
        assert 1 <= done["scored"] - 1 <= 2
        assert done["figures"]["cost_usd"] <= 2.2 * one


def test_a_provider_without_a_batch_api_is_refused(workspace: Workspace) -> None:
    done = workspace.score("--batch")
    assert done.code == 2
    assert "has no Batch API" in done.err


def test_an_instant_batch_is_a_stub(place: Workspace) -> None:
    """The honest twin is in tests/poison: a batch takes time."""
    place.write_pool(samples(SAMPLES))
    with BatchServer(open_looks=0) as server:
        score(place, server)
    assert place.failed_checks() == {"batch_min_s"}
