"""Forged packages: odd names, links, bombs, and lists that were rewritten to fit."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from src.core.errors import BadInput
from src.gates.manifest import MANIFEST, Entry
from src.gates.ticket import TICKET
from src.release import reproduce as reproducing
from src.release.package import FACTS, GATES, SUMS_SIGNATURE
from src.release.reproduce import reproduce, training_again
from tests.release.packing import (
    MODEL,
    finished,
    package_folder,
    packed,
    put,
    repacked,
    rewritten,
    run,
    silent,
    tarball,
    unsigned,
)

__all__ = ["finished", "package_folder", "packed", "run"]
ROOT = Path(__file__).resolve().parents[2]


def test_damaged_packages_are_refused_and_write_nothing_outside(packed: Path) -> None:
    for name in ("../outside.txt", "/tmp/outside_askgate.txt"):
        with pytest.raises(BadInput):
            reproduce(repacked(packed, lambda at, content: content, {name: b"x"}), silent)
    assert not Path("../outside.txt").exists()
    assert not Path("/tmp/outside_askgate.txt").exists()
    whole = packed.read_bytes()
    everywhere = [*range(10), len(whole) // 2, *range(len(whole) - 8, len(whole))]
    changed = [whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] for place in everywhere]
    for bad in (whole[: len(whole) // 2], whole[:-1], whole + b"more", b"no tarball", *changed):
        Path("bad.tgz").write_bytes(bad)
        with pytest.raises(BadInput):
            reproduce(Path("bad.tgz"), silent)
    with pytest.raises(BadInput, match="cannot be read"):
        reproduce(Path("none.tgz"), silent)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_only_plain_files_come_out_of_a_package(kind: bytes, tmp_path: Path) -> None:
    member = tarfile.TarInfo("configs")
    member.type, member.linkname = kind, "/etc/passwd"
    with tarball(tmp_path / "odd.tgz") as target:
        target.addfile(member)
        put(target, "configs/weights.json", b"{}")
    with pytest.raises(BadInput, match="not a plain file") as caught:
        reproduce(tmp_path / "odd.tgz", silent)
    assert "configs" in (caught.value.where or "")


@pytest.mark.parametrize("name", ["a\udcff.txt", "a\nb.txt", "a\x1b[2Jb.txt"])
def test_unprintable_file_names_are_refused_and_escaped(name: str, tmp_path: Path) -> None:
    with tarball(tmp_path / "odd.tgz") as target:
        put(target, name, b"x")
    with pytest.raises(BadInput, match="not a plain file") as caught:
        reproduce(tmp_path / "odd.tgz", silent)
    assert (caught.value.where or "").isprintable()


def test_a_few_bytes_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproducing, "SMALL", 2**20)
    with tarball(tmp_path / "bomb.tgz") as target:
        put(target, "zeros", bytes(2**26))
    with pytest.raises(BadInput, match="unpacks to far more"):
        reproduce(tmp_path / "bomb.tgz", silent)


def test_no_code_of_a_package_is_run(tmp_path: Path) -> None:
    for name in ("src/__init__.py", "src/cli/__init__.py", "src/cli/__main__.py", "yaml.py", "torch.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("open('ran', 'w')\n")
    (tmp_path / "configs").mkdir()
    shutil.copy(ROOT / "configs/quickstart.yaml", tmp_path / "configs/own.yaml")
    command, environment = training_again("configs/own.yaml")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "ran").exists()) == (2, False)
    assert "there is no evidence yet" in done.stderr


def test_a_rewritten_list_does_not_hide_a_changed_file(packed: Path) -> None:
    """The list was rewritten to fit, but manifest and ticket still have the old checksums."""

    def change(found: dict[str, bytes]) -> None:
        found["configs/weights.json"] = found["configs/weights.json"].replace(b"0.", b"1.", 1)

    with pytest.raises(BadInput, match="has changed since") as caught:
        reproduce(unsigned(packed, change), silent)
    assert caught.value.where == "configs/weights.json"


def no_models(found: dict[str, bytes]) -> None:
    """An empty list of models, which leaves nothing to check."""
    facts = json.loads(found[FACTS.as_posix()])
    facts["models"] = {}
    found[FACTS.as_posix()] = json.dumps(facts).encode()
    lines = [json.loads(line) for line in found[GATES.as_posix()].splitlines()]
    for line in lines:
        line["subject"] = [one for one in line["subject"] if not one["name"].startswith(str(MODEL))]
    found[GATES.as_posix()] = b"".join(
        json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for line in lines
    )
    found[f"{MODEL}/model.safetensors"] = b"another model"


def test_the_signature_covers_the_whole_package(packed: Path) -> None:
    """It also covers files that no gate measured and models removed from the list."""

    def unmeasured(found: dict[str, bytes]) -> None:
        found["logs/more.txt"] = b"what nobody logged"

    for change in (unmeasured, no_models):
        forged = rewritten(packed, change)
        for key in (None, Path("key.pub")):
            with pytest.raises(BadInput, match="signature is not valid") as caught:
                reproduce(forged, silent, public_key=key)
            assert caught.value.where == SUMS_SIGNATURE
    with pytest.raises(BadInput, match="package is not signed"):
        reproduce(unsigned(packed, unmeasured), silent, public_key=Path("key.pub"))
    with pytest.raises(BadInput, match="is no file of the run that was packed") as caught:
        reproduce(unsigned(packed, unmeasured), silent)
    assert caught.value.where == "logs/more.txt"


def test_models_must_match_config_and_ticket(packed: Path) -> None:
    with pytest.raises(BadInput):
        reproduce(unsigned(packed, no_models), silent)

    def of_another_ticket(found: dict[str, bytes]) -> None:
        sealed = found[f"{MODEL}/manifest.json"].replace(sha256(found[str(TICKET)]).hexdigest().encode(), b"a" * 64)
        found[f"{MODEL}/manifest.json"] = sealed
        found[f"{MODEL}/COMPLETE"] = sha256(sealed).hexdigest().encode() + b"\n"

    with pytest.raises(BadInput, match="not trained with the ticket") as caught:
        reproduce(unsigned(packed, of_another_ticket), silent)
    assert caught.value.where == str(MODEL)


def test_nothing_outside_is_read_because_a_package_names_it(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("private")
    for name in (str(tmp_path / "mine.txt"), "../mine.txt"):

        def one_more(found: dict[str, bytes], name: str = name) -> None:
            lines = found[str(MANIFEST)]
            last = lines.splitlines()[-1]
            at = msgspec.json.decode(last, type=Entry).at
            entry = Entry("file", name, sha256(b"private").hexdigest(), 0, at, sha256(last).hexdigest())
            found[str(MANIFEST)] = lines + msgspec.json.encode(entry) + b"\n"

        with pytest.raises(BadInput, match="which is outside") as caught:
            reproduce(unsigned(packed, one_more), silent)
        assert caught.value.where == str(MANIFEST)


@pytest.mark.parametrize("extends", ["../mine.yaml", "/etc/mine.yaml"])
@pytest.mark.parametrize("name", ["configs/quickstart_gated.yaml", "configs/gates/quickstart.yaml"])
def test_a_config_may_not_extend_what_is_outside_the_package(packed: Path, name: str, extends: str) -> None:
    def extend(found: dict[str, bytes]) -> None:
        outside = "../../" if extends.startswith("..") else ""
        found[name] = f"extends: {outside}{extends}\n".encode()

    with pytest.raises(BadInput, match="is outside the folder") as caught:
        reproduce(unsigned(packed, extend), silent)
    assert caught.value.where == f"{name}: extends"
