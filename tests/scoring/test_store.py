"""The cache keeps every reply, returns only unexpired votes, and lets one process at a time request a vote."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from src.core.errors import BadInput
from src.scoring.store import CacheGroup, Store, Stored, bad_replies, fetch, invalidate, stat
from src.scoring.types import CallFailed, Reply, VoteRequest
from tests.scoring.crash_run import ask_for, reply_with

DAY = 86400.0
GOOD = '{"logic": 7, "clarity": 8}'


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store(tmp_path / "cache" / "scores.sqlite3", 14, clock) as opened:
        yield opened


def reopened(store: Store) -> Store:
    return Store(store.path, 14, store.now)


def test_a_stored_reply_survives_reopening(store: Store) -> None:
    put = store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    assert put.reply == reply_with(GOOD)
    assert put.scores == {"logic": 0.7, "clarity": 0.8}
    with reopened(store) as again:
        assert again.get(ask_for(1)) == put


def test_the_file_is_written_ahead_and_replies_are_fully_synced(store: Store) -> None:
    assert store.read("PRAGMA journal_mode") == [("wal",)]
    with store.writing("FULL") as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    "other",
    [
        {"provider": "openai"},
        {"model": "large"},
        {"prompt_version": "judge-2"},
        {"dimensions": ("logic",)},
        {"lang": "zh"},
        {"text": "sample 2"},
        {"vote": 1},
        {"server": "http://127.0.0.1:8000/v1"},
        {"way": "another"},
    ],
)
def test_whatever_can_change_the_answer_is_part_of_the_key(store: Store, other: dict[str, object]) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    assert store.get(msgspec.structs.replace(ask_for(1), **other)) is None


def test_a_vote_expires_after_its_time(store: Store, clock: Clock) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    clock.time += 14 * DAY - 1
    assert store.get(ask_for(1)) is not None
    clock.time += 1
    assert store.get(ask_for(1)) is None
    assert stat(store).expired == 1


def test_a_bad_reply_is_kept_but_is_no_vote(store: Store) -> None:
    put = store.put(ask_for(1), reply_with("I would rather not."), "scoring-1")
    assert put.scores == {}
    assert put.why_bad.startswith("not JSON")
    assert store.get(ask_for(1)) is None
    assert list(bad_replies(store)) == [put]


def test_a_bad_reply_with_a_later_vote_needs_no_replay(store: Store) -> None:
    store.put(ask_for(1), reply_with("no", "req-1"), "scoring-1")
    good = store.put(ask_for(1), reply_with(GOOD, "req-2"), "scoring-1")
    store.put(ask_for(1), reply_with("no again", "req-3"), "scoring-1")
    assert store.get(ask_for(1)) == good
    assert [store.get(bad.request) for bad in bad_replies(store)] == [good, good]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "\ud800",
        '{"logic": "\ud800"}',
        "[" * 100_000,
        '{"clarity": 1, "logic": 1' + "0" * 400 + "}",
        '{"clarity": 1, "logic": 1' + "0" * 5000 + "}",
        "<think>" * 9,
    ],
    ids=["empty", "nul", "half a character", "half in JSON", "deep", "huge number", "endless number", "thought"],
)
def test_no_reply_is_too_strange_to_keep(store: Store, text: str) -> None:
    reply = Reply(text, "\udfff", "m", tokens_in=10**30, tokens_out=-1, latency_ms=1.0)
    put = store.put(ask_for(1), reply, "scoring-1")
    assert put.why_bad
    with reopened(store) as again:
        assert list(bad_replies(again)) == [put]
        assert put.reply == reply


def test_stat_counts_the_stored_replies(store: Store, clock: Clock) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    clock.time += 20 * DAY
    ledgered = store.put(ask_for(2), reply_with(GOOD), "scoring-1")
    store.put(ask_for(2, vote=1), reply_with("no"), "scoring-1")
    store.put(msgspec.structs.replace(ask_for(3), provider="openai"), reply_with(GOOD), "scoring-2")
    store.mark_ledgered([ledgered.id])
    figures = stat(store)
    assert (figures.rows, figures.expired, figures.bad, figures.owed) == (4, 1, 1, 3)
    assert figures.groups == (CacheGroup("local", "tiny", "judge-1", 3), CacheGroup("openai", "tiny", "judge-1", 1))
    assert figures.bytes > 4096


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        ("provider=local", {"C"}),
        ("model=large", {"A", "B"}),
        ("prompt_version=judge-1", set()),
        ("older_than=7d", {"B", "C"}),
        ("older_than=200h", {"B", "C"}),
        ("older_than=0m", set()),
        (" provider = local , older_than = 2d ", {"B", "C"}),
        ("provider=openai,older_than=7d", {"A", "B", "C"}),
    ],
)
@pytest.mark.parametrize("ledgered", [True, False], ids=["ledgered", "still owed"])
def test_invalidate_removes_what_the_spec_names(
    store: Store, clock: Clock, spec: str, left: set[str], ledgered: bool
) -> None:
    asks = {
        "A": ask_for(1),
        "B": ask_for(2),
        "C": msgspec.structs.replace(ask_for(3), provider="openai", model="large"),
    }
    rows = []
    for name, ask in asks.items():
        rows.append(store.put(ask, reply_with(GOOD), "scoring-1").id)
        clock.time += {"A": 9 * DAY, "B": 60.0, "C": 0.0}[name]
    if ledgered:
        store.mark_ledgered(rows)
    assert invalidate(store, spec) == 3 - len(left)
    assert {name for name, ask in asks.items() if store.get(ask)} == left
    assert invalidate(store, spec) == 0
    assert stat(store).rows == len(left)
    store.mark_ledgered(rows)
    assert store.read("SELECT count(*) FROM replies") == [(len(left),)]


@pytest.mark.parametrize(
    "spec",
    ["", "provider", "provider=", "colour=red", "older_than=7", "older_than=-1d", "model=a,model=b", "1=1 OR id=1"],
)
def test_a_spec_that_makes_no_sense_removes_nothing(store: Store, spec: str) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    with pytest.raises(BadInput, match="What to do: write it like provider="):
        invalidate(store, spec)
    assert stat(store).rows == 1


def test_an_invalidated_reply_still_gets_its_ledger_line(store: Store) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    invalidate(store, "provider=local")
    store.close()
    with reopened(store) as again:
        assert [one.reply for one in again.unledgered()] == [reply_with(GOOD)]


def test_unledgered_replies_of_a_living_process_stay(store: Store) -> None:
    store.put(ask_for(1), reply_with(GOOD), "scoring-1")
    with reopened(store) as other:
        assert other.unledgered() == []
        store.close()
        assert len(other.unledgered()) == 1


def test_one_lock_at_a_time_even_inside_one_process(store: Store) -> None:
    with reopened(store) as other:
        assert store.acquire("k")
        assert not store.acquire("k")
        assert not other.acquire("k")
        assert other.acquire("another")
        store.release("k")
        assert other.acquire("k")


def test_a_vote_stored_before_locking_is_not_paid_for(store: Store) -> None:
    class Late(Store):
        def acquire(self, key: str) -> bool:
            store.put(ask_for(1), reply_with(GOOD), "scoring-1")
            return super().acquire(key)

    async def judge(ask: VoteRequest) -> Reply:
        raise AssertionError("paid for a vote that was there")

    with Late(store.path, 14, store.now) as late:
        stored, paid = asyncio.run(fetch(late, ask_for(1), "scoring-2", judge))
        assert (stored.scoring, paid) == ("scoring-1", False)
        assert store.acquire(ask_for(1).key)


def test_tasks_that_want_one_vote_pay_once(store: Store) -> None:
    calls: list[VoteRequest] = []

    async def judge(ask: VoteRequest) -> Reply:
        calls.append(ask)
        await asyncio.sleep(0.05)
        return reply_with(GOOD)

    async def all_at_once() -> list[bool]:
        found = await asyncio.gather(*(fetch(store, ask_for(1), f"scoring-{n}", judge) for n in range(5)))
        assert {stored.reply for stored, _ in found} == {reply_with(GOOD)}
        return [paid for _, paid in found]

    assert sorted(asyncio.run(all_at_once())) == [False] * 4 + [True]
    assert len(calls) == 1


def test_a_vote_can_be_asked_again_after_a_failure(store: Store) -> None:
    replies = iter(["no", "fails", GOOD])

    async def judge(ask: VoteRequest) -> Reply:
        if (text := next(replies)) == "fails":
            raise CallFailed("server_error", "500")
        return reply_with(text, f"req-{text[:3]}")

    async def three_times() -> None:
        first, paid = await fetch(store, ask_for(1), "scoring-1", judge)
        assert (bool(first.why_bad), paid) == (True, True)
        with pytest.raises(CallFailed):
            await fetch(store, ask_for(1), "scoring-1", judge)
        third, paid = await fetch(store, ask_for(1), "scoring-1", judge)
        assert (third.why_bad, paid) == ("", True)

    asyncio.run(three_times())


def test_an_arrived_reply_survives_cancellation(store: Store) -> None:
    async def judge(ask: VoteRequest) -> Reply:
        return reply_with(GOOD, f"req-{ask.text}", latency_ms=1.0)

    async def cancelled_at_once() -> None:
        # More than the loop has threads, so that some replies wait for one when the loop ends.
        tasks = [asyncio.create_task(fetch(store, ask_for(n), "scoring-1", judge)) for n in range(60)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()

    asyncio.run(cancelled_at_once())
    assert all(store.get(ask_for(n)) for n in range(60))
    assert all(store.acquire(ask_for(n).key) for n in range(60))


def test_waiting_for_a_hanging_process_ends_with_a_reason(store: Store) -> None:
    async def judge(ask: VoteRequest) -> Reply:
        raise AssertionError("somebody else is asking")

    with reopened(store) as hanging:
        assert hanging.acquire(ask_for(1).key)
        with pytest.raises(CallFailed, match=r"another process.* for 0\.1 s no reply came\. What to do: see whether"):
            asyncio.run(fetch(store, ask_for(1), "scoring-1", judge, patience=0.1))


def test_waiting_continues_while_replies_arrive(store: Store) -> None:
    async def judge(ask: VoteRequest) -> Reply:
        raise AssertionError("somebody else is asking")

    async def busy(other: Store) -> None:
        for n in (5, 4, 3, 2, 1):
            await asyncio.sleep(0.3)
            other.put(ask_for(n), reply_with(GOOD), "scoring-2")
        other.release(ask_for(1).key)

    async def both(other: Store) -> tuple[Stored, bool]:
        waiting = fetch(store, ask_for(1), "scoring-1", judge, patience=0.6)
        return (await asyncio.gather(waiting, busy(other)))[0]

    with reopened(store) as other:
        assert other.acquire(ask_for(1).key)
        _, paid = asyncio.run(both(other))
    assert not paid


def test_a_file_that_is_no_cache_stays_untouched(tmp_path: Path) -> None:
    text, foreign = tmp_path / "notes.txt", tmp_path / "foreign.sqlite3"
    text.write_text("not a database, but long enough to be looked at as one " * 20)
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(BadInput, match="choose another path"):
            Store(path, 14)
        assert path.read_bytes() == before


def test_a_cache_of_another_layout_is_refused(store: Store) -> None:
    with store.writing("FULL") as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(BadInput, match="layout 9"):
        reopened(store)


def test_an_impossible_folder_is_named_in_the_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"file/scores\.sqlite3: .*What to do: choose another path"):
        Store(tmp_path / "file" / "scores.sqlite3", 14)


def test_nobody_pays_after_a_reply_could_not_be_stored(store: Store) -> None:
    paid = []

    async def judge(ask: VoteRequest) -> Reply:
        paid.append(ask)
        return reply_with(GOOD)

    limit = store.read("PRAGMA page_count")[0][0]
    with store.writing("FULL") as connection:
        connection.execute(f"PRAGMA max_page_count = {limit}")
    with pytest.raises(BadInput, match=r"full\. What to do: free some space"):
        asyncio.run(fetch(store, msgspec.structs.replace(ask_for(1), text="long " * 50_000), "scoring-1", judge))
    with pytest.raises(BadInput, match="free some space"):
        asyncio.run(fetch(store, ask_for(2), "scoring-1", judge))
    assert len(paid) == 1
    assert stat(store).rows == 0
