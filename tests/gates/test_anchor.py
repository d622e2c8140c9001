"""The outside anchor: a timestamp authority certifies the manifest's head; forged and foreign answers are refused."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID
from msgspec.structs import replace

from src.core.errors import BadInput
from src.gates.anchor import ANCHORS, fingerprint, make_anchor, verify_anchors
from src.gates.manifest import MANIFEST, START, Manifest
from src.gates.verify import verify
from tests.conftest import Askgate
from tests.gates.timestamp_server import TimestampServer

ROOT = Path("root.pem")


def silent(text: str) -> None:
    pass


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pool.jsonl").write_text("a pool")
    Path("report.json").write_text("a report")
    Manifest().record([Path("pool.jsonl")])
    return tmp_path


@pytest.fixture
def server(place: Path) -> Iterator[TimestampServer]:
    with TimestampServer() as one:
        ROOT.write_bytes(one.root)
        yield one


def edit(**changes: Any) -> None:
    found = json.loads(ANCHORS.read_text()) | changes
    ANCHORS.write_text(json.dumps(found))


def rewrite_chain() -> None:
    """A forger who controls the machine makes the whole chain anew, with another pool."""
    head, chain = START, b""
    for entry in Manifest().entries:
        digest = "0" * 64 if entry.path == "pool.jsonl" else entry.digest
        line = msgspec.json.encode(replace(entry, digest=digest, before=head))
        head, chain = sha256(line).hexdigest(), chain + line + b"\n"
    MANIFEST.write_bytes(chain)
    Manifest()  # the forged chain holds in itself


def test_an_anchored_manifest_may_grow(server: TimestampServer) -> None:
    make_anchor(server.url, ROOT, silent)
    Manifest().record([Path("report.json")])
    make_anchor(server.url, ROOT, silent)
    told: list[str] = []
    verify_anchors(Manifest(), told.append, fingerprint(server.root.decode(), ""))
    assert [line.split(" existed at ")[0] for line in told[:2]] == [
        "anchor: 2 lines of the manifest",
        "anchor: 4 lines of the manifest",
    ]
    newest = f"anchor: the newest certifies {Manifest().head_after(4)}, the hash of line 4"
    assert told[2:] == [f"{newest}; lines after it: 1"]


def test_a_shortened_list_of_anchors_is_refused(run: Path) -> None:
    """The chain goes through the first anchor too; what was recorded after it could be made anew."""
    with TimestampServer() as server:
        ROOT.write_bytes(server.root)
        for _ in range(2):
            make_anchor(server.url, ROOT, silent)
    verify(False, silent)
    ANCHORS.write_bytes(ANCHORS.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(BadInput, match="has changed since it was recorded") as caught:
        verify(False, silent)
    assert caught.value.where == str(ANCHORS)


def interrupted(*given: object) -> None:
    raise KeyboardInterrupt


def test_an_anchor_unrecorded_before_a_crash_is_harmless(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TimestampServer() as server:
        ROOT.write_bytes(server.root)
        make_anchor(server.url, ROOT, silent)
        with monkeypatch.context() as patch:
            patch.setattr(Manifest, "record", interrupted)
            with pytest.raises(KeyboardInterrupt):
                make_anchor(server.url, ROOT, silent)
    told: list[str] = []
    verify(False, told.append)
    assert sum("certified below root" in line for line in told) == 2
    ANCHORS.write_bytes(ANCHORS.read_bytes() + ANCHORS.read_bytes().replace(b'"head":"', b'"head":"0'))
    with pytest.raises(BadInput, match="was anchored: it was rewritten or cut"):
        verify(False, silent)


def test_a_rewritten_manifest_is_refused(server: TimestampServer) -> None:
    make_anchor(server.url, ROOT, silent)
    Manifest().record([Path("report.json")])
    rewrite_chain()
    with pytest.raises(BadInput, match="does not have the line 2 that was anchored"):
        verify_anchors(Manifest(), silent)


def test_a_manifest_cut_before_the_anchor_is_refused(server: TimestampServer) -> None:
    make_anchor(server.url, ROOT, silent)
    MANIFEST.write_bytes(MANIFEST.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(BadInput, match="was rewritten or cut"):
        verify_anchors(Manifest(), silent)


def test_an_anchor_moved_to_a_rewritten_chain_is_refused(server: TimestampServer) -> None:
    make_anchor(server.url, ROOT, silent)
    rewrite_chain()
    edit(head=Manifest().head_after(2))
    with pytest.raises(BadInput, match="is no timestamp of this manifest by that authority"):
        verify_anchors(Manifest(), silent)


def test_a_foreign_authority_is_refused(server: TimestampServer) -> None:
    """The forger runs an authority: its answer is not signed below the owner's root, and its root is another."""
    honest = fingerprint(server.root.decode(), "")
    make_anchor(server.url, ROOT, silent)
    with TimestampServer() as thief:
        with pytest.raises(BadInput, match="is no timestamp of this manifest by that authority"):
            make_anchor(thief.url, ROOT, silent)
        ANCHORS.unlink()
        ROOT.write_bytes(thief.root)
        made = make_anchor(thief.url, ROOT, silent)
    verify_anchors(Manifest(), silent)
    with pytest.raises(BadInput, match="was certified below another root certificate"):
        verify_anchors(Manifest(), silent, honest)
    edit(root=server.root.decode())
    with pytest.raises(BadInput, match="is no timestamp of this manifest by that authority"):
        verify_anchors(Manifest(), silent, honest)
    assert made.head == Manifest().head_after(made.lines)


def test_a_missing_anchor_is_named_by_whoever_expects_one(server: TimestampServer) -> None:
    make_anchor(server.url, ROOT, silent)
    ANCHORS.unlink()
    verify_anchors(Manifest(), silent)
    with pytest.raises(BadInput, match="no timestamp authority has certified this manifest"):
        verify_anchors(Manifest(), silent, fingerprint(server.root.decode(), ""))


@pytest.mark.parametrize("response", ["", "not base64!", b64encode(b"no DER").decode()])
def test_an_answer_that_is_none_is_refused(server: TimestampServer, response: str) -> None:
    make_anchor(server.url, ROOT, silent)
    edit(response=response)
    with pytest.raises(BadInput, match="is no timestamp of this manifest"):
        verify_anchors(Manifest(), silent)


def another_imprint(info: dict[str, Any]) -> None:
    info["message_imprint"] = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": b"\0" * 32}


def another_nonce(info: dict[str, Any]) -> None:
    info["nonce"] = 17


@pytest.mark.parametrize("change", [another_imprint, another_nonce])
def test_an_answer_to_another_question_is_refused(place: Path, change: Any) -> None:
    with TimestampServer(change) as server:
        ROOT.write_bytes(server.root)
        with pytest.raises(BadInput, match="is no timestamp of this manifest"):
            make_anchor(server.url, ROOT, silent)
    assert not ANCHORS.exists()


def test_a_certificate_for_another_purpose_is_refused(place: Path) -> None:
    with TimestampServer(purpose=ExtendedKeyUsageOID.SERVER_AUTH) as server:
        ROOT.write_bytes(server.root)
        with pytest.raises(BadInput, match="is no timestamp of this manifest"):
            make_anchor(server.url, ROOT, silent)


def test_lines_later_than_their_timestamp_are_refused(place: Path) -> None:
    def yesterday(info: dict[str, Any]) -> None:
        info["gen_time"] = (datetime.now(UTC) - timedelta(days=1)).replace(microsecond=0)

    with TimestampServer(yesterday) as server:
        ROOT.write_bytes(server.root)
        make_anchor(server.url, ROOT, silent)
    with pytest.raises(BadInput, match="says that it was written after"):
        verify_anchors(Manifest(), silent)


def test_verbs(run: Path, askgate: Askgate) -> None:
    with TimestampServer() as server:
        ROOT.write_bytes(server.root)
        done = askgate("anchor", server.url, "--root", str(ROOT))
        assert done.code == 0, done.err
        url = server.url
    known = fingerprint(ROOT.read_text(), "")
    done = askgate("verify", "--tsa-root", known)
    assert done.code == 0, done.err
    assert f"certified below root {known}" in done.out
    assert askgate("verify", "--tsa-root", "0" * 64).code == 2
    assert "does not answer" in askgate("anchor", url, "--root", str(ROOT)).err
    assert "is no certificate" in askgate("anchor", url, "--root", "configs/default.yaml").err
