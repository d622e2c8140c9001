"""Complete scorings against a misbehaving server: none lost, none invented, and the bill matches the server's."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from askgate_env.types import Lang, Sample
from src.config.judge_config import VotesSection
from src.scoring import client as client_module
from src.scoring import judge as judge_module
from src.scoring import prompt
from src.scoring.judge import Judge, Tally, recover
from src.scoring.ledger import Ledger, lines
from src.scoring.prompt import vote_request
from src.scoring.store import Store
from src.scoring.types import CallEntry, Reply, ScoringEntry
from src.scoring.votes import aggregate
from tests.data.samples import make_sample
from tests.scoring.judging import KEY, ask, client, provider
from tests.scoring.server import BILLED, Act, JudgeServer, steady_scores

AT_ONCE = 16
VOTES = VotesSection(k=3, k_max=7, variance_max=0.08)
TRIES = 4
TROUBLE: dict[Act, str] = {
    "429": "rate_limited",
    "429_wait": "rate_limited",
    "500": "server_error",
    "reset": "unreachable",
    "cut_off": "unreachable",
    "hang": "timeout",
    "html": "not_a_reply",
    "half_json": "not_a_reply",
}
"""What a client can make of what the server did."""
BAD: tuple[Act, ...] = ("wrong_dimensions", "out_of_range", "prose", "no_choices", "no_content")


@pytest.fixture(autouse=True)
def _quick_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "BACK_OFF_S", 0.002)


def samples(count: int, word: str = "ordinary") -> list[Sample]:
    return [_sample(f"{word}-{number}") for number in range(count)]


def _sample(name: str) -> Sample:
    """A sample whose text contains its name, so that the server recognizes it."""
    return make_sample(name, f"question {name}?", answer=f"answer {name}")


def opinionated(body: dict[str, Any]) -> dict[str, Any]:
    """Returns no vote for hopeless dialogues and votes far apart for contested ones."""
    text = body["messages"][-1]["content"]
    if "hopeless" in text:
        return {"logic": "very good"}
    if "contested" in text:
        return dict.fromkeys(("logic", "clarity", "naturalness", "educational"), 10 * (body["seed"] % 2))
    return steady_scores(body)


@dataclass
class Run:
    entries: list[ScoringEntry]
    tally: Tally
    calls: list[CallEntry]
    """The ledger's, of this run and those before it."""


def score(folder: Path, server: JudgeServer, wanted: list[Sample], **changes: object) -> Run:
    async def main() -> tuple[list[ScoringEntry], Tally]:
        gate = asyncio.Semaphore(AT_ONCE)
        async with client(server, tries=TRIES, **changes) as link:
            judge = Judge(link, store, ledger, VOTES, TRIES)

            async def one(sample: Sample) -> ScoringEntry:
                async with gate:
                    return await judge.score(sample)

            return await asyncio.gather(*(one(sample) for sample in wanted)), judge.tally

    ledger = Ledger(folder / "ledger.jsonl")
    with Store(folder / "scores.sqlite3", 14) as store:
        entries, tally = asyncio.run(main())
    found = [line.entry for line in lines(ledger.path)]
    written = [entry for entry in found if isinstance(entry, ScoringEntry)]
    assert sorted(written[-len(entries) :], key=str) == sorted(entries, key=str)
    return Run(entries, tally, [entry for entry in found if isinstance(entry, CallEntry)])


def mixed(seed: int) -> Callable[[int], Act]:
    """A plan in which a quarter of all requests fails, in every possible way."""
    random = Random(seed)
    often: list[Act] = ["429", "500", "reset", "cut_off", "html", "half_json", "slow", *BAD]

    def plan(n: int) -> Act:
        if random.random() < 0.001:
            return "hang"
        if random.random() < 0.002:
            return "429_wait"
        return random.choice(often) if random.random() < 0.25 else "ok"

    return plan


def assert_scored_despite_misbehavior(folder: Path, count: int) -> None:
    wanted = samples(count) + samples(count // 30, "contested") + samples(count // 30, "hopeless")
    Random(1).shuffle(wanted)
    with JudgeServer(mixed(seed=count), scores=opinionated, wait="0.2") as server:
        # So long that on a busy machine only what hangs runs into it: a reply that comes too late is billed unseen.
        run = score(folder, server, wanted, timeout_s=10.0)

    by_sample = {entry.sample: entry for entry in run.entries}
    assert sorted(by_sample) == sorted(sample.id for sample in wanted)
    for name, entry in by_sample.items():
        assert (entry.overall is None) == bool(entry.failure)
        if name.startswith("hopeless"):
            assert entry.failure.startswith(("bad_reply: 4 replies were no vote", *TROUBLE.values()))
        if name.startswith("contested") and entry.overall is not None:
            assert not entry.stable
    scored = [entry for entry in run.entries if entry.overall is not None]
    assert len(scored) >= 0.95 * count
    _scores_are_what_the_server_said(run, scored)
    _books_are_the_servers(run, server)
    for file in folder.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def _scores_are_what_the_server_said(run: Run, scored: list[ScoringEntry]) -> None:
    """Each score is the median of recorded votes; each recorded vote is a reply that was paid for."""
    votes: dict[str, list[dict[str, float]]] = {}
    for call in run.calls:
        if call.status == "ok":
            assert call.billable_tokens > 0
            assert call.latency_ms > 0
            assert call.request_id.startswith("req-")
            votes.setdefault(call.scoring, []).append(call.scores)
    for entry in scored:
        verdict = aggregate(votes[entry.scoring])
        assert (entry.overall, entry.scores, entry.votes) == (verdict.overall, verdict.scores, verdict.votes)


def _books_are_the_servers(run: Run, server: JudgeServer) -> None:
    hopeless = sum("hopeless" in str(body) for body in server.bodies)
    assert hopeless, "some dialogues never get a vote"
    replies = run.tally.calls["ok"] + run.tally.calls["bad_reply"]
    assert replies == sum(server.counts[act] for act in ("ok", "slow", *BAD))
    expected = Counter[str]()
    for act, trouble in TROUBLE.items():
        expected[trouble] += server.counts[act]
    assert {trouble: run.tally.calls[trouble] for trouble in expected} == dict(expected)
    assert len(run.calls) == server.asked
    assert (run.tally.tokens_in, run.tally.tokens_out) == (server.tokens_in, server.tokens_out)
    assert sum(call.billable_tokens for call in run.calls) == server.tokens_in + server.tokens_out
    assert sum(entry.billable_tokens for entry in run.entries) == server.tokens_in + server.tokens_out
    assert set(BILLED) - {"no_usage"} <= set(server.counts), "the mix holds every way to be billed"


def test_hundreds_of_scorings_against_a_server_that_misbehaves(tmp_path: Path) -> None:
    assert_scored_despite_misbehavior(tmp_path, 300)


@pytest.mark.slow
def test_two_thousand_scorings_against_a_server_that_misbehaves(tmp_path: Path) -> None:
    assert_scored_despite_misbehavior(tmp_path, 2000)


def test_scored_dialogues_are_not_paid_for_again(tmp_path: Path) -> None:
    wanted = samples(10)
    with JudgeServer() as server:
        first = score(tmp_path, server, wanted)
        again = score(tmp_path, server, wanted)
        assert server.asked == 30
    assert [entry.cache_hits for entry in again.entries] == [3] * 10
    assert [entry.billable_tokens for entry in again.entries] == [0] * 10
    assert [entry.scores for entry in again.entries] == [entry.scores for entry in first.entries]
    assert sum(call.cache_hit for call in again.calls) == 30


def test_disagreeing_votes_are_extended_up_to_the_limit(tmp_path: Path) -> None:
    with JudgeServer(scores=opinionated) as server:
        run = score(tmp_path, server, samples(1, "contested"))
        assert server.asked == VOTES.k_max
        assert len({body["seed"] for body in server.bodies}) == VOTES.k_max
    assert (run.entries[0].votes, run.entries[0].stable) == (7, False)
    assert run.entries[0].failure == ""


@pytest.mark.parametrize("trouble", ["500", "prose"])
def test_missing_votes_leave_no_score_and_a_later_run_continues(tmp_path: Path, trouble: Act) -> None:
    with JudgeServer(lambda n: "ok" if n < 4 else trouble, scores=opinionated) as server:
        [broken] = score(tmp_path, server, samples(1, "contested")).entries
        assert server.counts["ok"] == 4
    assert (broken.overall, broken.scores, broken.variance) == (None, {}, None)
    assert broken.failure.startswith("server_error" if trouble == "500" else "bad_reply")
    with JudgeServer(scores=opinionated) as server:
        [mended] = score(tmp_path, server, samples(1, "contested")).entries
        assert server.asked == VOTES.k_max - 4, "what was paid for is not paid for again"
    assert (mended.votes, mended.failure) == (VOTES.k_max, "")


def test_another_process_is_awaited_for_the_longest_possible_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    fetch = judge_module.fetch
    monkeypatch.setattr(judge_module, "fetch", lambda *given: waited.append(given[-1]) or fetch(*given))
    with JudgeServer() as server:
        score(tmp_path, server, samples(1), timeout_s=120.0, wait_max_s=100.0)
    pauses = (TRIES - 1) * (100.0 + client_module.MAX_BACK_OFF_S)
    assert min(waited) >= TRIES * 120.0 + pauses


def test_a_bad_reply_is_kept_but_never_served(tmp_path: Path) -> None:
    with JudgeServer(lambda n: "out_of_range" if n == 0 else "ok") as server:
        run = score(tmp_path, server, samples(1))
        assert server.asked == 4
        assert len({body["seed"] for body in server.bodies}) == 4
    assert run.tally.calls == {"ok": 3, "bad_reply": 1}
    assert [call.status for call in run.calls if call.scores == {}] == ["bad_reply: logic is 11, outside 0..10"]
    assert run.entries[0].votes == 3


def test_a_run_after_an_outage_pays_only_for_the_rest(
    tmp_path: Path,
) -> None:
    wanted = samples(40)
    with JudgeServer(lambda n: "ok" if n < 60 else "500") as server:
        broken = score(tmp_path, server, wanted, breaker_failures=5)
        paid = server.counts["ok"]
        assert server.asked < 60 + 5 + AT_ONCE
    reasons = Counter(entry.failure.partition(":")[0] for entry in broken.entries if entry.overall is None)
    assert set(reasons) <= {"circuit_open", "server_error"}
    assert reasons["circuit_open"] > 0
    assert all("HTTP 500" in entry.failure for entry in broken.entries if entry.overall is None)
    with JudgeServer() as server:
        mended = score(tmp_path, server, wanted)
        assert server.asked == 3 * len(wanted) - paid
    assert all(entry.overall is not None for entry in mended.entries)


def test_a_wrong_key_fails_every_sample_with_a_remedy(tmp_path: Path) -> None:
    with JudgeServer(lambda n: "401") as server:
        run = score(tmp_path, server, samples(4), breaker_failures=3)
        assert server.asked < 4 * 3
    assert all(entry.overall is None for entry in run.entries)
    assert all("check SCORER_API_KEY" in entry.failure for entry in run.entries)
    assert KEY not in (tmp_path / "ledger.jsonl").read_text()


def test_a_cancelled_scoring_records_its_paid_calls(tmp_path: Path) -> None:
    async def main(server: JudgeServer, store: Store) -> None:
        async with client(server) as link:
            judge = Judge(link, store, ledger, VOTES, TRIES)
            task = asyncio.create_task(judge.score(_sample("cut short")))
            async with asyncio.timeout(60):
                while judge.tally.calls["ok"] < 1:
                    await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()

    ledger = Ledger(tmp_path / "ledger.jsonl")
    with JudgeServer(lambda n: "ok" if n == 0 else "hang") as server, Store(tmp_path / "scores.sqlite3", 14) as store:
        asyncio.run(main(server, store))
    found = [line.entry for line in lines(ledger.path)]
    assert [type(entry) for entry in found] == [CallEntry]
    assert msgspec.structs.asdict(found[0])["status"] == "ok"


def test_samples_with_the_same_dialogue_are_paid_for_once(tmp_path: Path) -> None:
    twins = [msgspec.structs.replace(_sample("twin"), id=f"twin-{number}") for number in range(5)]
    with JudgeServer(latency_s=0.02) as server:
        run = score(tmp_path, server, twins)
        assert server.asked == 3
    assert sum(entry.cache_hits for entry in run.entries) == 12
    assert len({str(entry.scores) for entry in run.entries}) == 1


STRANGE = {
    "id": "\ud800" + "i" * 5_000_000,
    "model": "m\udfff\x1b[2J" + "m" * 5_000_000,
    "usage": {"prompt_tokens": 10, "completion_tokens": 1},
}
STEADY = '{"logic": 7, "clarity": 8, "naturalness": 6, "educational": 5}'


@pytest.mark.parametrize("content", [STEADY, '{"\\ud800": 1, "logic": 7}', '{"logic": 7, "\ud800": 1}', "\ud83d", ""])
def test_no_strange_reply_breaks_ledger_or_later_run(tmp_path: Path, content: str) -> None:
    with JudgeServer(lambda n: "raw" if n < 2 else "ok") as server:
        server.raw = json.dumps({**STRANGE, "choices": [{"message": {"content": content}}]}).encode()
        first = score(tmp_path, server, samples(1))
        again = score(tmp_path, server, samples(1))
    assert first.entries[0].votes == again.entries[0].votes == 3
    assert again.entries[0].cache_hits == 3
    assert all(len(str(call)) < 3000 and "\x1b" not in str(call) for call in again.calls)


def test_a_strange_reply_is_recovered_once_after_a_crash(tmp_path: Path) -> None:
    text = '{"logic": 7, "\ud800": 1}'
    reply = Reply(text, STRANGE["id"], STRANGE["model"], tokens_in=10, tokens_out=1, latency_ms=30.0)
    with Store(tmp_path / "scores.sqlite3", 14) as store:
        store.put(ask(), reply, "scoring-of-the-dead")
    for expected in (1, 0):
        with Store(tmp_path / "scores.sqlite3", 14) as store:
            assert recover(store, Ledger(tmp_path / "ledger.jsonl")) == expected


def test_a_later_run_avoids_seeds_with_bad_replies(tmp_path: Path) -> None:
    def stubborn(body: dict[str, Any]) -> dict[str, Any]:
        return {"logic": 99} if body["seed"] < 4000 else steady_scores(body)

    with JudgeServer(scores=stubborn) as server:
        assert score(tmp_path, server, samples(1)).entries[0].failure.startswith("bad_reply")
        assert score(tmp_path, server, samples(1)).entries[0].overall is not None
    seeds = [body["seed"] for body in server.bodies]
    assert len(set(seeds)) == len(seeds) == 3 * TRIES + 3


def test_a_votes_key_covers_everything_that_changes_it() -> None:
    there = provider("http://127.0.0.1:8000/v1")
    there = there.model_copy(update={"server": "http://127.0.0.1:8000/v1"})
    rows: list[dict[str, object]] = [
        {"temperature": None},
        {"temperature": 0.8},
        {"max_tokens": 99},
        {"max_tokens": None, "max_completion_tokens": 100},
        {"reasoning_effort": "low"},
        {"response_format": "grammar"},
        {"response_format": "json_object"},
        {"response_format": None},
        {"seed": False},
        {"extra_body": {"enable_thinking": False}},
    ]
    changes: list[dict[str, object]] = [
        {"name": "another"},
        {"model": "another"},
        {"server": "http://127.0.0.1:8001/v1"},
        *({"families": provider("http://x/v1", **row).families} for row in rows),
    ]
    others = [there.model_copy(update=change) for change in changes]
    keys = {vote_request(one, lang, text, vote).key for one in (there, *others) for lang, text, vote in WAYS}
    assert len(keys) == (1 + len(others)) * len(WAYS)
    moved = there.model_copy(update={"base_url": "http://127.0.0.1:4711/v1", "usd_in": 9.0, "key_needed": True})
    assert vote_request(moved, *WAYS[0]).key == vote_request(there, *WAYS[0]).key, (
        "AskGate's own server has a new port each time"
    )


def test_many_concurrent_scorings_open_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module.JudgeClient, "votes_at_once", 9)
    held = []
    acquire = Store.acquire
    monkeypatch.setattr(
        Store, "acquire", lambda store, key: held.append(len(store._locks._held)) or acquire(store, key)
    )
    with JudgeServer() as server:
        run = score(tmp_path, server, samples(12))
    assert all(entry.votes == 3 for entry in run.entries)
    assert max(held) <= 9 + 1, "nine claims on votes, and the process's own"


WAYS: list[tuple[Lang, str, int]] = [
    ("en", "User: hi", 0),
    ("zh", "User: hi", 0),
    ("en", "User: ho", 0),
    ("en", "User: hi", 1),
]


def test_another_rubric_text_is_another_ask_without_version_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = vote_request(provider("http://x/v1"), "en", "User: hi", 0)
    monkeypatch.setitem(prompt.RUBRIC, "en", "Be kind.")
    after = vote_request(provider("http://x/v1"), "en", "User: hi", 0)
    assert before.prompt_version == after.prompt_version
    assert before.key != after.key
