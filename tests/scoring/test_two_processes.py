"""Two processes that score the same pool pay for each vote once, and do not wait for a dead process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from src.scoring.ledger import lines
from src.scoring.types import CallEntry, ScoringEntry
from tests.fork_server import ForkServer
from tests.scoring.audit import assert_records_agree, billed_ids
from tests.scoring.crash_run import VOTES
from tests.waiting import wait_until

SAMPLES = 20


def test_two_processes_pay_for_each_of_forty_votes_once(fork_server: ForkServer, tmp_path: Path) -> None:
    children = [fork_server.start("run", folder=tmp_path, samples=SAMPLES, at_once=4, pause=0.02) for _ in range(2)]
    assert [fork_server.wait(child) for child in children] == [0, 0]
    assert len(billed_ids(tmp_path)) == SAMPLES * VOTES + 1, "forty votes, of which one took two replies"
    assert_records_agree(tmp_path, SAMPLES, lost=0)
    found = [line.entry for line in lines(tmp_path / "ledger.jsonl")]
    assert sum(isinstance(entry, ScoringEntry) for entry in found) == 2 * SAMPLES
    hits = sum(isinstance(entry, CallEntry) and entry.cache_hit for entry in found)
    assert hits == SAMPLES * VOTES, "what one process paid for, the other had from the cache"


def test_five_simultaneous_first_processes_all_succeed(fork_server: ForkServer, tmp_path: Path) -> None:
    children = [fork_server.start("run", folder=tmp_path, samples=4, at_once=2, pause=0.002) for _ in range(5)]
    assert [fork_server.wait(child) for child in children] == [0] * 5
    assert_records_agree(tmp_path, 4, lost=0)


def test_the_lock_of_a_killed_process_is_free(fork_server: ForkServer, tmp_path: Path) -> None:
    slow = fork_server.start("run", folder=tmp_path, samples=1, pause=86_400.0)
    wait_until(lambda: len(billed_ids(tmp_path)) >= VOTES, "both votes are asked for")
    waiting = fork_server.start("run", folder=tmp_path, samples=1)
    time.sleep(0.3)
    assert len(billed_ids(tmp_path)) == VOTES, "the second process did not wait for the first"
    os.kill(slow, signal.SIGKILL)
    assert fork_server.wait(slow) == -signal.SIGKILL
    # The slow process would have taken a day: if the waiting one waited for it, this would not return.
    assert fork_server.wait(waiting) == 0
    assert_records_agree(tmp_path, 1, lost=VOTES)


def test_lines_of_a_living_process_are_not_recovered(fork_server: ForkServer, tmp_path: Path) -> None:
    children = []
    for _ in range(6):  # each starts, and recovers, while the others have replies without lines
        children.append(fork_server.start("run", folder=tmp_path, samples=12, at_once=3, pause=0.02))
        time.sleep(0.03)
    assert [fork_server.wait(child) for child in children] == [0] * 6
    assert "(recovered)" not in (tmp_path / "ledger.jsonl").read_text()
    assert_records_agree(tmp_path, 12, lost=0)
