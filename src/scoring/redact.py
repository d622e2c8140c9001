"""Keys stay in memory. Every text that comes from outside passes here before anybody cuts, writes or shows it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache

from pydantic import SecretStr

MASK = "***"
SHORTEST = 4
"""What is shorter is no secret, and taking it out would tear up ordinary words."""
LONGEST = 500
"""So much of a text from outside is written down. No line of the ledger may grow past what can be read back."""


def redact(text: str, secrets: Iterable[SecretStr]) -> str:
    """The text with every secret masked, also where it stands in a URL, inside JSON or in an HTML page.

    >>> redact("wrong key: sk-123456", [SecretStr("sk-123456")])
    'wrong key: ***'
    """
    for secret in secrets:
        plain = secret.get_secret_value()
        if len(plain) >= SHORTEST:
            text = _dressed(plain).sub(MASK, text)
    return text


@cache
def _dressed(plain: str) -> re.Pattern[str]:
    """The secret in every dress that servers and proxies put on single characters of it."""
    return re.compile("".join(_character(one) for one in plain))


def _character(one: str) -> str:
    code = ord(one)
    number = f"(?i:%{code:02x}|\\\\u{code:04x}|&#x0*{code:x};|&#0*{code};)"
    return f"(?:\\\\?{re.escape(one)}|{re.escape(html.escape(one))}|{number})"


def printable(text: str, longest: int = LONGEST) -> str:
    """Fit for a file in UTF-8 and for a screen: half characters and control characters are replaced, the rest cut off.

    >>> printable("a\\x1b[2Jb\\ud800")
    'a?[2Jb?'
    """
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in text[:longest])
