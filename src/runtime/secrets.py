"""Secrets of the environment stay out of everything that is written: logs, error reports, archives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

MASK = "***"
SHORTEST = 4
"""What is shorter is no secret, and taking it out would tear up ordinary words."""
_NAMES = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE)


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """Values of variables whose names say that they are secret, the longest first: one may contain another.

    >>> secrets_in({"SCORER_API_KEY": "sk-123456", "KEYBOARD": "qwerty", "HF_TOKEN": "hf_1"})
    ['sk-123456', 'hf_1']
    """
    found = {value for name, value in environment.items() if _NAMES.search(name) and len(value) >= SHORTEST}
    return sorted(found, key=lambda value: (-len(value), value))


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret masked, also where it stands in a URL or inside JSON.

    >>> redact("wrong key: sk-123456", ["sk-123456"])
    'wrong key: ***'
    """
    for plain in secrets:
        forms = {plain, quote(plain), quote(plain, safe=""), json.dumps(plain)[1:-1]}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, MASK)
    return text
