"""Keys stay in memory. Every text that comes from outside passes here before anybody writes or shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote

from pydantic import SecretStr

MASK = "***"
SHORTEST = 4
"""What is shorter is no secret, and taking it out would tear up ordinary words."""


def redact(text: str, secrets: Iterable[SecretStr]) -> str:
    """The text with every secret masked, also where it stands in a URL or inside JSON.

    >>> redact("wrong key: sk-123456", [SecretStr("sk-123456")])
    'wrong key: ***'
    """
    for secret in secrets:
        plain = secret.get_secret_value()
        if len(plain) < SHORTEST:
            continue
        for form in sorted(
            {plain, quote(plain), quote(plain, safe=""), json.dumps(plain)[1:-1]}, key=len, reverse=True
        ):
            text = text.replace(form, MASK)
    return text
