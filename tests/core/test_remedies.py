"""Remedies of failed checks: complete, in both languages."""

from __future__ import annotations

import re

import pytest

from src.core.check import remedies

GROUPS = ("pool", "difficulty", "reward", "evaluation", "gates", "scoring")


@pytest.mark.parametrize("group", GROUPS)
def test_every_remedy_comes_in_both_languages(group: str) -> None:
    table = remedies(group)  # type: ignore[arg-type]
    assert table
    for english, chinese in table.values():
        assert english.isascii()
        assert re.search("[\u4e00-\u9fff]", chinese)
