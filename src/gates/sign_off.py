"""The owner's signature: a go-ahead for exactly one ticket.

It is an in-toto statement (its subject is the ticket by SHA-256) in a DSSE envelope, signed with Ed25519, so that other
tools can read and check it. A profile that names the owner's public key requires it. Without a signature evidence is
tamper-evident only: only `askgate verify --deep` finds out that someone rewrote everything at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from ..config.profile import Profile
from ..core.check import now
from ..core.errors import BadInput
from ..core.files import explain_read_errors, read_json, sha256_file, shipped, write_json

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://askgate.dev/go-ahead/v1"
AMBER = "https://askgate.dev/amber/v1"
_SIGN = "have the owner run `askgate sign-off --key PRIVATE.pem` on this ticket"
_SIGN_AGAIN = {
    PREDICATE: _SIGN,
    AMBER: "have the owner sign this amber again: `askgate sign-off --amber NAME --key PRIVATE.pem`",
}


def sign_off(
    key: Path, password: bytes | None, ticket: Path, profile: str, run: str, out: Path, by: str = "", reason: str = ""
) -> Path:
    """Signs a ticket that the caller has verified. Nothing of the private key is written or kept."""
    given = {name: text for name, text in (("by", by), ("reason", reason)) if text}
    facts = {"profile": profile, "run": run, "signedAt": now(), **given}
    return sign_statement(key, password, ticket, PREDICATE, facts, out)


def sign_statement(
    key: Path, password: bytes | None, subject: Path, kind: str, facts: dict[str, Any], out: Path
) -> Path:
    """Writes a signed in-toto statement about a file to `out`. `kind`: its predicate type, `facts`: its predicate."""
    private = read_private_key(key, password)
    if not isinstance(private, Ed25519PrivateKey):
        raise BadInput("is not an Ed25519 key", where=str(key), remedy="openssl genpkey -algorithm ed25519 makes one")
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": subject.as_posix(), "digest": {"sha256": sha256_file(shipped(subject))}}],
        "predicateType": kind,
        "predicate": facts,
    }
    envelope = Envelope(msgspec.json.encode(statement), PAYLOAD, {})
    envelope.sign(CryptoSigner(private))
    write_json(out, envelope.to_dict())
    return out


def require_owner_key(profile: Profile, key: Path, password: bytes | None) -> None:
    """Refuses a private key that is not the owner's, before anything is signed with it."""
    private = read_private_key(key, password)
    key_id = isinstance(private, Ed25519PrivateKey) and SSlibKey.from_crypto(private.public_key()).keyid
    if profile.owner_key and key_id != owner_key_id(profile):
        what = f"is not the owner's key that profile {profile.name} names"
        raise BadInput(what, where=str(key), remedy=f"sign with the private key of {profile.owner_key}")


def owner_key_id(profile: Profile) -> str:
    """Fingerprint of the owner's public key; empty if the profile names none."""
    return str(_public(profile.owner_key).keyid) if profile.owner_key else ""


def require_signature(profile: Profile, ticket: Path, run: str, key_id: str, envelope: Path) -> None:
    """Checks the owner's signature of a ticket, if the profile names the owner's key. `key_id`: fingerprint of the key
    at the time of the rounds."""
    if owner_key_id(profile) != key_id:
        what = f"is not the owner's key that the rounds knew ({key_id[:16] or 'none'})"
        remedy = "put the owner's key back; where the owner has a new key, run both rounds again"
        raise BadInput(what, where=str(profile.owner_key), remedy=remedy)
    if profile.owner_key is None:
        return
    if not envelope.exists():
        raise BadInput(f"profile {profile.name} wants the owner's signature", where=str(envelope), remedy=_SIGN)
    statement = read_signed(envelope, profile.owner_key, PREDICATE)
    subjects = [one.get("digest", {}).get("sha256") for one in statement.get("subject", [])]
    if subjects != [sha256_file(ticket)] or statement["predicate"].get("run") != run:
        raise BadInput("is a go-ahead for another ticket", where=str(envelope), remedy=_SIGN)


def read_signed(envelope: Path, owner_key: Path, kind: str) -> dict[str, Any]:
    """The statement in an envelope. Refuses one of another type, or without the owner's signature."""
    remedy = _SIGN_AGAIN[kind]
    key = _public(owner_key)
    raw = read_json(envelope, remedy)
    try:
        signed = Envelope.from_dict(raw)
        signed.verify([key], 1)
        if signed.payload_type != PAYLOAD:
            raise ValueError(signed.payload_type)
        statement = msgspec.json.decode(signed.payload, type=dict[str, Any])
        msgspec.convert(statement["predicate"], dict[str, Any])
    except VerificationError:
        raise BadInput("the signature is not the owner's", where=str(envelope), remedy=remedy) from None
    except (KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError):
        raise BadInput("is no signed statement", where=str(envelope), remedy=remedy) from None
    if statement.get("_type") != STATEMENT or statement.get("predicateType") != kind:
        what = "go-ahead for a ticket" if kind == PREDICATE else "sign-off of an amber"
        raise BadInput(f"is signed, but is no {what}", where=str(envelope), remedy=remedy)
    return statement


def read_private_key(path: Path, password: bytes | None) -> PrivateKeyTypes:
    try:
        with explain_read_errors(path):
            return load_pem_private_key(path.read_bytes(), password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        what = "no private key can be read from it with this password"
        raise BadInput(what, where=str(path), remedy="check key and password") from None


def _public(path: Path) -> SSlibKey:
    try:
        with explain_read_errors(path, "check owner_key"):
            key = load_pem_public_key(path.read_bytes())
    except (ValueError, UnsupportedAlgorithm):
        raise BadInput("is no public key (PEM)", where=str(path), remedy="check owner_key of the profile") from None
    if not isinstance(key, Ed25519PublicKey):
        raise BadInput("is not an Ed25519 key", where=str(path), remedy="check owner_key of the profile")
    return SSlibKey.from_crypto(key)
