"""A package unpacked into a folder of its own. Nothing is written elsewhere, whatever names and links it holds."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from ..core.errors import BadInput

GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""How a package begins, for its maker writes neither name nor time there."""
SMALL, RATIO = 2**30, 200
"""A package unpacks to no more than so many bytes, or to so many times its own size. Logs shrink to a twentieth; a
thousandth is a bomb."""
PIECE = 2**20
AGAIN = "get the package again from its maker"


@contextmanager
def unpacked(package: Path) -> Iterator[Path]:
    """The package in a folder of its own, which is gone afterwards."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        try:
            with open(package, "rb") as handle:
                _unpack(handle, package, folder)
        except (tarfile.TarError, BadGzipFile, EOFError, zlib.error, ValueError) as error:
            raise BadInput(f"is damaged or no package ({error})", where=str(package), remedy=AGAIN) from None
        except OSError as error:
            raise BadInput(
                f"cannot be read or unpacked ({error.strerror or error})", where=str(package), remedy="check the path"
            ) from None
        yield folder


def _unpack(handle: IO[bytes], package: Path, folder: Path) -> None:
    if handle.read(len(GZIP)) != GZIP:
        raise BadInput("is no package", where=str(package), remedy=AGAIN)
    handle.seek(0)
    bytes_ = _Bounded(handle, package)
    with tarfile.open(fileobj=bytes_, mode="r|") as archive:
        for member in archive:
            if not member.isfile() or member.issparse() or not member.name.isprintable():
                raise BadInput("is no plain file", where=f"{package}: {member.name!r}", remedy=AGAIN)
            archive.extract(member, folder, filter="data")
    while bytes_.read(PIECE):  # behind the last file comes the checksum of all
        pass


class _Bounded(GzipFile):
    """Unpacks no more than a package can hold: a few bytes must not fill a disk."""

    def __init__(self, handle: IO[bytes], package: Path) -> None:
        super().__init__(fileobj=handle, mode="rb")
        self._package = package
        self._left = max(SMALL, RATIO * os.fstat(handle.fileno()).st_size)

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self._left -= len(found)
        if self._left < 0:
            raise BadInput("unpacks to far more than a run holds", where=str(self._package), remedy=AGAIN)
        return found
