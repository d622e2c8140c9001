"""A package made in one place verifies in another; one changed byte anywhere is refused with the file's name."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from src.core.errors import BadInput
from src.core.files import sha256_file
from src.gates.ticket import TICKET
from src.release import signing
from src.release.package import FACTS, GATES, PUBLIC, SUMS, SUMS_SIGNATURE, make_package, signature_of
from src.release.reproduce import reproduce
from src.release.signing import sign_model, verify_model
from tests.release.packing import (
    MODEL,
    WARM_START,
    finished,
    flipped,
    new_key,
    package_folder,
    packed,
    repacked,
    run,
    silent,
    trained,
)

__all__ = ["finished", "package_folder", "packed", "run"]

DIR_HASH = "find . -type f | cut -c3- | LC_ALL=C sort | xargs -r sha256sum | sha256sum | cut -f1 -d' '"
"""As the specification of in-toto digests gives it."""


def test_a_package_verifies_elsewhere_and_lists_its_checks(packed: Path) -> None:
    told: list[str] = []
    reproduce(packed, told.append, public_key=Path("key.pub"))
    text = "\n".join(told)
    for part in ("as they were packed", "round2 (quickstart)", "chain whole", "signature: valid for your key"):
        assert part in text
    with tarfile.open(packed) as archive:
        names = set(archive.getnames())
    for name in ("configs/weights.json", "reports/rc1/manifest.jsonl", str(TICKET), f"{MODEL}/model.safetensors"):
        assert name in names
    assert f"{WARM_START}/model.safetensors" in names
    assert any(name.startswith("templates/pack_v2/") for name in names)


def test_one_changed_byte_is_refused_with_the_file_name(packed: Path) -> None:
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


def test_missing_extra_and_relisted_files_are_refused(packed: Path) -> None:
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


def test_a_signature_by_somebody_else_is_refused(packed: Path) -> None:
    other = new_key(Path("other.pem")).with_suffix(".pub")
    with pytest.raises(BadInput, match="signature is not valid"):
        reproduce(packed, silent, public_key=other)


def test_a_plain_installation_says_that_signatures_are_unchecked(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "find_spec", lambda name: None)
    told: list[str] = []
    reproduce(packed, told.append)
    assert any("signature: not checked" in line for line in told)
    with pytest.raises(BadInput, match="need the packages model-signing"):
        reproduce(packed, silent, public_key=Path("key.pub"))


def test_a_key_that_cannot_sign_is_refused_before_verification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.release.package.verify", lambda *_: pytest.fail("verified first"))
    key = new_key(tmp_path / "other.pem")
    with pytest.raises(BadInput, match=r"none\.pem"):
        make_package(tmp_path / "p.tgz", tmp_path / "none.pem", None, silent)
    monkeypatch.setattr(signing, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match="need the packages model-signing") as caught:
        make_package(tmp_path / "p.tgz", key, None, silent)
    assert "make setup" in caught.value.remedy


def test_the_model_signing_package_verifies_the_same_signature(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        archive.extractall("open", filter="data")
    signature = Path("open") / signature_of(MODEL.as_posix())
    command = [sys.executable, "-m", "model_signing", "verify", "key", f"open/{MODEL}"]
    command += ["--signature", str(signature), "--public_key", "key.pub"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    listed = [*command[:5], f"open/{SUMS}", "--signature", f"open/{SUMS_SIGNATURE}", "--public_key", "key.pub"]
    assert subprocess.run(listed, capture_output=True, check=False).returncode == 0
    weights = Path("open") / MODEL / "model.safetensors"
    weights.write_bytes(flipped(weights.read_bytes()))
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_keys_may_have_passwords_but_not_other_curves(tmp_path: Path) -> None:
    model, public = tmp_path / "model", tmp_path / "public"
    model.mkdir()
    (model / "weights").write_bytes(b"1 2 3")
    key = tmp_path / "key.pem"
    for curve in (ec.SECP256R1(), ec.SECP384R1()):
        secret = BestAvailableEncryption(b"open sesame")
        key.write_bytes(ec.generate_private_key(curve).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))
        signature, public_key = sign_model(model, key, b"open sesame")
        (tmp_path / "signature").write_bytes(signature)
        public.write_bytes(public_key)
        verify_model(model, tmp_path / "signature", public)
        with pytest.raises(BadInput, match="no private key"):
            sign_model(model, key, b"open barley")
    foreign = ec.generate_private_key(ec.SECP256K1())
    key.write_bytes(foreign.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(BadInput, match="not an ECDSA key on one of the curves"):
        sign_model(model, key, None)


def test_the_gates_are_in_toto_test_results(packed: Path) -> None:
    """They are valid for the in-toto package, and every digest is correct."""
    with tarfile.open(packed) as archive:
        archive.extractall("open", filter="data")
    found = [json.loads(line) for line in (Path("open") / GATES).read_bytes().splitlines()]
    v1 = pytest.importorskip("in_toto_attestation.v1.statement")
    statement = pytest.importorskip("in_toto_attestation.v1.statement_pb2").Statement
    results = pytest.importorskip("in_toto_attestation.predicates.test_result.v0.test_result_pb2").TestResult
    parse = pytest.importorskip("google.protobuf.json_format").ParseDict
    for one in found:
        v1.Statement.copy_from_pb(parse(one, statement())).validate()
        result = parse(one["predicate"], results())
        for resource in (*one["subject"], *one["predicate"]["configuration"]):
            (kind, stated), path = next(iter(resource["digest"].items())), Path("open") / resource["name"]
            if kind == "dirHash":
                said = subprocess.run(["sh", "-c", DIR_HASH], cwd=path, capture_output=True, text=True, check=True)
                assert said.stdout.strip() == stated
            else:
                assert (kind, sha256_file(path)) == ("sha256", stated)
        assert result.configuration[0].name == "configs/gates/quickstart.yaml"
    assert [one["predicate"]["result"] for one in found] == ["PASSED", "PASSED"]
    for one in found:
        assert one["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
        assert one["predicate"]["passedTests"]
        assert one["predicate"]["failedTests"] == []
        assert f"{MODEL}/model.safetensors" in [subject["name"] for subject in one["subject"]]


def test_only_verified_gated_runs_are_packed(run: Path) -> None:
    out = Path("package.tgz")
    with pytest.raises(BadInput, match="no finished run to pack"):
        make_package(out, None, None, silent)
    trained(ticket="a" * 64)
    with pytest.raises(BadInput, match="not trained with the ticket"):
        make_package(out, None, None, silent)
    trained()
    weights = Path("configs/weights.json")
    weights.write_bytes(weights.read_bytes() + b" ")
    with pytest.raises(BadInput, match="has changed since"):
        make_package(out, None, None, silent)
    assert not out.exists()
