"""A signed package of a small run, and ways to change it: by accident, and by somebody who knows the format."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from src.checkpoint.seal import seal
from src.core.files import sha256_file
from src.gates.ticket import TICKET
from src.release.package import PUBLIC, SUMS, SUMS_SIGNATURE, make_package
from tests.gates.conftest import finished, run

__all__ = ["finished", "run"]

CONFIG = Path("configs/quickstart_gated.yaml")
MODEL = Path("checkpoints/rc1/final_model")
TINY = Path(__file__).resolve().parents[2] / "models/tiny"
Change = Callable[[dict[str, bytes]], None]


def silent(text: str) -> None:
    pass


def trained(ticket: str | None = None) -> None:
    """A sealed model as a gated run leaves it; packages do not depend on its weights."""
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
    """A signed package; the working folder is an empty folder elsewhere."""
    trained()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    made = make_package(CONFIG, elsewhere / "package.tgz", new_key(elsewhere / "key.pem"), None, silent)
    monkeypatch.chdir(elsewhere)
    return made


@contextmanager
def tarball(out: Path) -> Iterator[tarfile.TarFile]:
    """Writes a tarball in the format of a package."""
    with (
        open(out, "wb") as handle,
        gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as target,
    ):
        yield target


def put(target: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    target.addfile(member, io.BytesIO(content))


def contents(package: Path) -> dict[str, bytes]:
    with tarfile.open(package) as source:
        return {member.name: found.read() for member in source if (found := source.extractfile(member))}


def repacked(package: Path, change: Callable[[str, bytes], bytes | None], more: dict[str, bytes] | None = None) -> Path:
    """The same tarball with changed files; None removes a file."""
    out = package.with_name("changed.tgz")
    with tarball(out) as target:
        for name, content in contents(package).items():
            if (new := change(name, content)) is not None:
                put(target, name, new)
        for name, content in (more or {}).items():
            put(target, name, content)
    return out


def rewritten(package: Path, change: Change) -> Path:
    """The package rewritten by somebody who knows the format but has no key: every checksum fits."""
    found = contents(package)
    change(found)
    listed = sorted(set(found) - {SUMS, SUMS_SIGNATURE})
    found[SUMS] = "".join(f"{sha256(found[name]).hexdigest()}  {name}\n" for name in listed).encode()
    out = package.with_name("rewritten.tgz")
    with tarball(out) as target:
        for name, content in found.items():
            put(target, name, content)
    return out


def unsigned(package: Path, change: Change) -> Path:
    """The package rewritten without any signature."""

    def strip(found: dict[str, bytes]) -> None:
        change(found)
        for name in [name for name in found if name.endswith(".sig") or name == PUBLIC.as_posix()]:
            del found[name]

    return rewritten(package, strip)


def flipped(content: bytes) -> bytes:
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]
