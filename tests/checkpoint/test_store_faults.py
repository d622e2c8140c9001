"""A save that is killed, or refused by the disk, at any operation leaves an undamaged newest checkpoint."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from src.checkpoint.seal import verify
from src.checkpoint.store import CheckpointStore
from src.core.disk import Disk
from src.core.errors import BadInput
from tests import disk_faults
from tests.checkpoint.lookup import newest_in
from tests.checkpoint.saves import KEEP, assert_content, assert_recovers, resume, save, writer
from tests.disk_faults import ERRORS, KILLS, Kind
from tests.fork_server import ForkServer

OPERATIONS_AT_LEAST = 30
"""Folder, files, seal, rename and link, the oldest dropped, and all of it again for the mirror."""


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    one = ForkServer("tests.checkpoint.saves")
    yield one
    one.close()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disables real syncs: the fault layer simulates what they promise, and they only cost time here."""
    monkeypatch.setattr(Disk, "sync", lambda self, path: None)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A run that has saved steps 1 and 2, so that the next save removes the first."""
    top = tmp_path / "scene"
    top.mkdir()
    for step in (1, 2):
        save(top, step)
    return top


def each_operation(scene: Path) -> Iterator[tuple[int, Path]]:
    for at in range(1, 200):
        top = scene.with_name(f"at {at}")
        shutil.copytree(scene, top, symlinks=True)
        yield at, top


@pytest.mark.parametrize("kind", KILLS)
def test_a_killed_save_leaves_a_whole_newest_checkpoint(fork_server: ForkServer, scene: Path, kind: Kind) -> None:
    newest = []
    for at, top in each_operation(scene):
        code = fork_server.run("broken", top, kind=kind, at=at, step=3)
        newest.append(assert_recovers(top, {2, 3}))
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert at > OPERATIONS_AT_LEAST
    assert newest == sorted(newest), "once the new one is there it stays"
    assert newest.count(2) > 10
    assert newest.count(3) > 10


@pytest.mark.parametrize("kind", ERRORS)
def test_disk_errors_are_reported_and_harm_nothing(scene: Path, kind: Kind) -> None:
    refused = 0
    for at, top in each_operation(scene):
        faulty = disk_faults.install(kind, at, top)
        refusal = refused_save(top, step=3)
        disk_faults.uninstall()
        if refusal:
            refused += 1
            assert refusal.where.startswith(str(top / "run"))
            assert ("free some space" if kind == "disk full" else "check the disk") in refusal.remedy
            assert kind != "disk full" or not list((top / "run").glob(".saving*")), "something half-written was left"
        assert_recovers(top, {2, 3} if refusal else {3})
        if faulty.steps < at:
            break
    assert at > OPERATIONS_AT_LEAST
    assert refused > 15, "the mirror's troubles do not end a run, those of its own folder do"


def refused_save(top: Path, step: int) -> BadInput | None:
    try:
        save(top, step)
    except BadInput as error:
        return error
    return None


def test_a_save_survives_an_immediate_power_cut(fork_server: ForkServer, scene: Path) -> None:
    assert fork_server.run("cut_off_after_all", scene, step=3) == 0
    for shelf in (scene / "run", scene / "mirror"):
        for name in ("step_00003", "latest", "best/step_00003", "final_model"):
            verify(shelf / name)
            assert_content(shelf / name, 3)


def test_the_same_run_saves_again_once_there_is_space(scene: Path) -> None:
    with CheckpointStore(scene / "run", None, KEEP) as store:
        for at in range(1, 100):
            faulty = disk_faults.install("disk full", at, scene, passing=True)
            step = (store.last_step or 0) + 1
            with suppress(BadInput):
                store.save(step, writer(step), {})
            disk_faults.uninstall()
            assert_content(newest_in(scene / "run").path, newest_in(scene / "run").step)
            if faulty.steps < at:
                break
    assert at > 20


@pytest.mark.parametrize("kind", ["kill amid", "power cut", "disk broken"])
def test_a_crash_while_cleaning_up_after_a_crash_harms_nothing(
    fork_server: ForkServer, scene: Path, kind: Kind
) -> None:
    """A killed save left its folder, the newest checkpoint is truncated, and the next run is killed as well."""
    save(scene, 3)
    assert fork_server.run("broken", scene, kind="kill before", at=10, step=4) == -signal.SIGKILL
    for shelf in ("run", "mirror"):
        os.truncate(scene / shelf / "step_00003" / "state.safetensors", 7)
    assert list((scene / "run").glob(".saving*"))
    for at, top in each_operation(scene):
        code = fork_server.run("broken", top, kind=kind, at=at)
        assert code in (0, 2, -signal.SIGKILL)
        found = newest_in(top / "run", top / "mirror")
        assert found.step in {2, 3}
        assert_content(found.path, found.step)
        resume(top)
        found = newest_in(top / "run", top / "mirror")
        assert_content(found.path, found.step)
        assert list((top / "run").glob("damaged_step_00003*"))
        assert not list((top / "run").glob(".saving*"))
        if code == 0:
            break
    assert at > OPERATIONS_AT_LEAST
