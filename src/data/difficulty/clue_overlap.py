"""`clue_overlap`: how much of its supporting text a question restates."""

from __future__ import annotations

import re

_AFTER_CHINESE_MARK = re.compile("(?<=[。？！；：，]) ")
"""Chinese sentences join without a space, however somebody joined them before measuring."""


def char_trigrams(text: str) -> set[str]:
    flat = _AFTER_CHINESE_MARK.sub("", " ".join(text.lower().split()))
    return {flat[i : i + 3] for i in range(len(flat) - 2)}


def clue_overlap(asked: str, support: str) -> float:
    """Character 3-gram Jaccard between what is asked (clue and question) and the supporting text."""
    left, right = char_trigrams(asked), char_trigrams(support)
    union = len(left | right)
    return len(left & right) / union if union else 0.0
