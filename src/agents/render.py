"""From a dialogue to tokens, a piece at a time: the opening, then what follows each turn of the policy.

What was tokenized once is never tokenized again: the next turn always begins with the very tokens of the last. Text of
users, articles and tools is written as plain text, whatever it holds, so no data can speak with a role's marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from ..core.errors import BadInput
from ..core.tokenize import CJK
from .actions import TAGS, THINK, THOUGHT

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

USER, POLICY, TOOL, END, PAD = "<|user|>", "<|policy|>", "<|tool|>", "<|end|>", "<|pad|>"
SPOKEN = (*(f"<{tag}>" for tag in TAGS), THINK, THOUGHT)
"""Marks that the policy says itself."""
MARKS = (USER, POLICY, TOOL, END, PAD, *SPOKEN)
"""Every one is a single token of a tokenizer that `TagRenderer` takes."""


_CJK = re.compile(f"[{CJK}]")


class Renderer(Protocol):
    """How a model sees a dialogue."""

    stop_ids: frozenset[int]
    """Tokens that end the policy's turn."""
    closes: bool
    """Whether demonstrations write the closing tag: `grammar.say(turn, renderer.closes)`."""

    def opening(self, prompt: str, system: str | None) -> list[int]:
        """Up to and including the cue for the policy to speak."""
        ...

    def reply(self, by: Literal["user", "tool"], text: str) -> list[int]:
        """What follows the policy's stop token: the message and the next cue."""
        ...

    def policy(self, text: str) -> list[int]:
        """A turn of the policy with its stop token, for supervised training."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """A turn of the policy as text for the grammar, without its stop token."""
        ...


class TagRenderer:
    """`<|user|>PROMPT<|end|><|policy|>THOUGHT<ask>QUESTION<|end|><|user|>REPLY<|end|><|policy|>...`

    For small models that are trained on this layout. They know the grammar by heart, so the system text is not shown.
    """

    closes = False

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self._plain = Plain(tokenizer)
        self._ids = {mark: _single(tokenizer, mark) for mark in MARKS}
        self.stop_ids = frozenset({self._ids[END]})
        self.pad_id = self._ids[PAD]
        self._spoken = re.compile(f"({'|'.join(map(re.escape, SPOKEN))})")

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        return self.reply("user", prompt)

    def reply(self, by: Literal["user", "tool"], text: str) -> list[int]:
        mark = USER if by == "user" else TOOL
        return [self._ids[mark], *self._plain(spaced(text)), self._ids[END], self._ids[POLICY]]

    def policy(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self._spoken.split(text):
            ids += [self._ids[part]] if part in SPOKEN else self._plain(spaced(part))
        return [*ids, self._ids[END]]

    def decode(self, ids: Sequence[int]) -> str:
        return decoded(self.tokenizer, ids, self.stop_ids)


def spaced(text: str) -> str:
    """A blank before a first word of letters, so that a name is the same tokens wherever it stands.

    A byte-level vocabulary has other tokens for a word with a blank before it than for one without. Chinese has no
    blanks, and digits stand alone anyway.
    """
    return f" {text}" if text and text[0].isalpha() and not _CJK.match(text) else text


class Plain:
    """Encodes text as text: a mark of the tokenizer that stands in it comes apart into ordinary tokens.

    `split_special_tokens` of the library does so for special tokens only; `<think>` of Qwen3 is added and not special.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        marks = [str(token.content) for token in tokenizer.added_tokens_decoder.values()]
        # Some vocabularies add runs of blanks: these are text.
        marks = sorted((mark for mark in marks if len(mark) > 1 and mark.strip()), key=len, reverse=True)
        self._mark = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

    def holds_mark(self, text: str) -> bool:
        return self._mark.search(text) is not None

    def __call__(self, text: str) -> list[int]:
        ids: list[int] = []
        at = 0
        while found := self._mark.search(text, at):
            cut = found.start() + 1
            ids += self._encode(text[at:cut])
            at = cut
        return ids + self._encode(text[at:])

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False)) if text else []


def decoded(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], stop_ids: frozenset[int]) -> str:
    """Tokens before the first stop token as text, marks included."""
    end = next((place for place, token in enumerate(ids) if token in stop_ids), len(ids))
    text = tokenizer.decode(list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False)
    assert isinstance(text, str)
    return text


def _single(tokenizer: PreTrainedTokenizerBase, mark: str) -> int:
    ids = tokenizer.encode(mark, add_special_tokens=False)
    if len(ids) != 1 or tokenizer.decode(ids) != mark:
        raise BadInput(
            f"the tokenizer has no single token {mark}",
            where="tokenizer",
            remedy="use a model with a chat template, or models/tiny",
        )
    return int(ids[0])
