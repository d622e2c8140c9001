"""No paid reply is lost: the process dies, or the disk fails, at every step, and the next run finds all replies."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from random import Random

import pytest

from src.scoring.ledger import lines, verify
from src.scoring.types import RepairEntry
from tests.disk_faults import ERRORS, Kind
from tests.fork_server import ForkServer
from tests.scoring.audit import assert_no_kept_reply_is_lost, assert_records_agree, billed_ids, lost_ids, stored_ids
from tests.scoring.crash_run import VOTES, notes
from tests.waiting import wait_until

SAMPLES = 2
KILLS: tuple[Kind, ...] = ("kill before", "kill amid", "kill after", "power cut")
STEPS_AT_LEAST = 12
"""One commit for the tables, a folder sync, five replies, two appends with write, sync and mark."""


def repairs(folder: Path) -> list[str]:
    return [line.entry.note for line in lines(folder / "ledger.jsonl") if isinstance(line.entry, RepairEntry)]


@pytest.mark.parametrize("kind", KILLS)
def test_a_process_killed_at_any_step_loses_nothing(fork_server: ForkServer, tmp_path: Path, kind: Kind) -> None:
    torn = recovered = 0
    for step in range(1, 100):
        folder = tmp_path / str(step)
        folder.mkdir()
        code = fork_server.run("run", folder=folder, samples=SAMPLES, fault=[kind, step])
        assert code in (0, -signal.SIGKILL)
        assert_no_kept_reply_is_lost(folder)
        lost = lost_ids(folder)
        assert len(lost) <= VOTES, "more was lost than was in flight"
        assert fork_server.run("run", folder=folder, samples=SAMPLES) == 0
        assert_records_agree(folder, SAMPLES, len(lost))
        torn += len(repairs(folder))
        recovered += (folder / "ledger.jsonl").read_text().count("(recovered)")
        if code == 0:
            break
    assert step > STEPS_AT_LEAST
    assert recovered >= 2, "no crash came between a reply and its line"
    assert torn == (SAMPLES if kind == "kill amid" else 0), "each append is torn once, and noted"


@pytest.mark.parametrize("kind", ERRORS)
def test_a_disk_error_at_any_step_harms_nothing(fork_server: ForkServer, tmp_path: Path, kind: Kind) -> None:
    for step in range(1, 100):
        folder = tmp_path / str(step)
        folder.mkdir()
        code = fork_server.run("run", folder=folder, samples=SAMPLES, fault=[kind, step])
        assert_no_kept_reply_is_lost(folder)
        lost = lost_ids(folder)
        assert len(lost) <= VOTES, "calls were made after the disk had refused"
        if code == 0:
            break
        assert code == 2
        (message,) = notes(folder / "refused")
        text = " ".join(message)
        assert text.startswith((str(folder / "scores.sqlite3"), str(folder / "ledger.jsonl")))
        assert ("free some space" if kind == "disk full" else "check the disk") in text
        if kind == "disk full" and (folder / "ledger.jsonl").exists():
            verify(folder / "ledger.jsonl")  # what did not fit was taken back
        assert fork_server.run("run", folder=folder, samples=SAMPLES) == 0
        assert_records_agree(folder, SAMPLES, len(lost))
    assert step > STEPS_AT_LEAST


@pytest.mark.parametrize("kind", [*KILLS, *ERRORS])
def test_a_crash_while_recovering_from_a_crash_loses_nothing(
    fork_server: ForkServer, tmp_path: Path, kind: Kind
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    # Killed in the middle of the second append: a torn line and replies without one.
    step = 0
    while not (crashed / "ledger.jsonl").exists() or not torn_after_a_whole_line(crashed):
        step += 1
        shutil.rmtree(crashed)
        crashed.mkdir()
        assert fork_server.run("run", folder=crashed, samples=SAMPLES, fault=["kill amid", step])
    for step in range(1, 100):
        folder = tmp_path / str(step)
        shutil.copytree(crashed, folder)
        code = fork_server.run("run", folder=folder, samples=SAMPLES, fault=[kind, step])
        assert_no_kept_reply_is_lost(folder)
        lost = lost_ids(folder)
        assert len(lost) <= 2 * VOTES
        assert fork_server.run("run", folder=folder, samples=SAMPLES) == 0
        assert_records_agree(folder, SAMPLES, len(lost))
        assert repairs(folder), "the repair was not noted"
        if code == 0:
            break
    assert step > 5


def torn_after_a_whole_line(folder: Path) -> bool:
    data = (folder / "ledger.jsonl").read_bytes()
    return b"\n" in data and not data.endswith(b"\n") and b'"sample 1"' not in data


ROOM = [*range(30_000, 90_000, 4500), 70_001, 77_777]
"""Around the sizes that the cache's own files have in such a run; SQLite writes 4096 bytes at a time, and headers."""


@pytest.mark.parametrize("die", [True, False], ids=["killed", "refused"])
def test_a_cache_write_may_be_cut_at_any_byte(fork_server: ForkServer, tmp_path: Path, die: bool) -> None:
    codes = []
    for room in ROOM:
        folder = tmp_path / str(room)
        folder.mkdir()
        codes.append(fork_server.run("run_with_little_room", folder=folder, samples=SAMPLES, room=room, die=die))
        assert_no_kept_reply_is_lost(folder)
        lost = lost_ids(folder)
        assert len(lost) <= VOTES
        assert fork_server.run("run", folder=folder, samples=SAMPLES) == 0
        assert_records_agree(folder, SAMPLES, len(lost))
    assert set(codes) <= {0, -signal.SIGXFSZ if die else 2}
    assert sum(code != 0 for code in codes) >= 5, "the limits were too generous to test anything"


def assert_survives_random_kills(fork_server: ForkServer, tmp_path: Path, moments: int, seed: int) -> None:
    """Draws moments over the work, not the clock, so that a busy machine does not bunch them."""
    samples, at_once = 16, 3
    random = Random(seed)
    amid = 0
    for moment in range(moments):
        folder = tmp_path / str(moment)
        folder.mkdir()
        arguments = {"folder": folder, "samples": samples, "at_once": at_once, "pause": 0.008}
        child = fork_server.start("run", **arguments)
        calls = random.randrange(samples * VOTES)
        wait_until(lambda folder=folder, calls=calls: len(billed_ids(folder)) >= calls, "calls are made")
        time.sleep(random.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        fork_server.wait(child)
        assert_no_kept_reply_is_lost(folder)
        lost = lost_ids(folder)
        assert len(lost) <= at_once * VOTES, "more was lost than was in flight"
        amid += 0 < len(stored_ids(folder)) < samples * VOTES
        assert fork_server.run("run", **arguments) == 0
        assert_records_agree(folder, samples, len(lost))
    assert amid >= moments // 2, "too few of the kills came while replies arrived"


def test_killed_at_random_moments_while_scoring(fork_server: ForkServer, tmp_path: Path) -> None:
    assert_survives_random_kills(fork_server, tmp_path, moments=12, seed=1)


@pytest.mark.slow
def test_killed_at_fifty_random_moments_while_scoring(fork_server: ForkServer, tmp_path: Path) -> None:
    assert_survives_random_kills(fork_server, tmp_path, moments=50, seed=2)


def test_repeatedly_killed_runs_still_finish(fork_server: ForkServer, tmp_path: Path) -> None:
    """Each run is killed a little later than the previous one; together they pay for little more than one run."""
    samples, lost = 12, set[str]()
    for wait in range(1, 100):
        child = fork_server.start("run", folder=tmp_path, samples=samples, at_once=2, pause=0.005)
        time.sleep(wait * 0.01)
        try:
            os.kill(child, signal.SIGKILL)
        finally:
            code = fork_server.wait(child)
        assert_no_kept_reply_is_lost(tmp_path)
        lost |= lost_ids(tmp_path)
        if code == 0:
            break
    assert code == 0
    assert_records_agree(tmp_path, samples, len(lost))
