"""A timestamp authority on this machine that speaks RFC 3161 over HTTP: real requests, real signed answers.

with TimestampServer() as server:
    ...  # server.url, server.root (PEM)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

POLICY = "1.3.6.1.4.1.99999.1"


class TimestampServer:
    """`change` edits what is certified before it is signed; `certificate_for` is the purpose of the certificate."""

    def __init__(
        self,
        change: Callable[[dict[str, Any]], None] = lambda info: None,
        purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.TIME_STAMPING,
    ) -> None:
        self.change, self.asked = change, 0
        self._root_key, self._key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        self._root = _certificate("Test root", self._root_key, "Test root", self._root_key, None)
        self._leaf = _certificate("Test authority", self._key, "Test root", self._root_key, purpose)
        self.root = self._root.public_bytes(Encoding.PEM)

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_query = self.headers["Content-Type"] == "application/timestamp-query"
                answer = server.answer(body) if is_query else b""
                self.send_response(200 if is_query else 415)
                self.send_header("Content-Type", "application/timestamp-reply")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/tsr"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join(60)
        self._http.server_close()

    def answer(self, query: bytes) -> bytes:
        asked = tsp.TimeStampReq.load(query)
        self.asked += 1
        info = {
            "version": "v1",
            "policy": POLICY,
            "message_imprint": asked["message_imprint"],
            "serial_number": self.asked,
            "gen_time": datetime.now(UTC).replace(microsecond=0),
            "nonce": asked["nonce"],
        }
        self.change(info)
        token = self._signed(tsp.TSTInfo(info).dump())
        return bytes(tsp.TimeStampResp({"status": {"status": "granted"}, "time_stamp_token": token}).dump())

    def _signed(self, content: bytes) -> cms.ContentInfo:
        """CMS signed data (RFC 5652) with the attributes that RFC 3161 and RFC 5816 require."""
        leaf = asn1.Certificate.load(self._leaf.public_bytes(Encoding.DER))
        certificates = [asn1.Certificate.load(one.public_bytes(Encoding.DER)) for one in (self._leaf, self._root)]
        named = tsp.ESSCertIDv2({"cert_hash": sha256(leaf.dump()).digest()})
        attributes = cms.CMSAttributes(
            [
                {"type": "content_type", "values": ["tst_info"]},
                {"type": "message_digest", "values": [sha256(content).digest()]},
                {"type": "signing_certificate_v2", "values": [tsp.SigningCertificateV2({"certs": [named]})]},
            ]
        )
        signer = {
            "version": "v1",
            "sid": {"issuer_and_serial_number": {"issuer": leaf.issuer, "serial_number": leaf.serial_number}},
            "digest_algorithm": algos.DigestAlgorithm({"algorithm": "sha256"}),
            "signed_attrs": attributes,
            "signature_algorithm": {"algorithm": "sha256_ecdsa"},
            "signature": self._key.sign(attributes.dump(), ec.ECDSA(SHA256())),
        }
        signed = {
            "version": "v3",
            "digest_algorithms": [{"algorithm": "sha256"}],
            "encap_content_info": {"content_type": "tst_info", "content": core.ParsableOctetString(content)},
            "certificates": certificates,
            "signer_infos": [signer],
        }
        return cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(signed)})


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    purpose: x509.ObjectIdentifier | None,
) -> x509.Certificate:
    """A certificate for that purpose; without one, that of an authority for certificates."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=purpose is None, path_length=None), critical=True)
    )
    if purpose is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=True)
    return builder.sign(issuer_key, SHA256())
