"""A file is written completely or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from src.core.disk import Disk
from src.core.errors import BadInput
from src.core.files import (
    atomic_files,
    atomic_write,
    read_json,
    refuse_overlap,
    require_jsonl,
    sha256_file,
    sidecar,
    sweep,
    write_json,
    written,
)
from src.runtime.disk import explain_disk_errors


def test_a_file_gets_its_name_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "pool.jsonl"
    with atomic_write(path) as handle:
        handle.write(b"first")
        assert not path.exists()
    assert path.read_bytes() == b"first"
    assert [found.name for found in path.parent.iterdir()] == ["pool.jsonl"]


def write_half(path: Path, stop: type[BaseException]) -> None:
    with atomic_write(path) as handle:
        handle.write(b"half")
        raise stop


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt])
def test_a_failed_write_keeps_only_the_old_file(tmp_path: Path, stop: type[BaseException]) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(stop):
        write_half(path, stop)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_explained_with_how_to_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Disk, path: Path) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Disk, "create", full)
    with (
        pytest.raises(
            BadInput, match=r"No space left.*free some space on that disk, then resume with --resume"
        ) as caught,
        explain_disk_errors(tmp_path, only_full=True),
        atomic_write(tmp_path / "eval.jsonl"),
    ):
        pass
    assert caught.value.where.startswith(str(tmp_path / ".eval.jsonl."))


def test_other_errors_are_not_explained_for_many_paths(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the drive fails"), explain_disk_errors(tmp_path, only_full=True):
        raise OSError(errno.EIO, "the drive fails")
    with pytest.raises(BadInput, match="check the disk"), explain_disk_errors(tmp_path):
        raise OSError(errno.EIO, "the drive fails")


def test_an_output_has_the_permissions_of_an_ordinary_file(tmp_path: Path) -> None:
    ordinary, ours = tmp_path / "ordinary", tmp_path / "ours"
    previous = os.umask(0o027)
    try:
        ordinary.touch()
        with atomic_write(ours) as handle:
            handle.write(b"")
    finally:
        os.umask(previous)
    assert ours.stat().st_mode == ordinary.stat().st_mode


def test_a_place_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with (
        pytest.raises(BadInput, match=r"file.pool\.jsonl: cannot write here"),
        atomic_write(tmp_path / "file" / "pool.jsonl"),
    ):
        pass


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder"), atomic_write(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_json_is_written_in_the_order_given_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_json(path, {"b": 1, "a": ["语", 0.5]})
    assert path.read_text(encoding="utf-8") == '{\n  "b": 1,\n  "a": [\n    "语",\n    0.5\n  ]\n}\n'
    assert read_json(path, "") == {"b": 1, "a": ["语", 0.5]}


def test_unreadable_json_names_file_and_remedy(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(b'{"a": ')
    for path, problem in [(tmp_path / "none.json", "No such file"), (broken, "not valid JSON"), (tmp_path, "cannot")]:
        with pytest.raises(BadInput) as caught:
            read_json(path, "run the stage again")
        assert caught.value.where == str(path)
        assert problem in caught.value.what
        assert caught.value.remedy == "run the stage again"


def test_a_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 3_000_000)
    assert sha256_file(path) == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_a_file_that_cannot_be_hashed_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.jsonl: cannot be read"):
        sha256_file(tmp_path / "none.jsonl")


def test_the_sidecar_is_beside_its_pool() -> None:
    assert sidecar(Path("data/rc1_seed.jsonl")) == Path("data/rc1_seed.meta.json")
    assert sidecar(Path("data/rc1_seed.metrics.jsonl")) == Path("data/rc1_seed.metrics.meta.json")


def write_pair(folder: Path, text: bytes) -> None:
    with atomic_files() as start:
        pool, facts = start(folder / "pool.jsonl"), start(folder / "pool.meta.json")
        pool.write(text)
        assert written(pool).read_bytes() == text
        facts.write(text)


def test_files_that_belong_together_appear_together(tmp_path: Path) -> None:
    write_pair(tmp_path, b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "pool.jsonl": b"new",
        "pool.meta.json": b"new",
    }


def test_if_one_file_cannot_be_written_none_appears(tmp_path: Path) -> None:
    (tmp_path / "pool.meta.json").mkdir()
    with pytest.raises(BadInput, match=r"pool\.meta\.json: is a folder"):
        write_pair(tmp_path, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["pool.meta.json"]


def test_a_failure_after_the_first_file_keeps_both_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pair(tmp_path, b"old")
    calls: list[int] = []

    def second_fails(number: int) -> None:
        calls.append(number)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", second_fails)
    with pytest.raises(OSError, match="No space"):
        write_pair(tmp_path, b"new")
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"old"}
    assert len(list(tmp_path.iterdir())) == 2


def test_writing_to_a_link_writes_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "far" / "pool.jsonl", tmp_path / "pool.jsonl"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as handle:
        handle.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_file_with_a_sidecar_ends_in_jsonl() -> None:
    require_jsonl(Path("c.jsonl"), "--out")
    for name in ("c.json", "c", "c.jsonl.txt"):
        with pytest.raises(BadInput, match=r"^--out: .* does not end in \.jsonl"):
            require_jsonl(Path(name), "--out")


@pytest.mark.parametrize("out", ["pool.jsonl", "pool.meta.json", "near/../pool.jsonl", "link.jsonl"])
def test_an_output_may_not_be_an_input_or_its_sidecar(tmp_path: Path, out: str) -> None:
    (tmp_path / "near").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "pool.jsonl")
    with pytest.raises(BadInput, match=r"^--out: .* would overwrite a file of --in"):
        refuse_overlap({"--out": tmp_path / out}, {"--in": tmp_path / "pool.jsonl"})


def test_two_outputs_may_not_be_one_file(tmp_path: Path) -> None:
    for second in ("a.jsonl", "a.meta.json"):
        with pytest.raises(BadInput, match=r"^--second: .* would overwrite a file of --first"):
            refuse_overlap({"--first": tmp_path / "a.jsonl", "--second": tmp_path / second}, {})


def test_different_files_do_not_overlap(tmp_path: Path) -> None:
    outputs = {"--out": tmp_path / "pool.json", "--list": tmp_path / "pool.metrics.jsonl"}
    assert refuse_overlap(outputs, {"--in": tmp_path / "pool.jsonl"}) is None


def test_a_sweep_removes_only_half_written_files(tmp_path: Path) -> None:
    stay = ["notes.jsonl", ".lock", ".notes.jsonl.old", ".other.jsonl.a1b2c3d4", "sub/.gitignore", "sub/page.jsonl"]
    with atomic_write(tmp_path / "sub" / "page.jsonl") as page, atomic_write(tmp_path / "notes.jsonl") as notes:
        left = [Path(page.name), Path(notes.name)]
    for path in (*left, *(tmp_path / name for name in stay)):
        path.touch()
    for path in ("notes.jsonl", "sub", "nowhere/at_all.jsonl"):
        sweep(tmp_path / path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == sorted(stay)
