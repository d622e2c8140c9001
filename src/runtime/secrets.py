"""The secret masker: everything that is logged, reported, archived, cached or shown passes through it.

    mask = masker(os.environ)
    mask("GET /?key=sk-123456")      # 'GET /?key=***'

It masks three kinds of secret: values of environment variables with names such as MY_API_KEY, in every encoding that
servers and proxies use; strings in the format of a known service's keys; and values assigned to such names in a text.
Standard library only, because `failpack` must run without installed packages.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from urllib.parse import quote

MASK = "***"
SHORTEST = 4
"""Shorter values are not treated as secrets: masking them would tear up ordinary words."""
_WORDS = "KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?"
_SECRET_NAME = re.compile(rf"(^|_)({_WORDS})(_|$)", re.IGNORECASE)
_ASSIGNMENT = re.compile(rf"\b([A-Z][A-Z0-9_]*_(?:{_WORDS}))(\s*[=:]\s*)([^\s\"',;]+)")
_KEYS = r"\b(?:sk-|sk_|AIza|hf_|ghp_|gho_|github_pat_|glpat-|xox[abp]-)[\w-]{12,}"
_SERVICE_KEY = re.compile(rf"{_KEYS}|(?<=Bearer )[\w.~+/=-]{{8,}}|(?<=bearer )[\w.~+/=-]{{8,}}")
_FILE_SECRETS = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a key of a known service": re.compile(_KEYS),
    "an authorization header": re.compile(r"(?i)\bauthorization\W{1,6}bearer\s+[\w.~+/=-]{8,}"),
    "a value of a name such as MY_API_KEY": re.compile(
        rf"\b[A-Z][A-Z0-9_]*_(?:{_WORDS})[\"']?\s*[=:]\s*[\"']?(?![*<$])[^\s\"',;]{{8,}}"
    ),
}
_ENCODING_SIGNS = ("%", "\\", "&")
"""A text without any of these has no encoded character."""


def masker(environment: Mapping[str, str], *keys: str) -> Callable[[str], str]:
    """A function that masks the secrets of the environment and these keys.

    >>> masker({"MY_TOKEN": "abcdef"}, "k-1234")("?t=abcdef, k-1234, Bearer 0123456789, SCORER_API_KEY=x1y2")
    '?t=***, ***, Bearer ***, SCORER_API_KEY=***'
    """
    # Files are masked line by line, so each line of a multi-line secret is a secret of its own.
    whole = [*secrets_in(environment), *keys]
    lines = {line for secret in whole for line in secret.splitlines()}
    secrets = sorted(sorted(lines.union(whole)), key=len, reverse=True)

    def mask(text: str) -> str:
        text = _SERVICE_KEY.sub(MASK, redact(text, secrets))
        return _ASSIGNMENT.sub(rf"\1\2{MASK}", text)

    return mask


def secrets_in(environment: Mapping[str, str]) -> list[str]:
    """Values of variables with secret names, longest first, because one may contain another.

    >>> secrets_in({"SCORER_API_KEY": "sk-123456", "KEYBOARD": "qwerty", "HF_TOKEN": "hf_1"})
    ['sk-123456', 'hf_1']
    """
    values = {value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST}
    return sorted(sorted(values), key=len, reverse=True)


def find_secret(content: bytes, environment: Mapping[str, str]) -> tuple[int, str] | None:
    """Line and kind of a secret in a file, or None. "Bearer" counts in a header only: elsewhere it is a word.

    >>> find_secret(b"a\\n-----BEGIN PRIVATE KEY-----", {}), find_secret(b"the flag bearer Alexander", {})
    ((2, 'a private key'), None)
    >>> find_secret(b'MY_API_KEY: "9f3c2a1b"', {}), find_secret(b"?key=sk%2D123456", {"A_KEY": "sk-123456"})
    ((1, 'a value of a name such as MY_API_KEY'), (1, 'a secret of the environment'))
    """
    text = content.decode("utf-8", "replace")
    kinds = [("a secret of the environment", _encoded(secret)) for secret in secrets_in(environment)]
    for kind, pattern in (*kinds, *_FILE_SECRETS.items()):
        if found := pattern.search(text):
            return text.count("\n", 0, found.start()) + 1, kind
    return None


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with these secrets masked, also where a URL, JSON or HTML encodes their characters.

    >>> redact("wrong key: sk-123456, in a URL sk%2D123456", ["sk-123456"])
    'wrong key: ***, in a URL ***'
    """
    for secret in secrets:
        if len(secret) < SHORTEST:
            continue
        if any(sign in text for sign in _ENCODING_SIGNS):
            text = _encoded(secret).sub(MASK, text)
        else:
            text = text.replace(secret, MASK)
    return text


@cache
def _encoded(secret: str) -> re.Pattern[str]:
    """Matches the secret with any of its characters encoded."""
    return re.compile("".join(_character(one) for one in secret))


def _character(one: str) -> str:
    code = ord(one)
    encodings = {html.escape(one), quote(one, safe="", errors="replace"), json.dumps(one)[1:-1]} - {one}
    patterns = [re.escape(encoding) for encoding in sorted(encodings)]
    patterns += [f"%{code:02x}", f"\\\\u{code:04x}", f"&#x0*{code:x};", f"&#0*{code};"]
    return f"(?:\\\\?{re.escape(one)}|(?i:{'|'.join(patterns)}))"
