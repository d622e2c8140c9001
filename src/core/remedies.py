"""Remedies of failed checks, in English and Chinese. The texts are in `templates/remedies.yaml`."""

from __future__ import annotations

from functools import cache
from typing import Literal

from .files import package_yaml

Remedy = tuple[str, str]
"""English, Chinese."""


@cache
def remedies(group: Literal["pool", "difficulty", "reward", "evaluation", "gates", "scoring"]) -> dict[str, Remedy]:
    """Remedies of a group of checks, by the name of the check without its scope."""
    table = package_yaml("templates/remedies.yaml")[group]
    return {name: (texts["en"], texts["zh"]) for name, texts in table.items()}
