"""A package made in one place verifies in another; one byte changed anywhere is refused with the file's name."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.sealed import seal
from src.gates.report import TICKET
from src.release.package import FACTS, GATES, PUBLIC, SUMS, make_package, signature_of
from src.release.reproduce import reproduce
from tests.gates.conftest import finished, run

__all__ = ["finished", "run"]

CONFIG = Path("configs/quickstart_gated.yaml")
MODEL = Path("checkpoints/rc1/final_model")
TINY = Path(__file__).resolve().parents[2] / "models/tiny"


def silent(text: str) -> None:
    pass


def trained(ticket: str | None = None) -> None:
    """A sealed model, as a gated run leaves it; what its weights are is nothing that a package asks."""
    shutil.rmtree(MODEL, ignore_errors=True)
    shutil.copytree(TINY, MODEL)
    seal(MODEL, 3, {"gated": True, "releasable": True, "ticket": ticket or sha256_file(TICKET)})


def new_key(path: Path) -> Path:
    private = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    path.with_suffix(".pub").write_bytes(public)
    return path


@pytest.fixture
def packed(run: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Signed, and we stand in an empty folder elsewhere."""
    trained()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    made = make_package(CONFIG, elsewhere / "package.tgz", new_key(elsewhere / "key.pem"), None, silent)
    monkeypatch.chdir(elsewhere)
    return made


def repacked(package: Path, change: Callable[[str, bytes], bytes | None], more: dict[str, bytes] | None = None) -> Path:
    """The same tarball with other contents; None leaves a file out."""
    out = package.with_name("changed.tgz")
    with tarfile.open(package) as source, tarfile.open(out, "w:gz") as target:
        for member in source:
            reader = source.extractfile(member)
            assert reader is not None
            content = change(member.name, reader.read())
            if content is not None:
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
        for name, content in (more or {}).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))
    return out


def flipped(content: bytes) -> bytes:
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


def test_a_package_verifies_elsewhere_and_tells_what_it_checked(packed: Path) -> None:
    told: list[str] = []
    reproduce(packed, told.append, public_key=Path("key.pub"))
    text = "\n".join(told)
    for part in ("as they were packed", "round2 (quickstart)", "chain whole", "signature holds for your key"):
        assert part in text
    with tarfile.open(packed) as archive:
        names = set(archive.getnames())
    for name in ("configs/weights.json", "reports/rc1/manifest.jsonl", str(TICKET), f"{MODEL}/model.safetensors"):
        assert name in names
    assert any(name.startswith("templates/pack_v2/") for name in names)


def test_one_byte_changed_in_any_file_is_refused_with_its_name(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        names = [member.name for member in archive if member.size > 2]
    chosen = [name for name in names if name.endswith((".safetensors", "weights.json", "round2_pass.json"))]
    for name in (
        *chosen,
        FACTS.as_posix(),
        GATES.as_posix(),
        PUBLIC.as_posix(),
        "configs/quickstart_gated.yaml",
        names[7],
    ):
        changed = repacked(packed, lambda at, content, name=name: flipped(content) if at == name else content)
        with pytest.raises(BadInput) as caught:
            reproduce(changed, silent)
        assert caught.value.where == name


def test_a_changed_list_a_missing_file_and_one_too_many_are_refused(packed: Path) -> None:
    listed = repacked(packed, lambda at, content: flipped(content) if at == SUMS else content)
    with pytest.raises(BadInput):
        reproduce(listed, silent)
    gone = repacked(packed, lambda at, content: None if at == "configs/weights.json" else content)
    with pytest.raises(BadInput, match="is missing") as caught:
        reproduce(gone, silent)
    assert caught.value.where == "configs/weights.json"
    more = repacked(packed, lambda at, content: content, {"extra.txt": b"hello"})
    with pytest.raises(BadInput, match="not in the list") as caught:
        reproduce(more, silent)
    assert caught.value.where == "extra.txt"


def test_nothing_is_written_outside_and_what_is_no_package_is_refused(packed: Path) -> None:
    for name in ("../outside.txt", "/tmp/outside_askgate.txt"):
        with pytest.raises(BadInput):
            reproduce(repacked(packed, lambda at, content: content, {name: b"x"}), silent)
    assert not Path("../outside.txt").exists()
    assert not Path("/tmp/outside_askgate.txt").exists()
    whole = packed.read_bytes()
    for bad in (whole[: len(whole) // 2], b"no tarball", flipped(whole[:5000]) + whole[5000:]):
        Path("bad.tgz").write_bytes(bad)
        with pytest.raises(BadInput):
            reproduce(Path("bad.tgz"), silent)
    with pytest.raises(BadInput, match="cannot be read"):
        reproduce(Path("none.tgz"), silent)


def test_who_rewrites_a_file_and_the_list_still_meets_the_evidence(packed: Path) -> None:
    """Sums that were made to fit again: the manifest and the ticket hold the old ones."""
    from hashlib import sha256

    new = b""

    def change(name: str, content: bytes) -> bytes:
        nonlocal new
        if name == "configs/weights.json":
            new = content.replace(b"0.", b"1.", 1)
            return new
        return content

    once = repacked(packed, change)
    packed.write_bytes(once.read_bytes())

    def fit(name: str, content: bytes) -> bytes:
        if name != SUMS:
            return content
        lines = content.decode().splitlines(keepends=True)
        fitted = f"{sha256(new).hexdigest()}  configs/weights.json\n"
        return "".join(fitted if line.endswith("  configs/weights.json\n") else line for line in lines).encode()

    with pytest.raises(BadInput, match="has changed since") as caught:
        reproduce(repacked(packed, fit), silent)
    assert caught.value.where == "configs/weights.json"


def test_a_signature_by_somebody_else_is_refused(packed: Path) -> None:
    other = new_key(Path("other.pem")).with_suffix(".pub")
    with pytest.raises(BadInput, match="signature does not hold"):
        reproduce(packed, silent, public_key=other)


def test_the_model_signing_package_verifies_the_same_signature(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        archive.extractall("open", filter="data")
    signature = Path("open") / signature_of(MODEL.as_posix())
    command = [sys.executable, "-m", "model_signing", "verify", "key", f"open/{MODEL}"]
    command += ["--signature", str(signature), "--public_key", "key.pub"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    weights = Path("open") / MODEL / "model.safetensors"
    weights.write_bytes(flipped(weights.read_bytes()))
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_the_gates_are_in_toto_test_results(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        reader = archive.extractfile(GATES.as_posix())
        assert reader is not None
        found = [json.loads(line) for line in reader.read().splitlines()]
    assert [one["predicate"]["result"] for one in found] == ["PASSED", "PASSED"]
    for one in found:
        assert one["_type"] == "https://in-toto.io/Statement/v1"
        assert one["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
        assert one["predicate"]["passedTests"]
        assert one["predicate"]["failedTests"] == []
        assert MODEL.as_posix() in [subject["name"] for subject in one["subject"]]
        assert all(len(subject["digest"]["sha256"]) == 64 for subject in one["subject"])


def test_what_does_not_verify_or_was_not_gated_is_not_packed(run: Path) -> None:
    out = Path("package.tgz")
    with pytest.raises(BadInput, match="is missing"):
        make_package(CONFIG, out, None, None, silent)
    trained(ticket="a" * 64)
    with pytest.raises(BadInput, match="not trained behind the ticket"):
        make_package(CONFIG, out, None, None, silent)
    trained()
    weights = Path("configs/weights.json")
    weights.write_bytes(weights.read_bytes() + b" ")
    with pytest.raises(BadInput, match="has changed since"):
        make_package(CONFIG, out, None, None, silent)
    assert not out.exists()
