"""Splitting plain text into sentences: good enough for word problems and encyclopedia paragraphs."""

from __future__ import annotations

import re

_BREAK = re.compile(r"(?<=[.?!])[\"”’']?\s+(?=[\"“‘'$(]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|No|vs|etc|ca|c|Mt|Ft|Lt|Gen|Col|Prof|Inc|Ltd|Co|U\.S|[A-Z]))\.$"
)


def split_sentences(text: str) -> tuple[str, ...]:
    """Whitespace is evened out; nothing else changes, so that the joined sentences are the text again.

    >>> split_sentences("Mr. Lee has 3 cats.  Each eats 2 cans. How many cans?")
    ('Mr. Lee has 3 cats.', 'Each eats 2 cans.', 'How many cans?')
    """
    out: list[str] = []
    start = 0
    flat = " ".join(text.split())
    for match in _BREAK.finditer(flat):
        piece = flat[start : match.end()].rstrip()
        if _ABBREVIATION.search(piece):
            continue
        out.append(piece)
        start = match.end()
    if flat[start:]:
        out.append(flat[start:])
    return tuple(out)
