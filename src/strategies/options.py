"""Range checks of hyperparameters. A value out of range is refused with the name of its option."""

from __future__ import annotations

from ..core.errors import BadInput


def positive(name: str, value: float) -> float:
    return _checked(name, value, value > 0, "a number above 0")


def at_least(name: str, value: float, least: float = 0) -> float:
    return _checked(name, value, value >= least, f"a number of at least {least:g}")


def share(name: str, value: float) -> float:
    return _checked(name, value, 0 <= value <= 1, "a number from 0 to 1")


def _checked(name: str, value: float, fits: bool, wanted: str) -> float:
    if not fits:
        raise BadInput(f"{value} is out of range", where=name, remedy=f"give {wanted}")
    return value
