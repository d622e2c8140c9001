"""Attacks by way of a package: what must not get in, and what must not come out and run."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.gates.manifest import Manifest
from src.release.package import make_package
from src.release.reproduce import reproduce
from tests.release.packing import CONFIG, MODEL, new_key, rewritten, silent, trained, unsigned

SECRET = "hunter2-hunter2-hunter2"


def pack(out: Path) -> set[str]:
    trained()
    with tarfile.open(make_package(CONFIG, out, None, None, silent)) as archive:
        return set(archive.getnames())


def test_code_in_a_package_is_refused_before_it_can_run(packed: Path) -> None:
    def plant(found: dict[str, bytes]) -> None:
        found["torch.py"] = b"raise SystemExit('owned')"

    for forged in (rewritten(packed, plant), unsigned(packed, plant)):
        with pytest.raises(BadInput, match="no kind of file") as caught:
            reproduce(forged, silent)
        assert caught.value.where == "torch.py"


def own_class(text: str = "class Coach:\n    pass\n") -> None:
    """An own class as a round records it: evidence."""
    Path("coach.py").write_text(text)
    Manifest().record([Path("coach.py")])


def test_own_classes_are_packed_as_text_and_verified_elsewhere(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_class("raise SystemExit('owned')")
    package = tmp_path / "out" / "package.tgz"
    names = pack(package)
    assert "coach.py.txt" in names
    assert not any(name.endswith(".py") for name in names)
    monkeypatch.chdir(package.parent)
    reproduce(package, silent)
    forged = unsigned(package, lambda found: found.update({"coach.py.txt": b"class Coach: pass"}))
    with pytest.raises(BadInput, match="has changed since it was recorded") as caught:
        reproduce(forged, silent)
    assert caught.value.where == "coach.py"
    missing = unsigned(package, lambda found: found.__delitem__("coach.py.txt"))
    with pytest.raises(BadInput, match="it was recorded") as caught:
        reproduce(missing, silent)
    assert caught.value.where == "coach.py"


def test_hidden_files_and_torn_leftovers_are_not_packed(run: Path, tmp_path: Path) -> None:
    honest = pack(tmp_path / "out" / "honest.tgz")
    Path("configs/.env").write_text("A=1")
    Path("reports/rc1/.package.tgz.abcdefgh").write_bytes(b"x" * 1000)
    Path("reports/rc1/package.tgz").write_bytes(b"x" * 1000)
    Path("reports/rc1/helper.py").write_text("1/0")
    assert pack(tmp_path / "out" / "second.tgz") == honest


def test_a_private_key_is_refused_under_any_name(run: Path, tmp_path: Path) -> None:
    key = new_key(tmp_path / "key.pem").read_bytes()
    Path("configs/owner.pem").write_bytes(key)
    assert "configs/owner.pem" not in pack(tmp_path / "out.tgz")
    Path("configs/notes.txt").write_bytes(key)
    with pytest.raises(BadInput, match="contains a secret") as caught:
        pack(tmp_path / "out.tgz")
    assert caught.value.where == "configs/notes.txt"


def test_a_secret_of_the_environment_is_refused(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_API_KEY", SECRET)
    Path("reports/rc1/note.md").write_text(f"the key is {SECRET}")
    with pytest.raises(BadInput, match="contains a secret"):
        pack(tmp_path / "out.tgz")


def test_a_link_to_a_file_elsewhere_is_refused(run: Path, tmp_path: Path) -> None:
    Path("reports/rc1/passwords.txt").symlink_to("/etc/hostname")
    with pytest.raises(BadInput, match="is a link"):
        pack(tmp_path / "out.tgz")


def test_adapter_files_dropped_into_the_final_model_are_refused(run: Path, tmp_path: Path) -> None:
    trained()
    (MODEL / "adapter_model.safetensors").write_bytes(b"x")
    with pytest.raises(BadInput, match=r"adapter_model\.safetensors was not there when it was saved"):
        make_package(CONFIG, tmp_path / "out.tgz", None, None, silent)
