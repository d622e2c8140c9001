"""Renders dialogues as tokens, piece by piece: the opening, then what follows each turn of the policy.

Turn N+1 extends turn N token by token, and nothing is tokenized twice, except with `rollout.thoughts: drop` (below).
Text of users, articles and tools is always encoded as plain text, whatever it contains, so that no data can forge a
role's tags.

`TagRenderer` is the tight layout of `models/tiny`. `ChatRenderer` uses the chat template of any model. A template
renders whole dialogues, and some change what they rendered before: Qwen3 drops the `<think>` blocks of earlier turns
once a new user message comes. Trained on that, a policy would learn from a dialogue that it never saw. So the template
is rendered once, with a dummy dialogue, to find what it puts around each message. An episode is then its opening, the
policy's own tokens, and replies inside that frame. With `rollout.thoughts: drop` the dialogue after a user reply is
rendered as the template would (`history`), and the next turns are a new segment for training.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2.exceptions import TemplateError

from askgate_env.actions import TAGS, THINK, THOUGHT
from askgate_env.tokenize import CJK

from ..core.errors import BadInput

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

USER, POLICY, TOOL, END, PAD = "<|user|>", "<|policy|>", "<|tool|>", "<|end|>", "<|pad|>"
SPOKEN = (*(f"<{tag}>" for tag in TAGS), THINK, THOUGHT)
"""Tags that the policy generates itself."""
MARKS = (USER, POLICY, TOOL, END, PAD, *SPOKEN)
"""All tags. Each is a single token of a tokenizer that `TagRenderer` accepts."""
_SYSTEM, _PROMPT, _SAID, _REPLY = ('A "dummy"\n' + what for what in ("system", "prompt", "said", "reply"))
"""Dummy messages with characters that a template might escape. A template that does cannot frame other data."""
_DATE = "26 Jul 2024"
"""Fixed date for templates that print one: a run that is resumed tomorrow must have the same tokens."""

Frame = tuple[str, ...]
"""The parts of a text around data: a piece of data goes between each part and the next."""
CJK_TEXT = re.compile(f"[{CJK}]")


class ThinkTokens(NamedTuple):
    """The tokens around a thought."""

    is_open: bool
    """Whether the cue opens the thought, so that every turn begins inside it."""
    open_id: int
    close_id: int
    forced_close: list[int]
    """Tokens that close a thought which was cut off: the closing tag, and the whitespace that follows it."""


class Exchange(NamedTuple):
    """A turn of the policy, without its thought, and the reply to it."""

    said: str
    by: str
    reply: str


class Renderer(ABC):
    """Turns a dialogue into the tokens that a model reads, and back."""

    stop_ids: frozenset[int]
    """Tokens that end the policy's turn."""
    closes: bool
    """Whether demonstrations write the closing tag: `actions.say(turn, renderer.closes)`."""
    think: ThinkTokens | None
    """None where the tokenizer has no single tokens for `<think>` and `</think>`."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        marks = [str(token.content) for token in tokenizer.added_tokens_decoder.values()]
        # Some vocabularies add runs of spaces: these are text.
        marks = sorted((mark for mark in marks if len(mark) > 1 and mark.strip()), key=len, reverse=True)
        self._mark = re.compile("|".join(map(re.escape, marks)) or r"(?!)")

    @abstractmethod
    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        """The first tokens, up to and including the cue for the policy to speak."""

    @abstractmethod
    def reply(self, by: str, text: str) -> list[int]:
        """The tokens after the policy's stop token: the message of `user` or `tool`, and the next cue."""

    @abstractmethod
    def policy(self, text: str) -> list[int]:
        """A turn of the policy with its stop token, for supervised training."""

    def history(self, prompt: str, system: str | None, turns: Sequence[Exchange]) -> list[int]:
        """Tokens of a dialogue without thoughts, up to the cue after its last reply."""
        ids = self.opening(prompt, system)
        for turn in turns:
            ids = [*ids, *self.policy(turn.said), *self.reply(turn.by, turn.reply)]
        return ids

    def _plain(self, text: str) -> list[int]:
        """Encodes text as plain text: a tag in it is split into ordinary tokens.

        The library's `split_special_tokens` does so for special tokens only, and `<think>` of Qwen3 is not one.
        """
        ids: list[int] = []
        at = 0
        while found := self._mark.search(text, at):
            cut = found.start() + 1
            ids += self._tokenize(text[at:cut])
            at = cut
        return ids + self._tokenize(text[at:])

    def _tokenize(self, text: str) -> list[int]:
        """Token ids of a text as the tokenizer gives them: a tag in it is one token."""
        return list(self.tokenizer.encode(text, add_special_tokens=False)) if text else []

    def decode(self, ids: Sequence[int]) -> str:
        """A turn of the policy as text for `actions.parse`, tags included, without its stop token."""
        end = next((place for place, token in enumerate(ids) if token in self.stop_ids), len(ids))
        text = self.tokenizer.decode(list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        assert isinstance(text, str)
        return text


class TagRenderer(Renderer):
    """`<|user|>PROMPT<|end|><|policy|>THOUGHT<ask>QUESTION<|end|><|user|>REPLY<|end|><|policy|>...`

    For small models that are trained on this layout. They know the actions, so they get no system prompt.
    """

    closes = False

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        super().__init__(tokenizer)
        self._ids = {mark: _single(tokenizer, mark) for mark in MARKS}
        self.stop_ids = frozenset({self._ids[END]})
        self.pad_id = self._ids[PAD]
        self.think: ThinkTokens | None = ThinkTokens(False, self._ids[THINK], self._ids[THOUGHT], [self._ids[THOUGHT]])
        self._spoken = re.compile(f"({'|'.join(map(re.escape, SPOKEN))})")

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        return self.reply("user", prompt)

    def reply(self, by: str, text: str) -> list[int]:
        mark = USER if by == "user" else TOOL
        return [self._ids[mark], *self._plain(spaced(text)), self._ids[END], self._ids[POLICY]]

    def policy(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self._spoken.split(text):
            ids += [self._ids[part]] if part in SPOKEN else self._plain(spaced(part))
        return [*ids, self._ids[END]]


class ChatRenderer(Renderer):
    """The chat template of a model.

    Tool results have the role `tool` where the template renders it unchanged and lets the policy speak after it, else
    the role `user`.
    """

    closes = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase, stop_ids: frozenset[int] = frozenset()) -> None:
        """`stop_ids` are further tokens that end a turn (see `generation_stop_ids`)."""
        if not tokenizer.chat_template:
            raise BadInput(
                "the tokenizer has no chat template", where="tokenizer", remedy="use an instruct model, or models/tiny"
            )
        super().__init__(tokenizer)
        self._spoken = re.compile(f"({THINK}|{THOUGHT})")
        self._open = self._frame([_message("user", _PROMPT)], _PROMPT)
        self._open_with_system: Frame | None = None
        with suppress(BadInput):  # some templates take no system prompt
            messages = [_message("system", _SYSTEM), _message("user", _PROMPT)]
            self._open_with_system = self._frame(messages, _SYSTEM, _PROMPT)
        user = self._after_policy("user")
        stop = self._first_mark(user[0])
        self._last_words, _, rest = user[0].partition(stop)
        self._replies: dict[str, Frame] = {"user": (stop + rest, user[1])}
        self._replies["tool"] = self._tool_frame(stop) or self._replies["user"]
        self._histories: dict[tuple[object, ...], Frame] = {}
        self._stop_id = self._tokenize(stop)[-1]
        self.stop_ids = frozenset({self._stop_id, tokenizer.eos_token_id, *stop_ids} - {None})
        self._thinks = self._open[-1].rfind(THINK) > self._open[-1].rfind(THOUGHT)
        marks = [self._tokenize(mark) for mark in (THINK, THOUGHT)]
        self.think: ThinkTokens | None = None
        if all(len(ids) == 1 for ids in marks):
            self.think = ThinkTokens(self._thinks, marks[0][0], marks[1][0], self._tokenize(f"{THOUGHT}\n\n"))

    def opening(self, prompt: str, system: str | None = None) -> list[int]:
        if system is None:
            return self._encode(self._open, prompt)
        if self._open_with_system is None:
            return self._encode(self._open, f"{system}\n\n{prompt}")
        return self._encode(self._open_with_system, system, prompt)

    def reply(self, by: str, text: str) -> list[int]:
        # Encoded with the stop token and cut after it: some tokenizers add a space at the start of a text.
        ids = self._encode(self._replies[by], text)
        return ids[ids.index(self._stop_id) + 1 :]

    def policy(self, text: str) -> list[int]:
        if self._thinks:
            text = text.removeprefix(THINK) if THOUGHT in text else f"{THOUGHT}\n\n{text}"
        ids: list[int] = []
        for part in self._spoken.split(text + self._last_words):
            ids += self._tokenize(part) if self._spoken.fullmatch(part) else self._plain(part)
        return [*ids, self._stop_id]

    def history(self, prompt: str, system: str | None, turns: Sequence[Exchange]) -> list[int]:
        """The dialogue as the template renders it at once: it may frame an earlier turn otherwise than the last one."""
        if system is not None and self._open_with_system is None:
            prompt, system = f"{system}\n\n{prompt}", None
        tool = "tool" if self._replies["tool"] is not self._replies["user"] else "user"
        shape = (system is not None, *(tool if turn.by == "tool" else "user" for turn in turns))
        if shape not in self._histories:
            messages, data = [_message("user", _PROMPT)], [_PROMPT]
            if system is not None:
                messages, data = [_message("system", _SYSTEM), *messages], [_SYSTEM, *data]
            for role in shape[1:]:
                messages += [_message("assistant", _SAID), _message(str(role), _REPLY)]
                data += [_SAID, _REPLY]
            self._histories[shape] = self._frame(messages, *data)
        texts = [text for turn in turns for text in (turn.said, turn.reply)]
        return self._encode(self._histories[shape], *([] if system is None else [system]), prompt, *texts)

    def decode(self, ids: Sequence[int]) -> str:
        """Adds `<think>` where the cue has opened a think block, so that the turn begins inside it."""
        return (THINK if self._thinks else "") + super().decode(ids)

    def _encode(self, frame: Frame, *data: str) -> list[int]:
        """Encodes frame and data as one text, as the template would; piece by piece where the data contains a tag."""
        if not any(self._mark.search(text) for text in data):
            return self._tokenize("".join(part + text for part, text in zip(frame, (*data, ""), strict=True)))
        ids = self._tokenize(frame[0])
        for text, part in zip(data, frame[1:], strict=True):
            ids += self._plain(text) + self._tokenize(part)
        return ids

    def _frame(self, messages: list[dict[str, str]], *data: str) -> Frame:
        """The text that the template puts around the data."""
        parts = re.split("|".join(map(re.escape, data)), self._rendered(messages))
        if len(parts) != len(data) + 1:
            raise _refused(messages, "it does not render each of them once and unchanged")
        return tuple(parts)

    def _rendered(self, messages: list[dict[str, Any]], cue: bool = True, **more: Any) -> str:
        try:
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=cue, date_string=_DATE, **more
            )
        except (TemplateError, ValueError, TypeError, KeyError) as error:
            raise _refused(messages, str(error)) from None
        assert isinstance(text, str)
        return text

    def _after_policy(self, role: str) -> Frame:
        """The text from the end of the policy's turn to the reply, and from the reply to the next cue."""
        messages = [_message("user", _PROMPT), _message("assistant", _SAID), _message(role, _REPLY)]
        return self._frame(messages, _SAID, _REPLY)[1:]

    def _tool_frame(self, stop: str) -> Frame | None:
        """The frame of a tool's message; None unless a policy turn ends as usual before it and another one follows."""
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


def renderer_for(tokenizer: PreTrainedTokenizerBase, stop_ids: frozenset[int] = frozenset()) -> Renderer:
    """Renders with the tokenizer's chat template if it has one, else with plain tags."""
    return ChatRenderer(tokenizer, stop_ids) if tokenizer.chat_template else TagRenderer(tokenizer)


def generation_stop_ids(model: str) -> frozenset[int]:
    """The tokens at which `generate` would stop, from a model's generation config; none where it has no such file."""
    from transformers import GenerationConfig

    try:
        found: int | list[int] | None = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        return frozenset()
    return frozenset([found] if isinstance(found, int) else found or [])


def _message(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def _refused(messages: list[dict[str, Any]], why: str) -> BadInput:
    roles = ", ".join(message["role"] for message in messages)
    return BadInput(
        f"the chat template does not take messages by {roles}: {why}",
        where="tokenizer",
        remedy="use a text model with multi-turn chat",
    )


def without_thought(text: str) -> str:
    """A turn of the policy without the thought before its action."""
    return "" if THOUGHT not in text and text.startswith(THINK) else text.rpartition(THOUGHT)[2].lstrip("\n")


def spaced(text: str) -> str:
    """Adds a space before a first word of letters, so that a name has the same tokens everywhere.

    A byte-level vocabulary has different tokens for a word with and without a space before it. Chinese has no spaces,
    and each digit is a token anyway.
    """
    return f" {text}" if text and text[0].isalpha() and not CJK_TEXT.match(text) else text


def _single(tokenizer: PreTrainedTokenizerBase, mark: str) -> int:
    ids = tokenizer.encode(mark, add_special_tokens=False)
    if len(ids) != 1 or tokenizer.decode(ids) != mark:
        raise BadInput(
            f"the tokenizer has no single token {mark}",
            where="tokenizer",
            remedy="use a model with a chat template, or models/tiny",
        )
    return int(ids[0])
