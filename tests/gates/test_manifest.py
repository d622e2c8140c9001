"""The manifest detects every change of a recorded file and every change of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from src.core.errors import BadInput
from src.gates.manifest import Manifest, ManifestBroken


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        Path(name).write_text(name)
        Manifest().record([Path(name)])
    return Path("reports/rc1/manifest.jsonl")


def test_each_line_has_the_hash_of_the_one_before(book: Path) -> None:
    entries = Manifest().entries
    assert [one.kind for one in entries] == ["run", "file", "file", "file"]
    assert len({one.before for one in entries}) == 4


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda lines: [lines[0], lines[1].replace(b'"a"', b'"x"'), *lines[2:]], id="a path edited"),
        pytest.param(lambda lines: [*lines[:2], *lines[3:]], id="a line taken out"),
        pytest.param(lambda lines: [*lines[:2], lines[1], *lines[2:]], id="a line written twice"),
        pytest.param(lambda lines: [lines[0], lines[2], lines[1], lines[3]], id="lines exchanged"),
        pytest.param(lambda lines: lines[1:], id="the run's name taken off"),
        pytest.param(lambda lines: [*lines[:-1], lines[-1][:20]], id="torn"),
    ],
)
def test_a_changed_manifest_names_its_line(book: Path, spoil: Callable[[list[bytes]], list[bytes]]) -> None:
    book.write_bytes(b"".join(spoil(book.read_bytes().splitlines(keepends=True))))
    with pytest.raises(ManifestBroken, match=r"manifest\.jsonl:\d"):
        Manifest()
    with pytest.raises(ManifestBroken):
        Manifest(book).record([Path("a")])


def test_a_line_dated_back_is_refused(book: Path) -> None:
    """Whoever appends by hand could date an artifact before the rounds; the chain itself holds."""
    last = Manifest().entries[-1]
    forged = replace(last, at="2025-08-20T00:00:00+00:00", path="d", before=Manifest().head)
    book.write_bytes(book.read_bytes() + msgspec.json.encode(forged) + b"\n")
    with pytest.raises(ManifestBroken, match=r"manifest\.jsonl:5: is dated before the line before it"):
        Manifest()


def test_recording_an_unchanged_file_adds_no_line(book: Path) -> None:
    before = book.read_bytes()
    Manifest().record([Path("a"), Path("b")])
    assert book.read_bytes() == before
    Path("a").write_text("other")
    Manifest().record([Path("a"), Path("b")])
    assert len(Manifest().entries) == 5
    assert list(Manifest().newest()) == ["b", "c", "a"]


def test_two_alternating_writers_lose_no_line(book: Path) -> None:
    one, other = Manifest(), Manifest()
    Path("d").write_text("d")
    Path("e").write_text("e")
    one.record([Path("d")])
    other.record([Path("e")])
    assert {"d", "e"} <= set(Manifest().newest())


def test_a_missing_artifact_cannot_be_recorded(book: Path) -> None:
    before = book.read_bytes()
    with pytest.raises(BadInput, match="nowhere"):
        Manifest().record([Path("nowhere")])
    assert book.read_bytes() == before


def test_two_runs_never_have_one_name(tmp_path: Path) -> None:
    first, second = Manifest(tmp_path / "one.jsonl"), Manifest(tmp_path / "two.jsonl")
    first.begin()
    second.begin()
    assert first.run != second.run


def test_a_checkpoint_with_another_seed_or_step_is_unrecorded(book: Path) -> None:
    Manifest().record_checkpoint(Path("checkpoints/rc1/seed_1/step_00002"), "5ea1")
    manifest = Manifest()
    assert manifest.has_checkpoint(Path("mirror/run/rc1/seed_1/step_00002"), "5ea1")
    for other in ("checkpoints/rc1/seed_2/step_00002", "checkpoints/rc1/seed_1/step_00003"):
        assert not manifest.has_checkpoint(Path(other), "5ea1")
