"""Word lists are easier to read and to extend as running text than as a column of quoted words."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())
