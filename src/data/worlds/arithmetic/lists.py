"""Word lists as plain text blocks."""

from __future__ import annotations


def words(block: str) -> tuple[str, ...]:
    return tuple(block.split())


def entries(block: str) -> tuple[str, ...]:
    """Fillers of several words, separated by semicolons."""
    return tuple(" ".join(entry.split()) for entry in block.split(";") if entry.strip())


def templates(block: str) -> tuple[str, ...]:
    """One template a line."""
    return tuple(line.strip() for line in block.strip().splitlines() if line.strip())
