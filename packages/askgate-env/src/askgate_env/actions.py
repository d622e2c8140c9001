"""Actions of a policy: a turn is free reasoning, then one action.

`<ask>question</ask>`, `<wiki>query</wiki>`, `<calc>expression</calc>`, `<answer>text</answer>`. The first action tag
counts. The action ends at its closing tag, at the next action tag, or with the turn. Tags inside `<think>...</think>`
are reasoning, and after a `<think>` that is never closed there is no action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .files import package_json
from .types import Lang, Turn

TOOLS = ("wiki", "calc")
TAGS = ("ask", *TOOLS, "answer")
THINK, THOUGHT = "<think>", "</think>"

_OPENING = re.compile(rf"<({'|'.join(TAGS)})>")
_END = re.compile(rf"</?(?:{'|'.join(TAGS)})>")
_TEXTS = package_json("dialogue.json")


@dataclass(frozen=True)
class Action:
    """A parsed turn of the policy. `none` is a turn without an action; its text is the whole turn."""

    kind: Literal["ask", "call", "answer", "none"]
    text: str
    tool: str = ""
    thought: str = ""


def parse(text: str, tools: Sequence[str] = TOOLS) -> Action:
    """Parses a turn. An empty action, and a call of a tool that is not offered, count as none.

    >>> parse("Two of them. <ask>Which Lund?</ask>")
    Action(kind='ask', text='Which Lund?', tool='', thought='Two of them.')
    >>> parse("<think><calc>1+1</calc></think><answer>2").text
    '2'
    >>> parse("<think><answer>2</answer>").kind
    'none'
    """
    opened = _first_action(text)
    if opened is None:
        return Action("none", text.strip())
    closed = _END.search(text, opened.end())
    content = text[opened.end() : closed.start() if closed else len(text)].strip()
    thought = text[: opened.start()].replace(THINK, "").replace(THOUGHT, "").strip()
    tag = opened[1]
    if not content or not _offered(tag, tools):
        return Action("none", text.strip())
    if tag in TOOLS:
        return Action("call", content, tag, thought)
    return Action("ask" if tag == "ask" else "answer", content, "", thought)


def say(turn: Turn, close: bool = True) -> str:
    """The text of a demonstration's policy turn. Without `close` it has no closing tag; the turn's end closes it."""
    tag = turn.tool if turn.act == "call" else turn.act
    if turn.by != "assistant" or tag not in TAGS:
        raise ValueError(f"not an action of a policy: {turn}")
    if not close:
        return f"{turn.thought}<{tag}>{turn.text}"
    return f"{turn.thought}\n<{tag}>{turn.text}</{tag}>".lstrip("\n")


def replay_text(turn: Turn) -> str:
    """A text that `parse` reads as this recorded turn. In the text that the policy sampled, the thought may have been
    in other places.

    >>> parse(replay_text(Turn("assistant", "answer", "2", "<calc>1+1</calc>")))
    Action(kind='answer', text='2', tool='', thought='<calc>1+1</calc>')
    """
    tag = turn.tool if turn.act == "call" else turn.act
    thought = f"{THINK}{turn.thought}{THOUGHT}" if turn.thought else ""
    return f"{thought}<{tag}>{turn.text}</{tag}>" if tag in TAGS else turn.text


def system(lang: Lang, tools: Sequence[str] = TOOLS) -> str:
    """The system prompt that explains the actions to a model."""
    text = _TEXTS["system"][lang]
    lines = (f"- {line}" for tag, line in text["actions"].items() if _offered(tag, tools))
    return "\n".join([text["head"], *lines, text["foot"]])


def malformed(lang: Lang, tools: Sequence[str] = TOOLS) -> str:
    """The reply to a turn without an action: one line, because it may come often."""
    tags = " ".join(f"<{tag}>" for tag in TAGS if _offered(tag, tools))
    return str(_TEXTS["malformed"][lang]).format(tags=tags)


def _offered(tag: str, tools: Sequence[str]) -> bool:
    return tag not in TOOLS or tag in tools


def _first_action(text: str) -> re.Match[str] | None:
    """The first action tag outside think blocks.

    The prompt of a thinking model may already open the first block; then the text has its `</think>` alone.
    """
    first_end = text.find(THOUGHT)
    start = first_end + len(THOUGHT) if first_end >= 0 and THINK not in text[:first_end] else 0
    while tag := _OPENING.search(text, start):
        block = text.find(THINK, start, tag.start())
        if block < 0:
            return tag
        block_end = text.find(THOUGHT, block)
        if block_end < 0:
            return None
        start = block_end + len(THOUGHT)
    return None
