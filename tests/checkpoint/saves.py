"""A run that only saves checkpoints, for the tests that break the disk under it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from src.checkpoint.seal import verify
from src.checkpoint.store import CheckpointFolder, CheckpointStore
from src.core.disk import Disk, disk
from src.core.errors import BadInput
from src.runtime.disk import write_file
from tests import disk_faults
from tests.checkpoint.lookup import damaged_in, newest_in

KEEP = 2


def writer(step: int) -> Callable[[Path], None]:
    """Writes two files, one of them in a subfolder and without the disk layer that the tests break."""

    def write(folder: Path) -> None:
        write_file(folder / "state.safetensors", [f"weights of step {step}".encode() * 50])
        disk.make_folder(folder / "tokenizer")
        (folder / "tokenizer" / "vocab.json").write_text(f'{{"step": {step}}}')

    return write


def assert_content(path: Path, step: int) -> None:
    assert (path / "state.safetensors").read_bytes() == f"weights of step {step}".encode() * 50
    assert (path / "tokenizer" / "vocab.json").read_text() == f'{{"step": {step}}}'


def save(top: Path, step: int) -> Path:
    with CheckpointStore(top / "run", top / "mirror", KEEP) as store:
        return store.save(step, writer(step), {})


def resume(top: Path) -> None:
    with CheckpointStore(top / "run", top / "mirror", KEEP) as store:
        found = store.newest()
        store.save(found.step + 1, writer(found.step + 1), {})


def assert_recovers(top: Path, among: set[int]) -> int:
    """All checkpoints are undamaged, opening the store removes half-written files, and the next save works."""
    seen = newest_in(top / "run").step
    assert not damaged_in(top / "run")
    assert (top / "run" / "latest").resolve().name in {f"step_{step:05d}" for step in among}
    for shelf in (CheckpointFolder(top / "run"), CheckpointFolder(top / "mirror")):
        for step in shelf.steps():
            verify(shelf.folder(step))
    with CheckpointStore(top / "run", top / "mirror", KEEP) as store:
        found = store.newest()
        assert found.step == seen
        assert found.step in among
        assert_content(found.path, found.step)
        assert os.readlink(top / "run" / "latest") == f"step_{found.step:05d}"
        for folder in (top / "run", top / "mirror"):
            assert [path.name for path in folder.glob(".*")] == [".lock"]
            assert not list(folder.glob("damaged*"))
        after = found.step + 1
        path = store.save(after, writer(after), {})
    assert newest_in(top / "run").path == path
    assert_content(newest_in(top / "mirror").path, after)
    return found.step


def broken(folder: str, kind: disk_faults.Kind, at: int, step: int | None = None) -> int:
    """Saves `step`, or resumes if no step is given, on a broken disk. Returns 0, or 2 if it was refused."""
    top = Path(folder)
    disk_faults.install(kind, at, top)
    try:
        if step is None:
            resume(top)
        else:
            save(top, step)
    except BadInput:
        return 2
    return 0


def cut_off_after_all(folder: str, step: int) -> int:
    top = Path(folder)
    faulty = disk_faults.install("power cut", 1000, top)
    with CheckpointStore(top / "run", top / "mirror", KEEP) as store:
        store.save(step, writer(step), {})
        store.best(step, 0.5)
        store.final(step, writer(step), {})
    assert faulty.durable
    faulty.durable.cut(names=False)
    return 0


def warm() -> None:
    """Disables real syncs: the fault layer simulates what they promise, and they only cost time here."""
    Disk.sync = lambda self, path: None  # type: ignore[method-assign]


JOBS: dict[str, Callable[..., int]] = {"broken": broken, "cut_off_after_all": cut_off_after_all}
