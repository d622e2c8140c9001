"""Any chat template, without ever rendering a dialogue twice.

A template renders whole dialogues, and some change what they rendered before: Qwen3 drops the `<think>` blocks of
earlier turns once a new user message comes. Trained on that, a policy would learn from a dialogue that it never saw. So
the template is asked once, with a dummy dialogue, what it puts around each message. An episode is then its opening, the
policy's own tokens, and replies in that frame: turn N+1 extends turn N token by token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from jinja2.exceptions import TemplateError

from ..core.errors import BadInput
from .actions import THINK, THOUGHT
from .render import Plain, decoded

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_SYSTEM, _PROMPT, _SAID, _REPLY = ('A "dummy"\n' + what for what in ("system", "prompt", "said", "reply"))
"""With marks that a template would have to escape: where it does, its frame cannot be put around other data."""
_DATE = "26 Jul 2024"
"""Some templates print the day; a run that is resumed tomorrow must see the same tokens."""

Frame = tuple[str, ...]
"""What stands around data: data goes between one part and the next."""


class ChatRenderer:
    """A model's own chat template.

    Tool results go as role `tool` where the template shows that role as it is and lets the policy speak after it, else
    as `user`.
    """

    closes = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if not tokenizer.chat_template:
            raise BadInput(
                "the tokenizer has no chat template", where="tokenizer", remedy="use an instruct model, or models/tiny"
            )
        self.tokenizer = tokenizer
        self._plain = Plain(tokenizer)
        self._spoken = re.compile(f"({THINK}|{THOUGHT})")
        self._open = self._frame([_message("user", _PROMPT)], _PROMPT)
        self._open_told = self._told_frame()
        user = self._after_policy("user")
        stop = self._first_mark(user[0])
        self._last_words, _, rest = user[0].partition(stop)
        self._replies: dict[str, Frame] = {"user": (stop + rest, user[1])}
        self._replies["tool"] = self._tool_frame(stop) or self._replies["user"]
        self._stop_id = self._marked(stop)[-1]
        self.stop_ids = frozenset({self._stop_id, *_listed(tokenizer.eos_token_id)})
        self._thinks = self._open[-1].rfind(THINK) > self._open[-1].rfind(THOUGHT)

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        if system is None:
            return self._encode(self._open, prompt)
        if self._open_told is None:
            return self._encode(self._open, f"{system}\n\n{prompt}")
        return self._encode(self._open_told, system, prompt)

    def reply(self, by: Literal["user", "tool"], text: str) -> list[int]:
        # Encoded with the stop token and cut off after it: at the start of a text some tokenizers put a blank.
        ids = self._encode(self._replies[by], text)
        return ids[ids.index(self._stop_id) + 1 :]

    def policy(self, text: str) -> list[int]:
        if self._thinks:
            text = text.removeprefix(THINK) if THOUGHT in text else f"{THOUGHT}\n\n{text}"
        ids: list[int] = []
        for part in self._spoken.split(text + self._last_words):
            ids += self._marked(part) if part in (THINK, THOUGHT) else self._plain(part)
        return [*ids, self._stop_id]

    def decode(self, ids: Sequence[int]) -> str:
        """Where the cue opens a think block, the turn begins inside it."""
        return (THINK if self._thinks else "") + decoded(self.tokenizer, ids, self.stop_ids)

    def _encode(self, frame: Frame, *data: str) -> list[int]:
        """Frame and data as one text, as the template would have it; piece by piece where data holds a mark."""
        if not any(self._plain.holds_mark(text) for text in data):
            return self._marked("".join(part + text for part, text in zip(frame, (*data, ""), strict=True)))
        ids = self._marked(frame[0])
        for text, part in zip(data, frame[1:], strict=True):
            ids += self._plain(text) + self._marked(part)
        return ids

    def _marked(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def _frame(self, messages: list[dict[str, str]], *data: str) -> Frame:
        """What the template puts around the data."""
        parts = re.split("|".join(map(re.escape, data)), self._rendered(messages))
        if len(parts) != len(data) + 1:
            raise _refused(messages, "it does not show each of them once, as it is")
        return tuple(parts)

    def _rendered(self, messages: list[dict[str, str]], cue: bool = True) -> str:
        try:
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=cue, date_string=_DATE
            )
        except (TemplateError, ValueError, TypeError, KeyError) as error:
            raise _refused(messages, str(error)) from None
        assert isinstance(text, str)
        return text

    def _after_policy(self, role: str) -> Frame:
        """From the end of the policy's words to the reply, and from the reply to the next cue."""
        messages = [_message("user", _PROMPT), _message("assistant", _SAID), _message(role, _REPLY)]
        return self._frame(messages, _SAID, _REPLY)[1:]

    def _told_frame(self) -> Frame | None:
        """None where the template takes no system message."""
        try:
            return self._frame([_message("system", _SYSTEM), _message("user", _PROMPT)], _SYSTEM, _PROMPT)
        except BadInput:
            return None

    def _tool_frame(self, stop: str) -> Frame | None:
        """None unless the policy's turn ends in the same way before a tool's message and another one follows it."""
        opening = [_message("user", _PROMPT)]
        cue = self._rendered(opening).removeprefix(self._rendered(opening, cue=False))
        try:
            before, after = self._after_policy("tool")
        except BadInput:
            return None
        if not before.startswith(self._last_words + stop) or not after.endswith(cue):
            return None
        return before.removeprefix(self._last_words), after

    def _first_mark(self, text: str) -> str:
        marks = [str(token.content) for token in self.tokenizer.added_tokens_decoder.values() if token.special]
        found = [(text.index(mark), -len(mark), mark) for mark in marks if mark in text]
        if not found:
            raise BadInput(
                "the chat template ends a turn without a special token",
                where="tokenizer",
                remedy="use a model whose template has one, such as Qwen3 or Llama 3",
            )
        return min(found)[2]


def _message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def _refused(messages: list[dict[str, str]], why: str) -> BadInput:
    roles = ", ".join(message["role"] for message in messages)
    return BadInput(
        f"the chat template does not take messages by {roles}: {why}",
        where="tokenizer",
        remedy="use a text model with multi-turn chat",
    )


def _listed(token: object) -> list[int]:
    return [token] if isinstance(token, int) else []
