"""Shares are written from 0 to 1."""

from __future__ import annotations

from .errors import BadInput


def require_share(value: float, flag: str) -> None:
    """Refuses a percentage where a share is meant: a limit of 30 would let everything pass, or nothing.

    >>> require_share(30, "--max_easy_pct")
    Traceback (most recent call last):
    src.core.errors.BadInput: --max_easy_pct: 30 is no share of 1. What to do: write 0.30.
    """
    if not 0 <= value <= 1:
        remedy = f"write {value / 100:.2f}" if 1 < value <= 100 else "give a number between 0 and 1"
        raise BadInput(f"{value:g} is no share of 1", where=flag, remedy=remedy)
