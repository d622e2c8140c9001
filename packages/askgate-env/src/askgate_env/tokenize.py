"""The tokenizer of all text metrics, tools and gates: what counts as a token.

Words (letters and digits together), single CJK characters, punctuation marks. `data.quality.token_stream` computes the
same in bulk; a property test keeps the two equal.
"""

from __future__ import annotations

import re
import unicodedata

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
TOKEN = re.compile(rf"{WORD.pattern}|[^\w\s]")


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def words(text: str) -> list[str]:
    """Tokens in lower case without punctuation."""
    return WORD.findall(text.lower())


def occurs(span: str, text: str) -> bool:
    """Whether the text has the span as whole tokens, in any case: a hidden 5 does not occur in 15.

    A span without tokens hides nothing, so it occurs everywhere.
    """
    wanted, given = tokens(span.lower()), tokens(text.lower())
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))


class Marks(dict[int, str]):
    """Table for `str.translate` that replaces punctuation and symbols, filled as characters come up."""

    def __init__(self, instead: str) -> None:
        self._instead = instead

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        return self.setdefault(code, self._instead if unicodedata.category(mark)[0] in "PS" else mark)
