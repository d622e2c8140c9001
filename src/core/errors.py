"""`BadInput`, the one error for users. Other exceptions are bugs; a failed gate is a report, not an exception."""

from __future__ import annotations


class BadInput(Exception):
    """Refused input, environment or integrity (exit code 2): what is wrong, where, what to do.

    >>> str(BadInput("not valid JSON", where="pool.jsonl:3", remedy="rebuild the pool"))
    'pool.jsonl:3: not valid JSON. What to do: rebuild the pool.'
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        text = f"{where}: {what}" if where else what
        if remedy:
            text = f"{text.rstrip('.')}. What to do: {remedy.rstrip('.')}."
        super().__init__(text)
