"""File locks: one holder at a time, released with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.runtime import lock
from src.runtime.lock import NamedLocks, lock_folder, wait_for_lock


def test_a_second_run_in_a_locked_folder_is_refused(tmp_path: Path) -> None:
    held = lock_folder(tmp_path)
    with pytest.raises(BadInput, match="another run is writing here"):
        lock_folder(tmp_path)
    os.close(held)
    os.close(lock_folder(tmp_path))


def test_a_briefly_held_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`askgate runs` must not keep a run from starting."""
    held = lock_folder(tmp_path)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        os.close(held)

    monkeypatch.setattr(lock.time, "sleep", sleep)
    os.close(lock_folder(tmp_path))
    assert len(waits) == 1


def test_waiting_for_a_lock_is_announced_once(tmp_path: Path) -> None:
    path, announced = tmp_path / "loop.lock", []
    first = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(first, fcntl.LOCK_EX)

    def on_wait() -> None:
        announced.append("waits")
        os.close(first)

    with wait_for_lock(path, on_wait, poll_s=0.0) as held:
        assert os.fstat(held).st_ino == path.stat().st_ino
    assert announced == ["waits"]


def test_a_sweep_removes_locks_of_dead_processes(tmp_path: Path) -> None:
    folder = tmp_path / "locks"
    living = NamedLocks(folder)
    assert living.acquire("alive")
    (folder / "left behind").touch()
    NamedLocks(folder).sweep()
    assert [path.name for path in folder.iterdir()] == ["alive"]
    assert NamedLocks(folder).is_held("alive")


def test_a_lock_on_a_removed_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (NamedLocks(tmp_path) for _ in range(3))
    assert first.acquire("k")
    really = lock._try_lock

    def slow_lock(file: int, kind: int = fcntl.LOCK_EX) -> bool:
        monkeypatch.setattr(lock, "_try_lock", really)
        first.release("k")  # after the second has opened the file and before it locks it
        return really(file, kind)

    monkeypatch.setattr(lock, "_try_lock", slow_lock)
    assert second.acquire("k")
    assert not third.acquire("k")
