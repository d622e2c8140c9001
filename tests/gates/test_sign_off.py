"""If the profile names the owner's key, training needs a signature for exactly this ticket."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from src.cli import main
from src.config.profile import load_profile
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.gates import sign_off as signing
from src.gates.ticket import ENVELOPE, TICKET, Round, read_round
from tests.gates.run_folder import PROFILE, edit_profile


def make_key(name: str, password: bytes | None = None) -> Path:
    key = Ed25519PrivateKey.generate()
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    Path(f"{name}.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    Path(f"{name}.pub.pem").write_bytes(public)
    return Path(f"{name}.pem")


@pytest.fixture
def ticket(run: Path) -> Round:
    """The ticket of a run whose profile names the owner's key."""
    make_key("owner")
    edit_profile(lambda found: found.update(owner_key="owner.pub.pem"))
    return read_round(TICKET)


def sign(key: Path, ticket: Round, password: bytes | None = None) -> None:
    signing.sign_off(key, password, TICKET, ticket.profile, ticket.run, ENVELOPE)


def check(ticket: Round) -> None:
    known = signing.owner_key_id(load_profile(PROFILE))
    signing.require_signature(load_profile(PROFILE), TICKET, ticket.run, known, ENVELOPE)


def is_accepted(ticket: Round) -> bool:
    try:
        check(ticket)
    except BadInput:
        return False
    return True


def test_without_a_key_in_the_profile_no_signature_is_needed(run: Path) -> None:
    assert not ENVELOPE.exists()
    assert is_accepted(read_round(TICKET))


def test_the_owners_signature_is_accepted(ticket: Round) -> None:
    assert not is_accepted(ticket)
    sign(Path("owner.pem"), ticket)
    assert is_accepted(ticket)


def test_a_missing_signature_is_refused(ticket: Round) -> None:
    with pytest.raises(BadInput, match="wants the owner's signature"):
        check(ticket)


def test_the_signature_of_somebody_else_is_refused(ticket: Round) -> None:
    sign(make_key("other"), ticket)
    with pytest.raises(BadInput, match="not the owner's"):
        check(ticket)


def test_a_signature_for_another_ticket_is_refused(ticket: Round) -> None:
    sign(Path("owner.pem"), ticket)
    TICKET.write_bytes(TICKET.read_bytes() + b"\n")
    with pytest.raises(BadInput, match="another ticket"):
        check(ticket)


def test_a_statement_edited_after_signing_is_refused(ticket: Round) -> None:
    sign(Path("owner.pem"), ticket)
    TICKET.write_bytes(TICKET.read_bytes() + b"\n")
    envelope = json.loads(ENVELOPE.read_text())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["subject"][0]["digest"]["sha256"] = sha256_file(TICKET)
    envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    ENVELOPE.write_text(json.dumps(envelope))
    with pytest.raises(BadInput, match="not the owner's"):
        check(ticket)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"payload": 1, "payloadType": "x", "signatures": []}'])
def test_a_file_that_is_no_signature_is_refused(ticket: Round, text: str) -> None:
    ENVELOPE.write_text(text)
    with pytest.raises(BadInput):
        check(ticket)


def test_it_is_an_in_toto_statement_in_a_dsse_envelope(ticket: Round) -> None:
    sign(Path("owner.pem"), ticket)
    envelope = json.loads(ENVELOPE.read_text())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [{"name": str(TICKET), "digest": {"sha256": sha256_file(TICKET)}}]


def test_nothing_of_the_private_key_is_written(ticket: Round) -> None:
    sign(Path("owner.pem"), ticket)
    secret = Path("owner.pem").read_text().splitlines()[1]
    assert secret not in ENVELOPE.read_text()


def test_an_encrypted_key_needs_its_password(ticket: Round) -> None:
    make_key("owner", b"sesame")
    sign(Path("owner.pem"), ticket, b"sesame")
    assert is_accepted(ticket)
    with pytest.raises(BadInput, match="with this password"):
        sign(Path("owner.pem"), ticket, b"wrong")


def test_a_key_of_another_kind_is_refused(ticket: Round) -> None:
    key = generate_private_key(65537, 2048)
    Path("rsa.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(BadInput, match="Ed25519"):
        sign(Path("rsa.pem"), ticket)


def test_a_signature_that_nothing_would_check_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_key("owner")
    with pytest.raises(SystemExit) as left:
        main(["sign-off", "--key", "owner.pem"])
    assert (left.value.code, ENVELOPE.exists()) == (2, False)
    assert "names no owner key, so nothing would check the signature" in capsys.readouterr().err


def test_only_verified_tickets_are_signed(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_key("owner")
    profile = load_profile(PROFILE).model_copy(update={"owner_key": Path("owner.pub.pem")})
    monkeypatch.setattr("src.config.profile.load_profile", lambda name: profile)  # after the rounds: the ticket holds
    with pytest.raises(SystemExit) as left:
        main(["sign-off", "--key", "owner.pem"])
    assert left.value.code == 0
    assert ENVELOPE.exists()
    ENVELOPE.unlink()
    with open("configs/weights.json", "a", encoding="utf-8") as handle:
        handle.write(" ")
    with pytest.raises(SystemExit) as left:
        main(["sign-off", "--key", "owner.pem"])
    assert left.value.code == 2
    assert not ENVELOPE.exists()


def test_a_key_that_is_not_the_owners_signs_nothing(ticket: Round) -> None:
    """Neither the ticket nor an amber: the envelope would be refused later, with less to go by."""
    with pytest.raises(BadInput, match="is not the owner's key that profile quickstart names"):
        signing.require_owner_key(load_profile(PROFILE), make_key("thief"), None)
    signing.require_owner_key(load_profile(PROFILE), Path("owner.pem"), None)


def test_the_remedy_of_a_bad_sign_off_names_the_amber(ticket: Round) -> None:
    signing.sign_statement(make_key("thief"), None, TICKET, signing.AMBER, {}, Path("amber_x.dsse.json"))
    with pytest.raises(BadInput, match=r"not the owner's.*sign-off --amber"):
        signing.read_signed(Path("amber_x.dsse.json"), Path("owner.pub.pem"), signing.AMBER)
