"""Checkpoints: which one a run resumes from, which are kept, which are refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from src.checkpoint.seal import verify
from src.checkpoint.store import CheckpointStore
from src.core.disk import Disk
from src.core.errors import BadInput
from src.runtime import disk as durable
from tests.checkpoint.lookup import damaged_in, newest_in

LOCAL = {"gated": False, "profile": "local"}


def writer(step: int) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "state.json").write_text(f'{{"step": {step}}}')
        (folder / "state.safetensors").write_bytes(bytes(range(256)) * step)

    return write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints" / "local"


def saved(root: Path, *steps: int, keep: int = 9, mirror: Path | None = None) -> None:
    with CheckpointStore(root, mirror, keep) as store:
        for step in steps:
            store.save(step, writer(step), LOCAL)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))


def test_a_checkpoint_holds_files_marks_and_marker(root: Path) -> None:
    saved(root, 7)
    found = newest_in(root)
    assert (found.step, found.path, found.marks) == (7, root / "step_00007", LOCAL)
    assert names(found.path) == ["COMPLETE", "manifest.json", "state.json", "state.safetensors"]
    assert json.loads((found.path / "state.json").read_text()) == {"step": 7}


def test_latest_is_a_relative_link(root: Path) -> None:
    saved(root, 7, 12)
    assert os.readlink(root / "latest") == "step_00012"
    root.rename(root.with_name("moved"))
    assert newest_in(root.with_name("moved")).path.samefile(root.with_name("moved") / "latest")


def test_the_last_k_are_kept(root: Path) -> None:
    saved(root, 1, 2, 3, 4, 5, keep=3)
    assert names(root) == ["latest", "step_00003", "step_00004", "step_00005"]


def test_the_rollback_target_is_kept_however_old(root: Path) -> None:
    with CheckpointStore(root, None, keep=2) as store:
        store.save(1, writer(1), {})
        store.save(2, writer(2), {"alert": False, "timed": False})
        for step in (3, 4, 5):
            store.save(step, writer(step), {"alert": True})
        store.save(6, writer(6), {"timed": True})
        assert names(root) == ["latest", "step_00002", "step_00005", "step_00006"]
        good = store.latest_good(6)
        assert good
        assert good.step == 2
        assert store.newest().step == 6


def test_pruning_keeps_the_rollback_target_of_each_checkpoint(root: Path) -> None:
    with CheckpointStore(root, None, keep=2) as store:
        for step, alert in ((1, False), (2, False), (3, True), (4, False)):
            store.save(step, writer(step), {"alert": alert})
        assert names(root) == ["latest", "step_00002", "step_00003", "step_00004"]
        harm(root / "step_00004" / "state.json", "missing")
        assert store.newest().step == 3
        good = store.latest_good(9)
        assert good
        assert good.step == 2


def test_breaching_checkpoints_are_not_rolled_back_to(root: Path) -> None:
    with CheckpointStore(root, None, keep=2) as store:
        for step in (1, 2, 3):
            store.save(step, writer(step), {"alert": False})
        store.breached = {3}  # found out in step 4
        for step in (4, 5, 6):
            store.save(step, writer(step), {"alert": True})
        assert names(root) == ["latest", "step_00002", "step_00005", "step_00006"]
        found = store.latest_good(7)
        assert found
        assert found.step == 2
        assert store.latest_good(2) is None


def test_pruning_keeps_the_good_checkpoint_before_the_newest(root: Path) -> None:
    with CheckpointStore(root, None, keep=1) as store:
        for step in (1, 2, 3):
            store.save(step, writer(step), {"alert": False})
        assert names(root) == ["latest", "step_00002", "step_00003"]


def test_without_a_good_checkpoint_there_is_no_rollback_target(root: Path) -> None:
    with CheckpointStore(root, None, keep=2) as store:
        assert store.latest_good(9) is None
        store.save(3, writer(3), {"alert": True})
        assert store.latest_good(9) is None


@pytest.mark.parametrize("file", ["state.json", "state.safetensors", "manifest.json", "COMPLETE"])
@pytest.mark.parametrize("damage", ["cut short", "a byte changed", "missing", "empty"])
def test_a_damaged_checkpoint_is_named_and_skipped(
    root: Path, file: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    saved(root, 1, 2, 3)
    harm(root / "step_00003" / file, damage)
    (what,) = damaged_in(root)
    with CheckpointStore(root, None, keep=9) as store:
        assert store.newest().step == 2
        assert str(root / "step_00003") in what
        assert file in what or (file == "COMPLETE" and "manifest.json" in what)
        assert what in caplog.text
        assert os.readlink(root / "latest") == "step_00002"
        store.save(3, writer(3), LOCAL)
    assert newest_in(root).step == 3
    assert "damaged_step_00003" in names(root)


def harm(path: Path, damage: str) -> None:
    if damage == "missing":
        path.unlink()
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "cut short":
        os.truncate(path, path.stat().st_size // 2)
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)


def test_several_damaged_ones_are_all_named(root: Path) -> None:
    saved(root, 1, 2, 3)
    harm(root / "step_00003" / "state.json", "missing")
    harm(root / "step_00002" / "state.safetensors", "a byte changed")
    assert newest_in(root).step == 1
    missing, changed = damaged_in(root)
    assert "state.json is missing" in missing
    assert "state.safetensors was changed" in changed
    assert names(root) == ["latest", "step_00001", "step_00002", "step_00003"], "whoever reads changes nothing"


def test_a_checkpoint_under_the_name_of_another_step_is_damaged(root: Path) -> None:
    saved(root, 1, 2)
    shutil.copytree(root / "step_00001", root / "step_00009")
    assert newest_in(root).step == 2
    assert "manifest.json is of step 1" in damaged_in(root)[0]


def test_all_damaged_checkpoints_are_named_when_none_is_whole(root: Path) -> None:
    saved(root, 1, 2)
    harm(root / "step_00001" / "state.json", "missing")
    harm(root / "step_00002" / "COMPLETE", "missing")
    with (
        CheckpointStore(root, None, keep=9) as store,
        pytest.raises(BadInput, match="no checkpoint is whole") as refused,
    ):
        store.newest()
    assert "step_00001: state.json is missing" in str(refused.value)
    assert "step_00002: COMPLETE is missing" in str(refused.value)
    assert names(root) == ["latest", "step_00001", "step_00002"]


def test_an_empty_folder_is_refused(root: Path) -> None:
    with CheckpointStore(root, None, keep=9) as store:
        store.require_new()
        with pytest.raises(BadInput, match=r"no checkpoint here.*without --resume"):
            store.newest()
    with pytest.raises(BadInput, match="no checkpoint here"):
        newest_in(root / "nowhere")


def test_steps_only_increase(root: Path) -> None:
    saved(root, 1, 5)
    with CheckpointStore(root, None, keep=9) as store:
        for step in (4, 5):
            with pytest.raises(BadInput, match="holds step 5 already"):
                store.save(step, writer(step), {})
        with pytest.raises(BadInput, match=r"came to step 5.*--resume"):
            store.require_new()
        store.save(6, writer(6), {})


def test_a_second_run_on_the_same_folder_is_refused(root: Path) -> None:
    code = (
        "import sys, pathlib; from src.checkpoint.store import CheckpointStore; "
        "CheckpointStore(pathlib.Path(sys.argv[1]), None, 2)"
    )
    other = [sys.executable, "-c", code, str(root)]
    with CheckpointStore(root, None, keep=2) as store:
        store.save(1, writer(1), {})
        refused = subprocess.run(other, capture_output=True, text=True)
        assert refused.returncode != 0
        assert "another run is writing here" in refused.stderr
        assert newest_in(root).step == 1, "reading needs no lock"
    assert subprocess.run(other).returncode == 0


def test_leftovers_of_a_killed_save_are_removed(root: Path) -> None:
    saved(root, 1)
    for left in (".saving_step_00002", ".dropped_step_00000", "best/.saving_step_00001"):
        (root / left / "deep").mkdir(parents=True)
        (root / left / "deep" / "state").write_text("half")
    (root / ".saving_latest").symlink_to("step_00002")
    with CheckpointStore(root, None, keep=2):
        assert sorted(entry.name for entry in root.iterdir()) == [".lock", "best", "latest", "step_00001"]
        assert names(root / "best") == []


def test_a_writer_that_fails_leaves_nothing(root: Path) -> None:
    def fails(folder: Path) -> None:
        writer(2)(folder)
        raise ValueError("no such tensor")

    saved(root, 1)
    with CheckpointStore(root, None, keep=9) as store:
        with pytest.raises(ValueError, match="no such tensor"):
            store.save(2, fails, {})
        assert sorted(entry.name for entry in root.iterdir()) == [".lock", "latest", "step_00001"]


def test_full_disk_errors_of_libraries_are_understood(root: Path) -> None:
    def fails(folder: Path) -> None:
        raise RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")

    with (
        CheckpointStore(root, None, keep=9) as store,
        pytest.raises(BadInput, match=r"step_00002: No space left.*free some"),
    ):
        store.save(2, fails, {})


def test_best_is_only_added_to(root: Path) -> None:
    with CheckpointStore(root, None, keep=1) as store:
        for step, value in ((1, 0.5), (2, 0.4), (3, 0.5), (4, 0.7)):
            store.save(step, writer(step), LOCAL)
            store.best(step, value, "held-out reward")
        assert names(root / "best") == ["step_00001", "step_00004"]
        before = (root / "best" / "step_00004" / "manifest.json").read_bytes()
        assert store.best(4, 0.9, "held-out reward") is None
        assert store.best(4, float("nan"), "held-out reward") is None
        assert (root / "best" / "step_00004" / "manifest.json").read_bytes() == before
    found = newest_in(root / "best")
    assert (found.step, found.marks) == (4, {**LOCAL, "value": 0.7, "valued_by": "held-out reward"})
    assert (found.path / "state.safetensors").read_bytes() == (root / "step_00004" / "state.safetensors").read_bytes()


def test_the_final_model_is_replaced_atomically(root: Path) -> None:
    with CheckpointStore(root, None, keep=1) as store:
        final = store.final(3, writer(3), LOCAL)
        assert final == root / "final_model"
        first = final.stat().st_ino
        store.final(3, writer(3), LOCAL)
        assert final.stat().st_ino == first
        harm(final / "state.json", "a byte changed")
        store.final(3, writer(3), LOCAL)
        assert json.loads((final / "state.json").read_text()) == {"step": 3}
        store.final(4, writer(4), LOCAL)
        assert json.loads((final / "state.json").read_text()) == {"step": 4}
        assert sorted(entry.name for entry in root.iterdir()) == [".lock", "final_model"]


def test_a_lost_folder_resumes_from_the_mirror(root: Path, tmp_path: Path) -> None:
    mirror = tmp_path / "drive" / "run"
    with CheckpointStore(root, mirror, keep=2) as store:
        for step in (1, 2, 3):
            store.save(step, writer(step), LOCAL)
        store.best(3, 0.5)
        store.final(3, writer(3), LOCAL)
    assert names(mirror) == names(root) == ["best", "final_model", "latest", "step_00002", "step_00003"]
    for file in root.rglob("state.*"):
        assert (mirror / file.relative_to(root)).read_bytes() == file.read_bytes()
    shutil.rmtree(root)
    with CheckpointStore(root, mirror, keep=2) as store:
        found = store.newest()
        assert found.path == mirror / "step_00003"
        assert store.best(3, 0.6) is None
        with pytest.raises(BadInput, match="holds step 3 already"):
            store.save(3, writer(3), LOCAL)
        store.save(4, writer(4), LOCAL)
    assert names(root) == ["latest", "step_00004"]
    assert names(mirror) == ["best", "final_model", "latest", "step_00003", "step_00004"]


def test_the_mirror_replaces_a_damaged_checkpoint(root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mirror = tmp_path / "drive"
    saved(root, 1, 2, mirror=mirror)
    harm(root / "step_00002" / "state.safetensors", "cut short")
    with CheckpointStore(root, mirror, keep=2) as store:
        found = store.newest()
    assert found.path == mirror / "step_00002"
    assert "state.safetensors has 256 bytes, 512 were saved" in caplog.text


def test_the_run_survives_a_failing_mirror(root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mirror = tmp_path / "drive"
    with CheckpointStore(root, mirror, keep=2) as store:
        store.save(1, writer(1), {})
        shutil.rmtree(mirror)
        mirror.write_text("the drive is gone")
        store.save(2, writer(2), {})
        store.final(2, writer(2), {})
        assert caplog.text.count(f"not mirrored: {mirror}") == 2
        mirror.unlink()
        store.save(3, writer(3), {})
    assert names(mirror) == ["latest", "step_00003"]
    assert newest_in(root).step == 3


def test_a_drive_without_links_still_holds_checkpoints(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_links(target: str, path: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(durable.disk, "link", no_links, raising=False)
    saved(root, 1, 2)
    assert "has no links; the newest checkpoint is step_00002" in caplog.text
    assert newest_in(root).step == 2


def test_files_and_folders_are_really_synced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[str] = set()
    real = os.fsync

    def noting(file: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{file}"))
        real(file)

    monkeypatch.setattr(os, "fsync", noting)
    saved(root, 1)
    new = root / ".saving_step_00001"
    files = {str(new / name) for name in ("state.json", "state.safetensors", "manifest.json", "COMPLETE")}
    assert synced >= files | {str(new), str(root), str(root.parent)}


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("a file")
    with pytest.raises(BadInput, match="choose another path"):
        CheckpointStore(tmp_path / "checkpoints" / "local", None, keep=2)


def test_a_failed_replacement_keeps_the_final_model(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Disk.rename

    def failing(self: Disk, old: Path, new: Path) -> None:
        if old.name.startswith(".saving_") and new.name == "final_model":
            raise OSError(errno.EIO, "the disk fails here")
        real(self, old, new)

    with CheckpointStore(root, None, keep=2) as store:
        store.final(1, writer(1), LOCAL)
        monkeypatch.setattr(Disk, "rename", failing)
        with pytest.raises(BadInput):
            store.final(2, writer(2), LOCAL)
    assert verify(root / "final_model").step == 1


def test_the_final_model_survives_a_kill_between_renames(root: Path) -> None:
    with CheckpointStore(root, None, keep=2) as store:
        store.final(1, writer(1), LOCAL)
    (root / "final_model").rename(root / ".replaced_final_model")
    with CheckpointStore(root, None, keep=2):
        assert verify(root / "final_model").step == 1
    assert not (root / ".replaced_final_model").exists()


def test_a_copy_that_changed_is_not_sealed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flipped(path: Path) -> list[bytes]:
        return [b"another byte"]

    monkeypatch.setattr("src.checkpoint.seal.read_blocks", flipped)
    with CheckpointStore(root, tmp_path / "drive", keep=2) as store:
        store.save(1, writer(1), LOCAL)
    assert "changed while it was copied" in caplog.text
    assert not list((tmp_path / "drive").glob("step_*"))
