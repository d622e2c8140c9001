"""A save that is killed, or refused by the disk, at every single operation leaves a whole newest checkpoint."""

from __future__ import annotations

import os
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from src.core.checkpoint import Store
from src.core.durable import Disk, disk, write_file
from src.core.errors import BadInput
from src.core.found import newest_in
from src.core.sealed import verify
from src.core.shelf import Shelf
from tests.core import disk_faults
from tests.core.disk_faults import ERRORS, KILLS, Kind

KEEP = 2
OPERATIONS_AT_LEAST = 30
"""Folder, files, seal, rename and link, the oldest dropped, and all of it again for the mirror."""


def writer(step: int) -> Callable[[Path], None]:
    """Two files, one of them in a folder of its own and written past the disk that the tests break."""

    def write(folder: Path) -> None:
        write_file(folder / "state.safetensors", [f"weights of step {step}".encode() * 50])
        disk.make_folder(folder / "tokenizer")
        (folder / "tokenizer" / "vocab.json").write_text(f'{{"step": {step}}}')

    return write


def assert_content(path: Path, step: int) -> None:
    assert (path / "state.safetensors").read_bytes() == f"weights of step {step}".encode() * 50
    assert (path / "tokenizer" / "vocab.json").read_text() == f'{{"step": {step}}}'


def save(top: Path, step: int) -> Path:
    with Store(top / "run", top / "mirror", KEEP) as store:
        return store.save(step, writer(step), {})


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a process of its own: 0, 2 where the input was refused, or minus the signal that ended it."""
    if (child := os.fork()) == 0:
        code = 70
        try:
            work()
            code = 0
        except BadInput:
            code = 2
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def faulty_save(top: Path, kind: Kind, at: int, step: int) -> int:
    def work() -> None:
        disk_faults.install(kind, at, top)
        save(top, step)

    return in_child(work)


def assert_recovers(top: Path, among: set[int]) -> int:
    """All are whole, nothing half-written is left once the store was opened, and the next save works."""
    seen = newest_in(top / "run").step
    assert (top / "run" / "latest").resolve().name in {f"step_{step:05d}" for step in among}
    for shelf in (Shelf(top / "run"), Shelf(top / "mirror")):
        for step in shelf.steps():
            verify(shelf.folder(step))
    with Store(top / "run", top / "mirror", KEEP) as store:
        found = store.newest()
        assert found.step == seen
        assert found.step in among
        assert not found.damaged
        assert_content(found.path, found.step)
        assert os.readlink(top / "run" / "latest") == f"step_{found.step:05d}"
        for shelf in (top / "run", top / "mirror"):
            assert [path.name for path in shelf.glob(".*")] == [".lock"]
            assert not list(shelf.glob("damaged*"))
        after = found.step + 1
        path = store.save(after, writer(after), {})
    assert newest_in(top / "run").path == path
    assert_content(newest_in(top / "mirror").path, after)
    return found.step


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a sync promises is kept by the fault layer; the real one only costs time here."""
    monkeypatch.setattr(Disk, "sync", lambda self, path: None)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A run that has saved steps 1 and 2: the next save drops the first."""
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
def test_a_save_killed_at_any_operation_leaves_a_whole_newest_checkpoint(scene: Path, kind: Kind) -> None:
    newest = []
    for at, top in each_operation(scene):
        code = faulty_save(top, kind, at, step=3)
        newest.append(assert_recovers(top, {2, 3}))
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert at > OPERATIONS_AT_LEAST
    assert newest == sorted(newest), "once the new one is there it stays"
    assert newest.count(2) > 10
    assert newest.count(3) > 10


@pytest.mark.parametrize("kind", ERRORS)
def test_a_disk_that_refuses_at_any_operation_is_told_and_harms_nothing(scene: Path, kind: Kind) -> None:
    refused = 0
    for at, top in each_operation(scene):
        faulty: list[disk_faults.Faulty] = []
        try:
            faulty.append(disk_faults.install(kind, at, top))
            path = save(top, step=3)
            assert_content(path, 3)
        except BadInput as error:
            refused += 1
            assert error.where.startswith(str(top / "run"))
            assert ("free some space" if kind == "disk full" else "check the disk") in error.remedy
            if kind == "disk full":
                assert not list((top / "run").glob(".saving*")), "something half-written was left"
        finally:
            disk_faults.uninstall()
        assert_recovers(top, {2, 3})
        if faulty[0].steps < at:
            break
    assert at > OPERATIONS_AT_LEAST
    assert refused > 15, "the mirror's troubles do not end a run, those of its own folder do"


def test_what_was_saved_outlives_a_power_cut_right_after(scene: Path) -> None:
    def work() -> None:
        faulty = disk_faults.install("power cut", 1000, scene)
        with Store(scene / "run", scene / "mirror", KEEP) as store:
            store.save(3, writer(3), {})
            store.best(3, 0.5)
            store.final(3, writer(3), {})
        assert faulty.durable
        faulty.durable.cut(names=False)

    assert in_child(work) == 0
    for shelf in (scene / "run", scene / "mirror"):
        for name in ("step_00003", "latest", "best/step_00003", "final_model"):
            verify(shelf / name)
            assert_content(shelf / name, 3)


def test_the_same_run_saves_again_once_there_is_space(scene: Path) -> None:
    with Store(scene / "run", None, KEEP) as store:
        for at in range(1, 100):
            faulty = disk_faults.install("disk full", at, scene, passing=True)
            step = (store.last_step or 0) + 1
            try:
                store.save(step, writer(step), {})
                survived = faulty.steps < at
            except BadInput:
                survived = False
            finally:
                disk_faults.uninstall()
            assert_content(newest_in(scene / "run").path, newest_in(scene / "run").step)
            if survived:
                break
    assert at > 20


@pytest.mark.parametrize("kind", ["kill amid", "power cut", "disk broken"])
def test_a_crash_while_cleaning_up_after_a_crash_harms_nothing(scene: Path, kind: Kind) -> None:
    """A killed save has left its folder, the newest checkpoint is cut short, and the next run is killed in turn."""
    save(scene, 3)
    assert faulty_save(scene, "kill before", 10, step=4) == -signal.SIGKILL
    for shelf in ("run", "mirror"):
        os.truncate(scene / shelf / "step_00003" / "state.safetensors", 7)
    assert list((scene / "run").glob(".saving*"))

    def resume(top: Path) -> None:
        with Store(top / "run", top / "mirror", KEEP) as store:
            found = store.newest()
            store.save(found.step + 1, writer(found.step + 1), {})

    def broken_resume(top: Path, at: int) -> None:
        disk_faults.install(kind, at, top)
        resume(top)

    for at, top in each_operation(scene):
        code = in_child(lambda top=top, at=at: broken_resume(top, at))  # type: ignore[misc]
        found = newest_in(top / "run", top / "mirror")
        assert found.step in {2, 3}
        assert_content(found.path, found.step)
        resume(top)
        found = newest_in(top / "run", top / "mirror")
        assert_content(found.path, found.step)
        assert list((top / "run").glob("damaged_step_00003*"))
        assert not list((top / "run").glob(".saving*"))
        if code == 0 and kind in KILLS:
            break
        if kind in ERRORS and at > OPERATIONS_AT_LEAST + 20:
            break
    assert at > OPERATIONS_AT_LEAST
