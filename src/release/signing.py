"""Signatures of models, and the rounds of a run as in-toto statements.

A model folder or a single file is signed in the OpenSSF Model Signing format, with the user's own key and without a
network. The package `model-signing` checks the same signature:

    model_signing verify key MODEL --signature MODEL.sig --public_key KEY.pub

An in-toto test-result statement can be read by tools that know nothing of AskGate. The digest of a folder is in-toto's
`dirHash`: `find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from ..checkpoint.seal import read_seal
from ..core.errors import BadInput
from ..core.files import shipped
from ..gates.sign_off import STATEMENT, read_private_key
from ..gates.ticket import Fingerprint, Round

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
_CURVES = ("secp256r1", "secp384r1", "secp521r1")
_MAKE = "openssl ecparam -name prime256v1 -genkey -noout -out key.pem makes one"


def sign_model(model: Path, key: Path, password: bytes | None) -> tuple[bytes, bytes]:
    """The signature and the public key to check it with. The private key is not stored."""
    private = signing_key(key, password)
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from model_signing.signing import Config

    signing = Config()  # type: ignore[no-untyped-call]
    # The package declares str but passes the value on to code that takes bytes only.
    secret: Any = password
    with TemporaryDirectory() as folder:
        signature = Path(folder) / "signature"
        signing.use_elliptic_key_signer(private_key=key, password=secret).sign(model, signature)
        public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return signature.read_bytes(), public


def signing_key(key: Path, password: bytes | None) -> EllipticCurvePrivateKey:
    """The private key. Refuses a key that cannot sign models, and a machine without the packages for it."""
    _require()
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

    private = read_private_key(key, password)
    if not isinstance(private, EllipticCurvePrivateKey) or private.curve.name not in _CURVES:
        raise BadInput(f"is not an ECDSA key on one of the curves {', '.join(_CURVES)}", where=str(key), remedy=_MAKE)
    return private


def verify_model(model: Path, signature: Path, public: Path) -> None:
    _require()
    from model_signing.verifying import Config

    try:
        verifying = Config()  # type: ignore[no-untyped-call]
        verifying.use_elliptic_key_verifier(public_key=public).verify(model, signature)
    except Exception as error:
        # The package raises exceptions of many kinds. Each means that the signature was not confirmed.
        what = f"the signature is not valid ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        remedy = "get the package again from its maker, or compare the public key with the maker's"
        raise BadInput(what, where=str(signature), remedy=remedy) from error


def can_sign() -> bool:
    """Whether the optional packages for signing and checking signatures are installed."""
    return find_spec("model_signing") is not None and find_spec("OpenSSL") is not None


def _require() -> None:
    if not can_sign():
        what = "signatures of models need the packages model-signing and pyopenssl"
        raise BadInput(what, remedy="pip install 'askgate[sign]' (in a checkout: make setup)")


def statement(report: Round, models: Sequence[str]) -> dict[str, Any]:
    """A round as an in-toto statement about the files that it measured and the weights trained with the ticket."""
    measured = [_resource(fingerprint) for fingerprint in report.files.values()]
    trained = [
        {"name": f"{folder}/{name}", "digest": {"sha256": sealed.sha256}}
        for folder in models
        for name, sealed in read_seal(Path(folder)).files.items()
        if name.endswith(".safetensors")
    ]
    used = {"round": report.round, "profile": report.profile, "askgate": report.version}
    return {
        "_type": STATEMENT,
        "subject": [*measured, *trained],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "PASSED" if report.passed else "FAILED",
            "configuration": [{**_resource(report.files["profile"]), "annotations": used}],
            "passedTests": [f"{one.gate}/{one.name}" for one in report.findings if one.passed],
            "failedTests": [f"{one.gate}/{one.name}" for one in report.failed],
        },
    }


def statements(rounds: Sequence[Round], models: Sequence[str]) -> bytes:
    """One statement per line. The same rounds give the same bytes, so `reproduce` compares them."""
    return b"".join(msgspec.json.encode(statement(one, models)) + b"\n" for one in rounds)


def _resource(fingerprint: Fingerprint) -> dict[str, Any]:
    kind = "dirHash" if shipped(Path(fingerprint.path)).is_dir() else "sha256"
    return {"name": fingerprint.path, "digest": {kind: fingerprint.sha256}}
