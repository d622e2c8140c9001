"""What a disk refuses, as a message that says what to do. Who asks for the message says how the work goes on then."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import BadInput

FULL = "free some space on that disk"
FAILING = "check the disk"
FORBIDDEN = "make the file and its folder writable for you, or choose another path"
_IN_THE_WAY = "choose another path; something of that name is in the way"
_AGAIN_AFTER = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EIO: FAILING,
}
_REMEDIES = {
    errno.EACCES: FORBIDDEN,
    errno.EPERM: FORBIDDEN,
    errno.EROFS: FORBIDDEN,
    errno.ENOENT: "make its folder again",
    errno.ENOTDIR: "choose another path; a file is in the way",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: _IN_THE_WAY,
    errno.ENOTEMPTY: _IN_THE_WAY,
    errno.ENOLCK: "choose a path on a local disk; this one has no file locks",
    errno.ENOTCONN: "mount that drive again",
    errno.ESTALE: "mount that drive again",
}


@contextmanager
def refused(path: Path, again: str, only_room: bool = False) -> Iterator[None]:
    """What the disk refuses inside the block, as `BadInput` with path and remedy. Anything else is a defect.

    `again` says how to go on once there is room, and what is safe meanwhile. A block that is about more than one path
    asks for `only_room`: a full disk is told, with the file where the system names it; what else is wrong is not, since
    nobody could say with which of them.
    """
    try:
        yield
    except Exception as error:
        code = _code(error)
        if _AGAIN_AFTER.get(code) == FULL or (code in _AGAIN_AFTER and not only_room):
            remedy = f"{_AGAIN_AFTER[code]}, then {again}"
        elif code in _REMEDIES and not only_room:
            remedy = _REMEDIES[code]
        else:
            raise
        where = _file(error, path) if only_room else str(path)
        raise BadInput(os.strerror(code), where=where, remedy=remedy) from error


def _file(error: Exception, path: Path) -> str:
    """The file that the system names; it names none where one was open already."""
    return error.filename if isinstance(error, OSError) and isinstance(error.filename, str) else str(path)


def _code(error: Exception) -> int:
    """Libraries written in Rust (safetensors, tokenizers) tell the system's code only in words."""
    if isinstance(error, OSError):
        return error.errno or 0
    told = re.search(r"\(os error (\d+)\)", str(error))
    return int(told[1]) if told else 0
