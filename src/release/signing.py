"""A model folder, or a single file, signed in the OpenSSF Model Signing format, with a key of one's own and without a
network.

    model_signing verify key MODEL --signature MODEL.sig --public_key KEY.pub

is the command of that package which checks the same signature.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..core.errors import BadInput

_CURVES = ("secp256r1", "secp384r1", "secp521r1")
"""Those that the format knows."""
_MAKE = "openssl ecparam -name prime256v1 -genkey -noout -out key.pem makes one"


def sign_model(model: Path, key: Path, password: bytes | None, signature: Path, public: Path) -> None:
    """The signature, and the public key to check it with. The private key is read and forgotten."""
    _require()
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from model_signing.signing import Config

    try:
        private = load_pem_private_key(key.read_bytes(), password)
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(key), remedy="check the path") from None
    except (ValueError, TypeError):
        raise BadInput("no private key can be read from it", where=str(key), remedy="check key and password") from None
    if not isinstance(private, EllipticCurvePrivateKey) or private.curve.name not in _CURVES:
        raise BadInput(f"is no key of a curve {', '.join(_CURVES)}", where=str(key), remedy=_MAKE)
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    signing = Config()  # type: ignore[no-untyped-call]
    # Declared as text, and handed on as it is to what takes nothing but bytes.
    secret: Any = password
    signing.use_elliptic_key_signer(private_key=key, password=secret).sign(model, signature)


def verify_model(model: Path, signature: Path, public: Path) -> None:
    _require()
    from model_signing.verifying import Config

    try:
        verifying = Config()  # type: ignore[no-untyped-call]
        verifying.use_elliptic_key_verifier(public_key=public).verify(model, signature)
    except Exception as error:
        # The package raises whatever its parts raise; none of it means that the model is the one that was signed.
        raise BadInput(
            f"the signature does not hold ({str(error).splitlines()[0] if str(error) else type(error).__name__})",
            where=str(signature),
            remedy="get the package again from its maker, or compare the public key with the maker's",
        ) from error


def can_sign() -> bool:
    """Signing and checking signatures need packages that a plain installation does not have."""
    return find_spec("model_signing") is not None and find_spec("OpenSSL") is not None


def _require() -> None:
    if not can_sign():
        raise BadInput(
            "signatures of models need the packages model-signing and pyopenssl", remedy="pip install 'askgate[sign]'"
        )
