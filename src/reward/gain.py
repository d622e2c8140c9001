"""How much better a new correlation is than an old one, and the gate on it."""

from __future__ import annotations

from ..core.check import Check, check

SMALL = 0.05
"""An old correlation up to this is none; a relative gain over it says nothing. The new one must then be better by as
much as this."""
DIGITS = 9
"""A gain of exactly the threshold must not fail for its last bit."""


def gain_pct(old: float | None, new: float | None) -> float | None:
    """The gain in percent of the old correlation, where that can be said.

    >>> gain_pct(0.4, 0.5), gain_pct(0.05, 0.5), gain_pct(None, 0.5)
    (25.0, None, None)
    """
    if old is None or new is None or old <= SMALL:
        return None
    return round(100 * (new - old) / old, DIGITS)


def gain_check(
    name: str, small_name: str, old: float | None, new: float | None, least_pct: float, remedy: str, remedy_zh: str
) -> Check:
    """`name` where the gain is relative, `small_name` where the old correlation is too small for that."""
    if old is not None and new is not None and old <= SMALL:
        return check(small_name, round(new - old, DIGITS), ">=", SMALL, remedy, remedy_zh)
    return check(name, gain_pct(old, new), ">=", least_pct, remedy, remedy_zh)
