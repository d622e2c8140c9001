"""Word lists of the readers and the difficulty metrics, from `templates/lexicon/*.yaml`."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from ..core.files import package_yaml


@cache
def lexicon(lang: Literal["english", "chinese"]) -> dict[str, Any]:
    """Word lists of a language by name. Each is one string of words separated by spaces."""
    tables: dict[str, Any] = package_yaml(f"templates/lexicon/{lang}.yaml")
    return tables


def word_set(name: str) -> frozenset[str]:
    """Words of an English list."""
    return frozenset(lexicon("english")[name].split())
