"""Anchors of the manifest: a timestamp authority (RFC 3161) certifies that its head existed at a time.

    askgate anchor http://timestamp.example.com --root tsa_root.pem

Someone who controls machine, code and keys can rewrite the whole chain, but not what an authority signed before. The
authority's answer is stored in `reports/rc1/anchors.jsonl` with the root certificate that it was verified with.
`askgate verify` needs no network: the chain must go through every anchored line, and the answer must be signed below
the stored root, whose fingerprint `--tsa-root` compares with one known from elsewhere. The manifest records the file
after each anchor, so removed anchors are noticed; `verify` says how many lines the newest anchor certifies.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from datetime import datetime, timedelta
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from askgate_env.types import Record

from ..core.errors import BadInput
from ..core.files import atomic_write, explain_read_errors
from ..core.jsonl import read_records, write_records
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.progress import Tell
from .manifest import Manifest

ANCHORS = Path("reports/rc1/anchors.jsonl")
CLOCK_TOLERANCE = timedelta(minutes=5)
"""Allowed difference between the clocks of this machine and of the authority."""
TIMEOUT_S = 30.0
_ASK = "ask the owner for the manifest that was anchored, or remove the anchor and make a new one"


class Anchor(Record, frozen=True):
    """A line of `anchors.jsonl`."""

    lines: int
    """Number of the manifest's lines that were anchored."""
    head: str
    """SHA-256 of the last of them: the text that was timestamped."""
    response: str
    """The authority's answer, DER in base64."""
    root: str
    """Root certificate of the authority (PEM)."""


def make_anchor(url: str, root: Path, tell: Tell) -> Anchor:
    """Gets a timestamp of the manifest's head from the authority at that address, verifies it and stores it."""
    _require_package()
    import httpx2
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    manifest = Manifest()
    assert manifest.run  # raises if there is nothing to anchor
    with explain_read_errors(root):
        pem = root.read_bytes().decode("ascii", errors="replace")
    fingerprint(pem, str(root))
    request = TimestampRequestBuilder().data(manifest.head.encode()).hash_algorithm(HashAlgorithm.SHA256).build()
    kind = {"Content-Type": "application/timestamp-query"}
    try:
        answer = httpx2.post(url, content=request.as_bytes(), headers=kind, timeout=TIMEOUT_S)
        answer.raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        what, remedy = f"the timestamp authority does not answer ({error})", "check the address, then try again"
        raise BadInput(what, where=url, remedy=remedy) from None
    made = Anchor(len(manifest.entries), manifest.head, b64encode(answer.content).decode(), pem)
    at = _verified(made, url, nonce=request.nonce)
    with explain_disk_errors(ANCHORS, RUN_AGAIN):
        kept = [*read_records(ANCHORS, Anchor)] if ANCHORS.exists() else []
        with atomic_write(ANCHORS) as handle:
            write_records(handle, [*kept, made])
    tell(_description(made, at))
    manifest.record([ANCHORS])
    return made


def verify_anchors(manifest: Manifest, tell: Tell, tsa_root: str = "") -> None:
    """Checks that the chain goes through every anchored line, and that the authority signed each.

    `tsa_root`: fingerprint of the authority's root certificate, known from elsewhere; then an anchor must be there.
    """
    anchors = [*read_records(ANCHORS, Anchor)] if ANCHORS.exists() else []
    if tsa_root and not anchors:
        what, remedy = "no timestamp authority has certified this manifest", "ask the owner for the anchored run"
        raise BadInput(what, where=str(ANCHORS), remedy=remedy)
    for number, one in enumerate(anchors, start=1):
        where = f"{ANCHORS}:{number}"
        if not 0 < one.lines <= len(manifest.entries) or manifest.head_after(one.lines) != one.head:
            what = f"{manifest.path} does not have the line {one.lines} that was anchored: it was rewritten or cut"
            raise BadInput(what, where=where, remedy=_ASK)
        at, known = _verified(one, where), fingerprint(one.root, where)
        if tsa_root and tsa_root != known:
            what = f"was certified below another root certificate: {known}"
            raise BadInput(what, where=where, remedy="ask the owner which authority certified the run")
        if datetime.fromisoformat(manifest.entries[one.lines - 1].at) > at + CLOCK_TOLERANCE:
            what = f"line {one.lines} of {manifest.path} says that it was written after {at}, when it was certified"
            raise BadInput(what, where=where, remedy=_ASK)
        tell(_description(one, at))
    if anchors:
        newest = max(anchors, key=lambda one: one.lines)
        after = len(manifest.entries) - newest.lines
        tell(f"anchor: the newest certifies {newest.head}, the hash of line {newest.lines}; lines after it: {after}")


def has_grown(recorded: str) -> bool:
    """Whether the file begins with the anchors that the manifest recorded. Further anchors may follow, if a command was
    interrupted before it recorded them; `verify_anchors` verifies them too."""
    if not ANCHORS.is_file():
        return False
    digest, digests = sha256(), set[str]()
    for line in ANCHORS.read_bytes().splitlines(keepends=True):
        digest.update(line)
        digests.add(digest.hexdigest())
    return recorded in digests


def fingerprint(pem: str, where: str) -> str:
    """SHA-256 of a certificate, as `openssl x509 -fingerprint -sha256` prints it, without colons and in lower case."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509 import load_pem_x509_certificate

    try:
        return load_pem_x509_certificate(pem.encode()).fingerprint(SHA256()).hex()
    except ValueError:
        what, remedy = "is no certificate (PEM)", "get the root certificate from the authority"
        raise BadInput(what, where=where, remedy=remedy) from None


def _verified(one: Anchor, where: str, nonce: int | None = None) -> datetime:
    """The time that the authority certified. Refuses an answer that it did not sign, or that is for another head."""
    _require_package()
    from cryptography.x509 import load_pem_x509_certificate
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    fingerprint(one.root, where)
    # Certificates in the answer complete the chain, but only the root is trusted.
    root = load_pem_x509_certificate(one.root.encode())
    try:
        response = decode_timestamp_response(b64decode(one.response, validate=True))
        VerifierBuilder(roots=[root], nonce=nonce).build().verify_message(response, one.head.encode())
        return response.tst_info.gen_time
    except (VerificationError, ValueError, Base64Error) as error:
        what = f"is no timestamp of this manifest by that authority ({error})"
        raise BadInput(what, where=where, remedy=_ASK) from None


def _description(one: Anchor, at: datetime) -> str:
    root = fingerprint(one.root, str(ANCHORS))
    return f"anchor: {one.lines} lines of the manifest existed at {at.isoformat()}, certified below root {root}"


def _require_package() -> None:
    if find_spec("rfc3161_client") is None:
        what, remedy = "timestamps need the package rfc3161-client", 'install it: pip install "askgate[sign]"'
        raise BadInput(what, where="anchor", remedy=remedy)
