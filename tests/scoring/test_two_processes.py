"""Two processes that score the same pool at once pay for each vote once, and nobody waits for the dead."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from src.scoring.ledger import lines
from src.scoring.types import CallEntry, ScoringEntry
from tests.scoring.books import assert_books_agree, billed_ids
from tests.scoring.nursery import Nursery
from tests.scoring.work import VOTES

SAMPLES = 20


def test_two_processes_pay_for_each_of_forty_votes_once(nursery: Nursery, tmp_path: Path) -> None:
    children = [nursery.start("run", folder=str(tmp_path), samples=SAMPLES, at_once=4, pause=0.02) for _ in range(2)]
    assert [nursery.wait(child) for child in children] == [0, 0]
    assert len(billed_ids(tmp_path)) == SAMPLES * VOTES + 1, "forty votes, of which one took two replies"
    assert_books_agree(tmp_path, SAMPLES, lost=0)
    found = [line.entry for line in lines(tmp_path / "ledger.jsonl")]
    assert sum(isinstance(entry, ScoringEntry) for entry in found) == 2 * SAMPLES
    hits = sum(isinstance(entry, CallEntry) and entry.cache_hit for entry in found)
    assert hits == SAMPLES * VOTES, "what one process paid for, the other had from the cache"


def test_five_processes_that_start_on_nothing_at_the_same_moment_all_get_through(
    nursery: Nursery, tmp_path: Path
) -> None:
    children = [nursery.start("run", folder=str(tmp_path), samples=4, at_once=2, pause=0.002) for _ in range(5)]
    assert [nursery.wait(child) for child in children] == [0] * 5
    assert_books_agree(tmp_path, 4, lost=0)


def test_the_claim_of_a_killed_process_is_free_at_once(nursery: Nursery, tmp_path: Path) -> None:
    slow = nursery.start("run", folder=str(tmp_path), samples=1, pause=60.0)
    while len(billed_ids(tmp_path)) < VOTES:
        time.sleep(0.01)
    waiting = nursery.start("run", folder=str(tmp_path), samples=1)
    time.sleep(0.3)
    assert len(billed_ids(tmp_path)) == VOTES, "the second process did not wait for the first"
    os.kill(slow, signal.SIGKILL)
    killed = time.monotonic()
    assert nursery.wait(slow) == -signal.SIGKILL
    assert nursery.wait(waiting) == 0
    assert time.monotonic() - killed < 50, "it waited for the dead"
    assert_books_agree(tmp_path, 1, lost=VOTES)


def test_a_second_process_does_not_write_the_lines_of_one_that_lives(nursery: Nursery, tmp_path: Path) -> None:
    children = []
    for _ in range(6):  # each starts, and recovers, while the others have replies without lines
        children.append(nursery.start("run", folder=str(tmp_path), samples=12, at_once=3, pause=0.02))
        time.sleep(0.03)
    assert [nursery.wait(child) for child in children] == [0] * 6
    assert "(recovered)" not in (tmp_path / "ledger.jsonl").read_text()
    assert_books_agree(tmp_path, 12, lost=0)
