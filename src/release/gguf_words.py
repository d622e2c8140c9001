"""Which way to cut text into words a tokenizer has, and what llama.cpp calls it.

A GGUF file does not say how text is cut: it has a name, and llama.cpp has the rules by that name. A wrong name gives
other tokens for the same text and no error. So a tokenizer is exported only where its rules are literally those of a
name in this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import BadInput

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ONE_DIGIT = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_REST}"
THREE_DIGITS = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_REST}"

Rule = dict[str, Any]
"""A step of a pre-tokenizer, as `tokenizer.json` writes it."""


def _split(pattern: str) -> Rule:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _bytes(use_regex: bool) -> Rule:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


@dataclass(frozen=True)
class Way:
    rules: tuple[Rule, ...]
    ignore_merges: bool = False
    """A word that is a token as it stands is not put together from parts."""


WAYS: Mapping[str, Way] = {
    "qwen2": Way((_split(ONE_DIGIT), _bytes(use_regex=False))),
    "llama-bpe": Way((_split(THREE_DIGITS), _bytes(use_regex=False)), ignore_merges=True),
    "smollm": Way(({"type": "Digits", "individual_digits": True}, _bytes(use_regex=True))),
    "gpt-2": Way((_bytes(use_regex=True),)),
}
"""By `tokenizer.ggml.pre`."""


def name_of(pre_tokenizer: Rule | None, ignore_merges: bool) -> str:
    """What llama.cpp calls the way that a tokenizer cuts text."""
    found = _steps(pre_tokenizer)
    for name, way in WAYS.items():
        if way.ignore_merges == ignore_merges and found == [_plain(rule) for rule in way.rules]:
            return name
    raise BadInput(
        "the tokenizer cuts text into words in a way for which this exporter knows no name in llama.cpp",
        where="tokenizer.json: pre_tokenizer",
        remedy=f"use a model that cuts text like one of these: {', '.join(WAYS)}",
    )


def way_of(name: str) -> Way:
    if name not in WAYS:
        raise BadInput(
            f"text is cut by the rules {name!r}, which are not known here",
            where="tokenizer.ggml.pre",
            remedy=f"use a file with one of these: {', '.join(WAYS)}",
        )
    return WAYS[name]


def pre_tokenizer(way: Way) -> Rule:
    return {"type": "Sequence", "pretokenizers": list(way.rules)}


def _steps(pre_tokenizer: Rule | None) -> list[Rule]:
    if pre_tokenizer is None:
        return []
    steps = pre_tokenizer["pretokenizers"] if pre_tokenizer["type"] == "Sequence" else [pre_tokenizer]
    return [_plain(step) for step in steps]


def _plain(step: Rule) -> Rule:
    """Without what moves offsets and no token."""
    return {key: value for key, value in step.items() if key != "trim_offsets"}
