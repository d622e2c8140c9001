"""A disk that is full when `round` or `board` writes: one message, exit code 2, and nothing half-written."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from src.board import index
from src.core import files
from src.gates.admission import admit
from src.gates.ticket import ROUND1
from tests.conftest import Askgate, Outcome
from tests.gates.run_folder import PROFILE, judging

CONFIG = Path("configs/quickstart_gated.yaml")
ROUND = ("round", "--profile", PROFILE, "--round")


@pytest.fixture
def judge(run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with judging() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield


def left_behind() -> list[Path]:
    """Temporary files, which have a dot and eight random characters."""
    return [path for path in Path().rglob(".*.????????") if path.is_file()]


def is_one_message(done: Outcome) -> None:
    assert done.code == 2
    assert done.err.count("No space left on device") == 1
    assert "free some space on that disk" in done.err


def full_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of that name can be completed."""
    real = files._complete

    def complete(handle: IO[bytes]) -> None:
        if name in Path(handle.name).name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(files, "_complete", complete)


def test_a_round_that_cannot_begin_leaves_the_ticket(
    judge: None, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        full_for("manifest.jsonl", patch)
        is_one_message(askgate(*ROUND, "1"))
    assert left_behind() == []
    assert admit(CONFIG).profile == PROFILE


def test_a_round_without_space_for_its_report(judge: None, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        full_for("round1.json", patch)
        is_one_message(askgate(*ROUND, "1"))
    assert not ROUND1.exists()
    assert left_behind() == []
    assert askgate(*ROUND, "1").code == 0


def test_a_round_without_space_for_the_curves_of_its_scoring(
    judge: None, askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tensorboardX.record_writer.open_file", lambda path: open("/dev/full", "wb"))
    done = askgate(*ROUND, "1")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert admit(CONFIG).profile == PROFILE


def test_a_round_without_enough_space_leaves_the_ticket(
    judge: None, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("src.gates.checks.config.free_bytes", lambda: 10**6)
        done = askgate(*ROUND, "1")
    assert done.code == 2
    assert "disk_free_gb: fails, so the round cannot pass" in done.err
    assert admit(CONFIG).profile == PROFILE


def test_a_board_without_space_for_its_index(tmp_path: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    real = index._connect

    def full(path: Path) -> sqlite3.Connection:
        store = real(path)
        store.execute("PRAGMA max_page_count=1")
        return store

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(index, "_connect", full)
    done = askgate("board", "--port", "0")
    assert done.code == 2
    assert "database or disk is full. What to do: free some space on that disk" in done.err
    assert list(Path(".askgate").iterdir()) == []


@pytest.mark.parametrize("verb", [(*ROUND, "2"), ("quickstart",), ("report",), ("package",)])
def test_a_disk_that_cannot_be_written_to_gives_one_message(
    judge: None, askgate: Askgate, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    """As on a read-only mount; root may write into a folder without the right to."""
    real = os.open

    def read_only(path: str | Path, flags: int, *given: int, **more: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, flags, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", read_only)
        done = askgate(*verb)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert done.err.count("What to do") == 1
    assert admit(CONFIG).profile == PROFILE
