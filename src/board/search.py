"""What was typed into the search field, as a query of the index: every word must occur, "words in quotes" as they are.

Trigrams find whatever has three characters. For two, as most Chinese words have, and for one, all trigrams that begin
with them are looked up; `text_of` sees to it that there is always one.
"""

from __future__ import annotations

import re
import sqlite3

_PARTS = re.compile(r'"([^"]+)"|(\S+)')
GRAM = 3
LAST = "\U0010ffff"
MOST_TERMS = 5000
NOTHING = '"\x01\x01\x01"'
"""Stands in no text."""


def parts_of(typed: str) -> list[str]:
    """
    >>> parts_of('which "as it is"  您具')
    ['which', 'as it is', '您具']
    """
    return [quoted or plain for quoted, plain in _PARTS.findall(typed.replace("\0", " "))]


def match(store: sqlite3.Connection, typed: str) -> str | None:
    """For `words MATCH ?`; None where nothing was typed."""
    parts = parts_of(typed)
    return " AND ".join(f"({_one(store, part)})" for part in parts) if parts else None


def _one(store: sqlite3.Connection, part: str) -> str:
    if len(part) >= GRAM:
        return _quoted(part)
    start = part.lower()
    found = store.execute(
        "SELECT term FROM terms WHERE term >= ? AND term < ? LIMIT ?", (start, start + LAST, MOST_TERMS)
    )
    return " OR ".join(_quoted(row[0]) for row in found) or NOTHING


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
