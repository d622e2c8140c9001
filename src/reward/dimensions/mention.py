"""Does a text name something?"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ...core.tokenize import CJK

_BLANK = re.compile(rf"\s+(?=[{CJK}])|(?<=[{CJK}])\s+")


def mentioned(name: str, text: str) -> bool:
    """Whether a text holds a name, however it is written: whole words where words have blanks between them.

    >>> mentioned("Lund", "The town of Lund."), mentioned("Lund", "Lundby"), mentioned("冰船", "见《冰船》。")
    (True, False, True)
    >>> mentioned("1881", "Eirik Goldgren (1820-1881)")
    True
    """
    wanted = _plain(name)
    if not wanted:
        return False
    left = r"\b" if wanted[0].isascii() else ""
    right = r"\b" if wanted[-1].isascii() else ""
    return re.search(f"{left}{re.escape(wanted)}{right}", _plain(text), re.ASCII) is not None


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """Lower case, a blank for every mark, none beside Chinese. The same text is looked through for many names."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(" " if unicodedata.category(mark)[0] in "PS" else mark for mark in folded)
    return _BLANK.sub("", " ".join(spaced.split()))
