"""Does a text name something?"""

from __future__ import annotations

import re
from functools import lru_cache

from ...agents.success import normalized


def mentioned(name: str, text: str) -> bool:
    """Whether a text holds a name, however it is written: whole words where words have blanks between them.

    >>> mentioned("Lund", "The town of Lund."), mentioned("Lund", "Lundby"), mentioned("冰船", "见《冰船》。")
    (True, False, True)
    """
    wanted, given = _plain(name), _plain(text)
    if not wanted:
        return False
    left = r"\b" if wanted[0].isascii() and wanted[0].isalnum() else ""
    right = r"\b" if wanted[-1].isascii() and wanted[-1].isalnum() else ""
    return re.search(f"{left}{re.escape(wanted)}{right}", given, re.ASCII) is not None


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """The same text is looked through for many names."""
    return normalized(text)
